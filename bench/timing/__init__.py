#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Clock crossings and levels of logic of a netlist from yosys, without a vendor's tool."""
