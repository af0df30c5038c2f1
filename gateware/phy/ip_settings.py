#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Makes Vivado compare each setting of the IP with the one that was asked for.

Vivado ignores a setting that is disabled or unknown with a warning (IP_Flow 19-3374), and ends with status 0. The card
would then lack what the gateware relies on.
"""

# Settings of the block's inside: the gateware and the host see the same with another value. A difference is a warning.
INSIDE = ("Component_Name", "coreclk_freq", "plltype")

# Vivado writes numbers with other zeros before them, and words in other capitals.
COMPARE = """\
proc same_setting {one other} {
    foreach value {one other} { set $value [string trimleft [regsub -nocase {^0x} [set $value] {}] 0] }
    return [string equal -nocase $one $other]
}
set lost {}
foreach {name value} $asked {
    if {[catch {get_property $name $obj} found]} { set found "not a setting of this IP" }
    if {[same_setting $found $value]} { continue }
    if {$name in {INSIDE}} {
        puts "WARNING: $obj: $name is $found, not $value"
    } else {
        lappend lost "$name is $found, not $value"
    }
}
if {[llength $lost]} {
    puts "ERROR: Vivado did not take settings of $obj: [join $lost {; }]"
    exit 1
}
""".replace("INSIDE", " ".join(f"CONFIG.{name}" for name in INSIDE))


def commands_of(tcl):
    """Returns the lines of a Tcl script for LiteX's lists of commands, which take braces as fields."""
    return tcl.replace("{", "{{").replace("}", "}}").splitlines()


# What LitePCIe 2024.12 writes before and after the settings of an IP, and what takes its place.
BEFORE, AFTER = "set_property -dict [list \\", "] $obj"


def compare_settings(commands):
    """Returns LitePCIe's commands that make an IP, with a comparison of its settings before the IP is synthesised.

    Commands that make no IP are returned as they are: a file has its settings. Raises ``ValueError`` if these are not
    the commands of LitePCIe 2024.12.
    """
    if not any(command.startswith("create_ip ") for command in commands):
        return commands
    if (commands.count(BEFORE), commands.count(AFTER)) != (1, 1):
        raise ValueError("LitePCIe does not make its IP by one set_property -dict")
    places = {BEFORE: ["set asked [list \\"], AFTER: ["]", "set_property -dict $asked $obj", *commands_of(COMPARE)]}
    return [line for command in commands for line in places.get(command, [command])]
