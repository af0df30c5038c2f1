#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Estimates the longest paths of an ECP5 netlist before place and route, from register to register.

Place and route reports one path after minutes. This estimate covers every pair of registers in seconds. It uses the
delays of speed grade 6 and one typical delay for every net, so it shows which path to shorten next, not the clock.
"""

import json
import re

from collections import defaultdict
from dataclasses import dataclass

# Delays in ns, speed grade 6. A net to a carry or to the multiplexer of the same slice has no delay.
NET        = 0.9
LUT        = 0.24
MUX        = 0.2
CARRY_IN   = 0.45
CARRY_STEP = 0.07
CARRY_OUT  = 0.44
RAM_READ   = 0.24
CLK_TO_Q   = 0.52
BRAM_TO_Q  = 5.83
SEQUENTIAL = {"TRELLIS_FF": CLK_TO_Q, "DP16KD": BRAM_TO_Q}


@dataclass
class Path:
    """The longest path from one register to another.

    ns      : estimate, with a net at the end.
    luts    : LUTs on the path, and multiplexers of their slices.
    carries : source lines whose carry chains are on the path.
    """
    ns:      float
    start:   str
    end:     str
    luts:    int
    carries: list

    def __str__(self):
        lines = [f"{self.ns:5.1f} ns  {self.luts:2} LUTs, {len(self.carries)} carries  {self.start} -> {self.end}"]
        return "\n".join(lines + [f"              {text}" for text in self.carries])


def register(cell):
    """Returns the name of a signal: the name of its cell without the suffix that synthesis appends.

    A register whose only name is a pin of a block RAM is not that RAM.
    """
    return re.sub(r"(_TRELLIS_FF_.*|_(DP16KD|TRELLIS_DPR16X4)_.*|\.\d+\.\d+(?!.*_TRELLIS_FF_)(_.*)?)$", "", cell)


def _arcs(kind, pins):
    """Returns (input pin, output pin, delay without net, whether a net leads to the pin) of a combinatorial cell."""
    outputs = [pin for pin, direction in pins.items() if direction == "output"]
    inputs  = [pin for pin, direction in pins.items() if direction == "input"]
    if kind == "CCU2C":
        for pin in inputs:
            for out in outputs:
                if pin == "CIN":
                    yield pin, out, CARRY_STEP if out == "COUT" else CARRY_OUT, False
                elif out == "COUT":
                    yield pin, out, CARRY_IN, True
                elif out[1] == pin[1]:
                    yield pin, out, LUT, True
                elif pin[1] == "0":  # Bit 0 carries into bit 1.
                    yield pin, out, CARRY_IN + CARRY_OUT, True
    elif kind in ("PFUMX", "L6MUX21"):
        for pin in inputs:
            yield pin, "Z", MUX, pin in ("C0", "SD")
    elif kind == "TRELLIS_DPR16X4":
        yield "RAD", "DO", RAM_READ, True
    else:
        for pin in inputs:
            for out in outputs:
                yield pin, out, LUT, True


class Netlist:
    """Arrival times in the flat module ``top`` of a netlist from ``write_json``.

    ``source`` is the Verilog text it was made from, file ``core.v``.
    """
    def __init__(self, netlist, top, source):
        module       = netlist["modules"][top]
        self.source  = source.splitlines()
        self.arrival = {}                  # Bit: ns.
        self.came    = {}                  # Bit: (bit before, cell), or the name of a register.
        self.into    = defaultdict(list)   # Bit: (bit before, delay, cell).
        self.ends    = defaultdict(list)   # Register: its input bits.
        for name, cell in module["cells"].items():
            self._add(name, cell)
        for name, port in module["ports"].items():
            for bit in port["bits"]:
                if port["direction"] == "input":
                    self.arrival[bit], self.came[bit] = CLK_TO_Q, f"({name})"
                else:
                    self.ends[f"({name})"].append(bit)
        for bit in list(self.into):
            self._arrive(bit)

    def _add(self, name, cell):
        kind, pins, connections = cell["type"], cell["port_directions"], cell["connections"]
        if kind in SEQUENTIAL:
            for pin, bits in connections.items():
                for bit in bits:
                    if pins[pin] == "output":
                        self.arrival[bit], self.came[bit] = SEQUENTIAL[kind], register(name)
                    elif not pin.startswith("CLK"):
                        self.ends[register(name)].append(bit)
            return
        if kind == "TRELLIS_DPR16X4":
            for pin in ("DI", "WAD", "WRE"):
                self.ends[register(name)].extend(connections[pin])
        for pin, out, delay, net in _arcs(kind, pins):
            for bit in connections[pin]:
                for target in connections[out]:
                    if isinstance(bit, int):  # Else a constant.
                        self.into[target].append((bit, delay + NET*net, cell))

    def _arrive(self, bit):
        """Returns the arrival time at ``bit``. The function does not recurse, because chains are long."""
        stack = [bit]
        while stack:
            bit     = stack[-1]
            waiting = [before for before, *_ in self.into.get(bit, ()) if before not in self.arrival]
            if bit in self.arrival or not waiting:
                stack.pop()
                if bit not in self.arrival:
                    self.arrival[bit], self.came[bit] = max(((self.arrival[before] + delay, (before, cell))
                        for before, delay, cell in self.into.get(bit, ())), default=(0.0, "constant"),
                        key=lambda one: one[0])
            stack += waiting if bit not in self.arrival else []

    def _line(self, cell):
        """Returns the source line of a cell, or "" if synthesis dropped it."""
        match = re.search(r"core\.v:(\d+)", cell["attributes"].get("src", ""))
        return self.source[int(match[1]) - 1].strip()[:160] if match else ""

    def _path(self, bit, end):
        luts, carries, came = 0, [], self.came[bit]
        while not isinstance(came, str):
            before, cell = came
            if cell["type"] == "CCU2C":
                line = self._line(cell)
                if not carries or carries[-1] != line:
                    carries.append(line)
            else:
                luts += 1
            came = self.came[before]
        return Path(self.arrival[bit] + NET, came, end, luts, carries[::-1])

    def longest(self):
        """Returns the longest ``Path`` to each register, longest first."""
        paths = []
        for end, bits in self.ends.items():
            bits = [bit for bit in bits if bit in self.arrival]
            if bits:
                paths.append(self._path(max(bits, key=self.arrival.get), end))
        return sorted(paths, key=lambda path: -path.ns)


def report(path, source, count):
    """Returns text lines: the longest paths of a netlist, one per start register and set of carry chains."""
    netlist = Netlist(json.loads(path.read_text(encoding="utf-8")), "core", source)
    groups  = defaultdict(list)
    for longest in netlist.longest():
        groups[longest.start, tuple(longest.carries)].append(longest)
    for first, *others in list(groups.values())[:count]:
        yield str(first)
        if others:
            names = [f"{other.end} ({other.ns:.1f})" for other in others[:8]]
            yield "              and to: " + ", ".join(names) + (", ..." if len(others) > 8 else "")
