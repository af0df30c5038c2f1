#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Levels of logic between registers of a netlist that yosys mapped to Xilinx's cells, by clock.

A LUT is a level, and so is a read of LUT RAM. Inverters, multiplexers of a slice and carry chains are none, because
they have their own wires or vanish in a LUT. Levels are no nanoseconds. They show where logic grew.
"""

import re

from collections import defaultdict
from dataclasses import asdict, dataclass

LUT      = re.compile(r"LUT[1-6]")
RAM      = re.compile(r"RAM\d+(X\d+[SD]|M\d*)")   # LUT RAM: it reads without a clock.
NOTHING  = re.compile(r"INV|MUXF[789]|CARRY[48]|I?O?I?BUF\w*|BUF\w+")
ADDRESS  = re.compile(r"(DPR)?A(DDR\w)?\d?")
# The address at which a LUT RAM is written, by the end of the cell's name. It reads at the others.
WRITTEN  = {"M": "ADDRD", "M16": "ADDRH", "M8": "ADDRH", "D": r"A\d?", "S": "none"}
CLOCKS   = ("C", "CLK", "WCLK", "CLKARDCLK", "CLKBWRCLK")
SUFFIX   = re.compile(r"(_FD[CPRS]E(_\d+)?_[A-Z]\w*|(_LUT\d|_MUXF\d|_CARRY\d|_RAM\d+\w*?|_SRL\w+?)_.*|\[\d+\]|"
    r"\.\d+(\.\d+)*.*)$")


@dataclass
class Depth:
    """The longest path that ends at a clock.

    levels     : int, of this path.
    first, last : signals at its ends.
    over       : int, ends of paths with more levels than the goal.
    """
    levels: int
    first:  str
    last:   str
    over:   int = 0

    def record(self):
        return asdict(self)


class Mapped:
    """Arrival of each bit of a flat mapped module of ``write_json``, in levels."""
    def __init__(self, module):
        self.cells = module["cells"]
        self.names = {}
        for name, net in sorted(module["netnames"].items(), key=lambda item: (item[1].get("hide_name", 0),
                len(item[0]))):
            for bit in net["bits"]:
                self.names.setdefault(bit, name)
        self.into    = {}                 # Bit: (bits before, levels of the cell).
        self.arrival = {"0": 0, "1": 0, "x": 0, "z": 0}
        self.came    = {}
        self.ends    = []                 # (clock bit, bit, output or cell).
        self.nets    = {name: net["bits"][0] for name, net in module["netnames"].items()}
        for name, cell in self.cells.items():
            self._add(name, cell)
        for bit in list(self.into):
            self._arrive(bit)

    def _add(self, name, cell):
        kind, pins = cell["type"], cell["port_directions"]
        wires      = cell["connections"]
        inputs     = [port for port, way in pins.items() if way == "input" and port in wires]
        outputs    = [bit for port, way in pins.items() if way != "input" for bit in wires.get(port, ())]
        if LUT.fullmatch(kind) or NOTHING.fullmatch(kind):
            before = [bit for port in inputs for bit in wires[port]]
            self.into.update(dict.fromkeys(outputs, (before, int(bool(LUT.fullmatch(kind))))))
            return
        clock = next((wires[port][0] for port in CLOCKS if port in inputs and wires[port]), None)
        if RAM.fullmatch(kind):
            written = WRITTEN[re.search(r"M\d*$|[DS]$", kind)[0]]
            reads   = [port for port in inputs if ADDRESS.fullmatch(port) and not re.fullmatch(written, port)]
            self.into.update(dict.fromkeys(outputs, ([bit for port in reads for bit in wires[port]], 1)))
            inputs  = [port for port in inputs if port not in reads]
        if clock is not None:
            ending     = outputs[0] if kind.startswith("FD") else name
            self.ends += [(clock, bit, ending) for port in inputs if port not in CLOCKS for bit in wires[port]]

    def _arrive(self, bit):
        """Finds the arrival of a bit. The function does not recurse: chains are long."""
        stack = [bit]
        while stack:
            now = stack[-1]
            if now in self.arrival or now not in self.into:
                self.arrival.setdefault(now, 0)
                stack.pop()
                continue
            before, levels = self.into[now]
            waiting = [way for way in before if way not in self.arrival]
            if waiting:
                stack += waiting
                continue
            latest = max(before, key=self.arrival.get, default="0")
            self.arrival[now], self.came[now] = self.arrival[latest] + levels, latest
            stack.pop()

    def first(self, bit):
        """Returns the signal at which the longest path to a bit begins."""
        while bit in self.came:
            bit = self.came[bit]
        return self.name(bit)

    def name(self, bit):
        return SUFFIX.sub("", str(self.names.get(bit, bit)))

    def depths(self, clocks, goal):
        """Returns the ``Depth`` of each of the ``clocks``, names of nets. One without registers is left out."""
        found, wanted = {}, defaultdict(list)
        for clock in clocks:
            if clock in self.nets:
                wanted[self.nets[clock]].append(clock)
        for clock, bit, end in self.ends:
            levels = self.arrival.get(bit, 0)
            for name in wanted.get(clock, ()):
                depth = found.setdefault(name, Depth(-1, "", ""))
                depth.over += levels > goal
                if levels > depth.levels:
                    depth.levels, depth.first, depth.last = levels, self.first(bit), self.name(end)
        return found
