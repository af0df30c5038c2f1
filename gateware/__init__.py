#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Gateware of a PCI Express DMA system, and the programs that build it."""

__version__ = "0.1.0"
