#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Timing constraints of the link's clocks and reset."""

# Selects the clock on a net and all clocks generated from it.
CLOCKS = "[get_clocks -include_generated_clocks -of_objects [get_nets {}]]"


def add_link_constraints(platform, pads, domains, phy):
    """Declares the clocks of link and board asynchronous, and the slot's reset a false path.

    All data between them goes through clock crossings. The PHY constrains the reference clock, and the platform the
    oscillator of the board.

    domains : clock domains of the board that exchange data with the link or with each other. Each is a group.
    """
    clocks = {cd.name: cd.clk for cd in (*domains, phy.cd_pcie)}
    for clk in clocks.values():
        clk.attr.add("keep")
    # After synthesis, because the netlist of the hard block, a black box before, defines the link's clock.
    groups = " ".join("-group " + CLOCKS.format(f"{{{name}}}") for name in clocks)
    platform.toolchain.pre_placement_commands.add(f"set_clock_groups -asynchronous {groups}", **clocks)
    platform.add_platform_command("set_false_path -from [get_ports {rst_n}]", rst_n=pads.rst_n)
