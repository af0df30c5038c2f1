# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

# A stand-in for Vivado that runs the script of a board, and the constraints that it reads, in tclsh. It prints a line
# for each constraint that a test asks for. Commands that it does not have end the script, as in Vivado.
#
# The test sets before:
#   net_clocks  net -> the clocks that arrive at it
#   mux_inputs  pin of the clock multiplexer -> its clock
#   site_pins   "SITE KIND" -> package pin, where KIND is rx_p, rx_n, tx_p or tx_n
#   ip_places   lane -> the site at which the constraints of the IP place it; empty: at the pins of the platform
#   ignored     settings of the IP that Vivado ignores; unknown: those that the IP does not have
#   fixed       1: Vivado ignores another place for a lane
#   summary     row of figures in the report on timing; slow_paths: delay type -> list of clock and clock

proc say {args} { puts [join $args] }

foreach name {create_project set_msg_config set_param read_verilog get_files create_clock set_max_delay synth_design
        opt_design place_design phys_opt_design route_design report_utilization write_checkpoint
        report_io report_control_sets report_clock_utilization report_route_status report_drc report_power
        write_bitstream write_cfgmem} {
    proc $name {args} [string map [list NAME $name] {say NAME {*}$args}]
}
proc quit {} { say QUIT; exit 0 }
proc read_xdc {file} { uplevel #0 [list source $file] }
proc report_timing_summary {args} {
    if {"-return_string" ni $args} { return [say report_timing_summary {*}$args] }
    return "Header\n    WNS(ns)      TNS(ns)\n    -------      -------\n  $::summary  \n\nmore"
}
proc get_msg_config {args} { return 3 }
foreach name {current_design get_iobanks get_drc_checks} { proc $name {args} [list return "$name"] }

proc create_ip {args} { set ::ip [dict get $args -module_name] }
proc get_ips {name} { return "ip $name" }
proc synth_ip {ip} { say SYNTH_IP }

# Objects are lists of names, each with its kind.
proc options {words} {
    set found {}
    while {[llength $words]} {
        set words [lassign $words word]
        switch -glob -- $word {
            -quiet - -hierarchical - -leaf - -include_generated_clocks {}
            -* { set words [lassign $words value]; dict set found $word $value }
            default { dict set found names $word }
        }
    }
    return $found
}

proc get_ports {name} { return [list "port $name"] }

proc get_nets {args} {
    set words [options $args]
    if {![dict exists $words names]} { return [list "nets [dict get $words -filter]"] }
    foreach net [dict get $words names] {
        if {![info exists ::net_clocks($net)]} { error "no net $net" }
        lappend found "net $net"
    }
    return $found
}

proc get_cells {args} {
    set words [options $args]
    if {[dict exists $words -filter]} { return [list "cells [dict get $words -filter]"] }
    foreach object [dict get $words -of_objects] { lappend found "cell [file dirname [lindex $object 1]]" }
    return $found
}

proc get_pins {args} {
    set words [options $args]
    set found {}
    foreach object [dict get $words -of_objects] {
        lassign $object kind name
        set filter [dict get $words -filter]
        if {$filter eq "DIRECTION == OUT" && $object eq "net pclk_clk"} {
            lappend found "pin BUFGCTRL/O"
        } elseif {$kind eq "cell" && [regexp {^REF_PIN_NAME == (\w+)$} $filter -> pin]} {
            lappend found "pin $name/$pin"
        } elseif {$kind eq "cells"} {
            lappend found "pins $name $filter"
        } else {
            error "no pins $filter of $object"
        }
    }
    return $found
}

proc get_clocks {args} {
    set found {}
    set words [options $args]
    foreach object [dict get $words [lindex [dict keys $words -of*] 0]] {
        lassign $object kind name
        foreach clock [expr {$kind eq "net" ? $::net_clocks($name) : $::mux_inputs($name)}] {
            if {$clock ni $found} { lappend found $clock }
        }
    }
    return $found
}

proc create_generated_clock {args} {
    set args  [lsearch -all -inline -not -exact $args -add]
    set words [options $args]
    set pin   [lindex [dict get $words names] 0]
    if {$pin ne "pin BUFGCTRL/O"} { error "no model of a clock on $pin" }
    if {[dict get $words -master_clock] ne [get_clocks -of_objects [dict get $words -source]]} { error "wrong master" }
    # A clock that is generated on a pin ends its master there.
    set kept [lsearch -all -inline -not -exact $::net_clocks(pclk_clk) [dict get $words -master_clock]]
    set ::net_clocks(pclk_clk) [list {*}$kept [dict get $words -name]]
}

proc set_clock_groups {args} {
    set kind   [lsearch -inline -regexp $args {^-(asynchronous|physically_exclusive)$}]
    set groups {}
    foreach {option clocks} [lsearch -all -inline -not -exact $args $kind] { lappend groups $clocks }
    foreach one $groups {
        foreach other $groups {
            if {$one eq $other} continue
            foreach from $one { foreach to $other { say GROUPS $kind $from $to } }
        }
    }
}

proc set_false_path {args} {
    foreach {option objects} [lsearch -all -inline -not -exact $args -quiet] {
        foreach object $objects { say FALSE_PATH $option $object }
    }
}

proc get_timing_paths {args} {
    set words [options $args]
    if {[dict get $words -slack_lesser_than] != 0} { error "not the failing paths" }
    return [lmap clocks $::slow_paths([dict get $words -delay_type]) { list path {*}$clocks }]
}

proc reset_property {name objects} { say RESET $name $objects }

proc set_property {args} {
    if {[lindex $args 0] eq "-dict"} {
        foreach {name value} [lindex $args 1] {
            set ::settings($name) [expr {$name in $::ignored ? "another" : $value}]
        }
        return
    }
    lassign $args name value objects
    say SET $name $value $objects
    foreach object $objects {
        if {$name eq "LOC" && [lindex $object 0] eq "port"} { set ::port_pins([lindex $object 1]) $value }
        if {$name eq "LOC" && [regexp {pipe_lane\[(\d+)\]} $object -> lane] && !$::fixed} {
            set ::ip_places($lane) $value
        }
    }
}

# A port of the link is at the pin of the transceiver of its lane.
proc get_property {name object} {
    if {[lindex $object 0] eq "ip"} {
        if {$name in $::unknown} { error "no property $name" }
        return $::settings($name)
    }
    if {[lindex $object 0] eq "path"} {
        return [lindex $object [dict get {STARTPOINT_CLOCK 1 ENDPOINT_CLOCK 2} $name]]
    }
    set object [lindex $object 0]
    if {$name ne "PACKAGE_PIN"} { error "no property $name" }
    set port [lindex $object 1]
    regexp {([rt]x_[pn])(?:\[(\d+)\])?$} $port -> kind lane
    if {$lane eq ""} { set lane 0 }
    if {[array size ::ip_places]} { return $::site_pins($::ip_places($lane)\ $kind) }
    return $::port_pins($port)
}
