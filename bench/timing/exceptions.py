#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The timing exceptions of a build's XDC and Tcl: which paths between two clocks Vivado does not time.

Only the forms that the boards emit are understood. Another one is an error: read wrongly, it would hide a path.
"""

import re

from dataclasses import dataclass, field

from litepcie_bench.timing.primitives import SELECTS

COMMAND = re.compile(r"^\s*((?:set_clock_groups|set_false_path|set_max_delay|set_multicycle_path|set_bus_skew)\b.*)$",
    re.MULTILINE)

GROUP   = re.compile(r"-group (?:\[get_clocks -include_generated_clocks -of(?:_objects)? "
    r"\[get_nets \{?([^\]}]+)\}?\]\]|(\w+))")
CELLS   = re.compile(r"set_false_path -quiet -to \[get_cells -hierarchical -filter \{(\w+) == TRUE\}\]$")
PINS    = re.compile(r"set_false_path -quiet -to \[get_pins -filter \{REF_PIN_NAME == (\w+)\} -of_objects "
    r"\[get_cells -hierarchical -filter \{([^}]*)\}\]\]$")
PORT    = re.compile(r"set_false_path -from \[get_ports \{?(\w+)\}?\]$")
MUX     = re.compile(r"set_false_path -to \[get_pins -filter \{REF_PIN_NAME == (S\d)\} -of_objects \$mux\]$")
# Not an exception of a path into the first register: the net is the one that leaves it.
THROUGH = re.compile(r"set_false_path -quiet -through \[get_nets -hierarchical -filter \{mr_ff == TRUE\}\]$")
# Within one clock, from the first to the second register of a reset.
INSIDE  = re.compile(r"set_max_delay \d+ -quiet -from .*ars_ff1 == TRUE.* -to .*ars_ff2 == TRUE.*$")
CLOCK   = re.compile(r"^create_clock .*\[get_ports \{?(\w+)\}?\]", re.MULTILINE)
# Two clocks behind a multiplexer, and the inputs that they come through.
CREATED = re.compile(r"create_generated_clock -name (\w+) -source \[get_pins -filter \{REF_PIN_NAME == (I\d)\} "
    r"-of_objects \$mux\]")


@dataclass
class Exceptions:
    """
    groups    : list of lists of groups; a group is a list of nets. Clocks of two groups of a list are asynchronous.
    exclusive : whether the inputs of the multiplexer of clocks are declared exclusive at its output.
    cells     : attributes; paths to the registers that have one are not timed.
    pins      : (port, attribute), the same for a port of a register.
    ports     : ports from which no path is timed.
    clocks    : ports that are clocks.
    selects   : ports of the multiplexer of clocks to which no path is timed.
    """
    groups:    list = field(default_factory=list)
    exclusive: bool = False
    cells:     set  = field(default_factory=set)
    pins:      set  = field(default_factory=set)
    ports:     set  = field(default_factory=set)
    clocks:    set  = field(default_factory=set)
    selects:   set  = field(default_factory=set)


def read(text):
    """Returns the ``Exceptions`` of XDC and Tcl. Raises ``ValueError`` for a command that it does not understand."""
    found   = Exceptions(clocks=set(CLOCK.findall(text)))
    created = {name for name, _ in CREATED.findall(text)}
    for line in COMMAND.findall(text):
        line = line.strip()
        if line.startswith("set_clock_groups"):
            _add_groups(found, line, created)
        elif match := CELLS.match(line):
            found.cells.add(match[1])
        elif match := PINS.match(line):
            found.pins |= {(match[1], part.split()[0]) for part in match[2].split(" || ")}
        elif match := PORT.match(line):
            found.ports.add(match[1])
        elif match := MUX.match(line):
            found.selects.add(match[1])
        elif not THROUGH.match(line) and not INSIDE.match(line):
            raise ValueError(f"this timing exception is not understood: {line}")
    return found


def _add_groups(found, line, created):
    groups = [(nets.split(), clock) for nets, clock in GROUP.findall(line)]
    names  = {clock for _, clock in groups}
    if len(groups) != line.count("-group") or len(groups) < 2:
        raise ValueError(f"this timing exception is not understood: {line}")
    if "-asynchronous" in line and names == {""}:
        found.groups.append([nets for nets, _ in groups])
    elif "-physically_exclusive" in line and names == created:
        found.exclusive = True
    else:
        raise ValueError(f"this timing exception is not understood: {line}")


class Timing:
    """Which paths of a ``Netlist`` are timed. Without ``exceptions``, the tool times no path between two clocks."""
    def __init__(self, netlist, exceptions):
        self.netlist, self.exceptions = netlist, exceptions
        self.exclusive = exceptions is None or exceptions.exclusive
        self.groups = [[frozenset().union(*(netlist.clocks(netlist.nets[net]) for net in group))
            for group in groups] for groups in (exceptions.groups if exceptions else ())]

    def group(self, groups, clock):
        """Returns the number of the group that has a clock or what it was made from, or None."""
        made = set(self.netlist.made_from(clock))
        return next((n for n, group in enumerate(groups) if made & group), None)

    def asynchronous(self, one, other):
        """Whether two clocks are declared asynchronous."""
        for groups in self.groups:
            found = {self.group(groups, one), self.group(groups, other)}
            if None not in found and len(found) == 2:
                return True
        return False

    def related(self, one, other):
        """Whether two clocks are made from the same one."""
        return self.netlist.first(one) == self.netlist.first(other)

    def excepted(self, end, one, other):
        """Whether paths from the clock ``one`` to an ``End``, whose clock is ``other``, are not timed."""
        port = one.partition("port ")[2]
        cell = self.netlist.cells[end.cell]
        if self.exceptions is None or (port and port not in self.exceptions.clocks - self.exceptions.ports):
            return True  # Vivado does not time a pin without a clock.
        if cell["type"] in SELECTS:
            return end.port in self.exceptions.selects
        if self.asynchronous(one, other):
            return True
        marks = self.netlist.marks_of(end.cell)
        return bool(marks & self.exceptions.cells) or any(end.port == port and mark in marks
            for port, mark in self.exceptions.pins)
