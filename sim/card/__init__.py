# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Somebody's card in a virtual machine: its Verilog or LiteX SoC, its own driver, its own programs."""
