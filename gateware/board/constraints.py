#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What Vivado must know of a link's clocks and reset."""

# Of the clock on a net, and all that are made from it.
CLOCKS = "[get_clocks -include_generated_clocks -of_objects [get_nets {}]]"


def add_link_constraints(platform, pads, domains, phy):
    """Link and board have nothing to do with each other but through clock crossings; nor has the slot's reset.

    (The reference clock's period is the PHY's matter, that of the board's oscillator the platform's.)

    domains : clock domains that data crosses from and to, the link's left out; each a group of its own.
    """
    clocks = {cd.name: cd.clk for cd in (*domains, phy.cd_pcie)}
    for clk in clocks.values():
        clk.attr.add("keep")
    # Behind synthesis: the link's clock comes with the hard block's netlist, which is a black box before.
    groups = " ".join("-group " + CLOCKS.format(f"{{{name}}}") for name in clocks)
    platform.toolchain.pre_placement_commands.add(f"set_clock_groups -asynchronous {groups}", **clocks)
    platform.add_platform_command("set_false_path -from [get_ports {rst_n}]", rst_n=pads.rst_n)
