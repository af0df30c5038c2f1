#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Timing constraints of the link's clocks and reset, and the check that Vivado left its lanes at their pins.

All commands are for the time after synthesis: the hard block, a black box before, defines the link's clocks.
"""

from litepcie_soc.board.pads import LANES
from litepcie_soc.phy.ip_settings import commands_of

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

# Lanes --------------------------------------------------------------------------------------------

def braced(text):
    """Returns text in braces for a command with signals, in which LiteX resolves braces twice."""
    return "{{{{" + text + "}}}}"


# After placement, $lane_pins has ports and the pins that they must have.
CHECK_PINS = """\
set moved {}
foreach {port pin} $lane_pins {
    set found [get_property PACKAGE_PIN [get_ports $port]]
    if {$found ne $pin} { lappend moved "$port is at $found, not at $pin" }
}
if {[llength $moved]} {
    puts "ERROR: Vivado moved lanes of the link, so no host would find the card: [join $moved {; }]"
    exit 1
}
"""


def check_lane_pins(platform, pads):
    """Makes Vivado stop after placement if a lane is at other pins than the platform's.

    The constraints of the IP place its transceivers too, and win over those of the pins.
    """
    pins  = {id(signal): names for signal, names, *_ in platform.constraint_manager.get_sig_constraints()}
    lanes = {name: getattr(pads, name) for name in LANES}
    ports = [f"{{{name}}}{f'[{n}]' * (len(signal) > 1)} {pin}"
        for name, signal in lanes.items() for n, pin in enumerate(pins[id(signal)])]
    commands = platform.toolchain.pre_routing_commands
    commands.add(f"set lane_pins {braced(' '.join(ports))}", **lanes)
    commands += commands_of(CHECK_PINS)
