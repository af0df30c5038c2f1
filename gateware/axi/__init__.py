#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Endpoint memory behind an AXI4 port, channels of an AXI4 slave, and bridges between Wishbone and AXI-Lite."""
