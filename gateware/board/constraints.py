#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Pads of the link, timing constraints of its clocks and reset, and what Vivado's script checks at its end."""

from litex.build.generic_platform import Pins, Subsignal

from litepcie_soc.phy.hard_block import commands_of

# Pads ---------------------------------------------------------------------------------------------
# Pads of a link, also for a number of lanes that the platform does not name.

LANES = ("rx_p", "rx_n", "tx_p", "tx_n")


def resource_of(platform, name):
    """Returns the entry with that name in the pin table of a platform, or None."""
    return next((entry for entry in platform.constraint_manager.available if entry[0] == name), None)


def narrowed(entry, name, lanes):
    """Returns the entry under another name with its first ``lanes`` lanes only."""
    def narrow(subsignal):
        if subsignal.name not in LANES:
            return subsignal
        pins, *others = subsignal.constraints
        return Subsignal(subsignal.name, Pins(" ".join(pins.identifiers[:lanes])), *others)
    return (name, entry[1], *[narrow(what) if isinstance(what, Subsignal) else what for what in entry[2:]])


def add_link_pads(platform, lanes):
    """Makes sure that the platform has ``pcie_xN``, of the narrowest wider link if need be; returns this name."""
    name = f"pcie_x{lanes}"
    if resource_of(platform, name) is None:
        wider = (resource_of(platform, f"pcie_x{n}") for n in (2, 4, 8, 16) if n > lanes)
        entry = next(entry for entry in wider if entry is not None)
        platform.add_extension([narrowed(entry, name, lanes)])
    return name


def link_pads(platform, lanes):
    """Requests ``pcie_xN``, or the first N lanes of the narrowest wider link in the platform."""
    return platform.request(add_link_pads(platform, lanes))

# Constraints --------------------------------------------------------------------------------------
# Timing constraints of the link's clocks and reset, and the check that Vivado left its lanes at their pins.
#
# All commands are for the time after synthesis: the hard block, a black box before, defines the link's clocks.


def braced(text):
    """Returns text in braces for a command with signals, in which LiteX resolves braces twice."""
    return "{{{{" + text + "}}}}"

# Clocks -------------------------------------------------------------------------------------------

# Paths into the first register of a MultiReg. LiteX 2024.12 names the net behind that register instead, which Vivado
# does not take as an exception of these paths.
MULTIREGS = f"set_false_path -quiet -to [get_cells -hierarchical -filter {braced('mr_ff == TRUE')}]"

# Clock domains around the block of 7-series besides `pcie`. Two clocks drive `pclk`, one at a time.
PIPE_CLOCKS = ("clk125", "clk250", "userclk1", "pclk")


def add_link_constraints(platform, pads, domains, phy):
    """Declares the clocks of link and board asynchronous, and the slot's reset a false path.

    All data between them goes through clock crossings. The PHY constrains the reference clock, and the platform the
    oscillator of the board.

    domains : clock domains of the board that exchange data with the link or with each other. Each is a group.
    """
    commands = platform.toolchain.pre_placement_commands
    pipe     = [getattr(phy, f"cd_{name}") for name in PIPE_CLOCKS if hasattr(phy, f"cd_{name}")]
    groups   = [*([cd] for cd in domains), [phy.cd_pcie, *pipe]]
    clocks   = {cd.name: cd.clk for group in groups for cd in group}
    for clk in clocks.values():
        clk.attr.add("keep")
    if pipe:
        add_pipe_clock_mux(commands, phy.cd_pclk.clk)
    commands.add("set_clock_groups -asynchronous " + " ".join(map(clock_group, groups)), **clocks)
    commands.add(MULTIREGS)
    platform.add_platform_command("set_false_path -from [get_ports {rst_n}]", rst_n=pads.rst_n)


def clock_group(domains):
    """Returns the option for the clocks on the nets of these domains and all clocks generated from them."""
    nets = " ".join(f"{{{cd.name}}}" for cd in domains)
    return f"-group [get_clocks -include_generated_clocks -of_objects [get_nets {braced(nets)}]]"


def add_pipe_clock_mux(commands, pclk):
    """Constrains the BUFGCTRL that drives ``pclk``, as the constraints of Xilinx's pipe_clock module do.

    Its inputs are 125 and 250 MHz. A change of the selection is asynchronous to both, and data never goes from one
    clock to the other, because only one of them runs behind the multiplexer.
    """
    pin = f"[get_pins -filter {braced('REF_PIN_NAME == %s')} -of_objects $mux]"
    commands.add(f"set mux [get_cells -of_objects [get_pins -leaf -filter {braced('DIRECTION == OUT')} "
        "-of_objects [get_nets {pclk}]]]", pclk=pclk)
    for select in ("S0", "S1"):
        commands.add(f"set_false_path -to {pin % select}")
    for data, name in (("I0", "pcie_pclk_125"), ("I1", "pcie_pclk_250")):
        commands.add(f"create_generated_clock -name {name} -source {pin % data} -divide_by 1 -add "
            f"-master_clock [get_clocks -of_objects {pin % data}] {pin % 'O'}")
    commands.add("set_clock_groups -physically_exclusive -group pcie_pclk_125 -group pcie_pclk_250")

# Lanes --------------------------------------------------------------------------------------------

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

# Verdict ------------------------------------------------------------------------------------------
# The last lines of a board's Vivado script: one line that says whether the bitstream may be loaded.
#
# The same line comes from ``--build`` and from the script that somebody runs by hand on another machine. No Vivado has
# run it yet; its commands are those of UG835 (2024.1).

# Values below the heading of the Design Timing Summary: slack in column 0 (setup), 4 (hold) and 8 (pulse width), in ns.
VERDICT = r"""
set row {}
regexp {WNS\(ns\)[^\n]*\n[ -]+\n([^\n]*)} [report_timing_summary -no_detailed_paths -return_string] all row
set slacks {}
set failing {}
foreach {kind column} {setup 0 hold 4 "pulse width" 8} {
    set slack [lindex $row $column]
    if {![string is double -strict $slack]} {
        lappend failing "no figure for $kind"
    } elseif {$slack < 0} {
        lappend failing "$kind by [string trimleft $slack -] ns"
    }
    lappend slacks "$kind $slack ns"
}
set pairs {}
foreach delay {max min} {
    foreach path [get_timing_paths -quiet -delay_type $delay -max_paths 1000 -slack_lesser_than 0] {
        set pair "[get_property STARTPOINT_CLOCK $path] to [get_property ENDPOINT_CLOCK $path]"
        if {$pair ni $pairs} { lappend pairs $pair }
    }
}
set said "timing is met ([join $slacks {, }])"
if {[llength $failing]} { set said "timing is not met: [join $failing {, }]" }
if {[llength $pairs]} { append said "; from clock to clock: [join $pairs {, }]" }
set warnings [get_msg_config -severity {CRITICAL WARNING} -count]
append said "; settings of the IP and pins of the lanes are as asked; critical warnings: $warnings, see vivado.log"
set file [open NAME_verdict.txt w]
puts $file $said
close $file
puts "VERDICT: $said"
if {[llength $failing]} { exit 1 }
"""


def add_verdict(platform):
    """Appends the verdict to the script of a build. Its text also goes to the file ``BUILD_verdict.txt``."""
    platform.toolchain.additional_commands += [line.replace("NAME", "{build_name}")
        for line in commands_of(VERDICT.strip())]
