#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The last lines of a board's Vivado script: one line that says whether the bitstream may be loaded.

The same line comes from ``--build`` and from the script that somebody runs by hand on another machine. No Vivado has
run it yet; its commands are those of UG835 (2024.1).
"""

from litepcie_soc.phy.ip_settings import commands_of

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
