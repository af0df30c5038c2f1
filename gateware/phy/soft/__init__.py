#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Parts of a PCI Express Gen1 x1 endpoint in gateware. They know symbols, not the SerDes that carries them."""
