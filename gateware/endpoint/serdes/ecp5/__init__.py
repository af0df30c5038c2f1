#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The SerDes of ECP5 and ECP5-5G (``DCUA``) for one lane of PCI Express Gen1, built with open tools."""
