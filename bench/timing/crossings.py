#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Finds every path between registers of two clocks and says what makes it safe, by the structure of the netlist.

A path is safe if both are true:

- It is not timed, or its clocks are made from one clock. Vivado times all clocks against each other, with a requirement
  that means nothing for unrelated ones.
- If it is not timed, it ends in one of the kinds of ``KINDS``.
"""

from collections import defaultdict
from dataclasses import dataclass

from litepcie_bench.timing.primitives import ASYNCHRONOUS, REGISTERS, SELECTS, TIMED

KINDS = {
    "timed":    "clocks made from one clock, and timed",
    "reset":    "asynchronous set of two registers in series, the first of which has a constant at its input",
    "bit":      "one bit into two registers in series",
    "Gray":     "bits of a Gray counter, each into two registers in series",
    "FIFO":     "memory whose Gray pointers go both ways",
    "bus":      "bits that are held while a handshake of single bits goes both ways",
    "select":   "multiplexer of two clocks, which are declared exclusive at its output",
    "declared": "declared with a reason",
}
FLIP_FLOPS = ("FDCE", "FDPE", "FDRE", "FDSE", "FD1S3BX")


@dataclass(frozen=True)
class Crossing:
    """Paths that end in one register, memory or block: the first of ``ends`` has its name, ``kind`` None is a fault.

    begins, end : names of signals.
    clocks      : names of the clocks, from and to.
    bits        : int, bits at the end.
    why         : the reason of a declaration, or what is wrong.
    """
    kind:   str
    begins: tuple
    end:    str
    clocks: tuple
    bits:   int
    why:    str = ""

    def __str__(self):
        begins = ", ".join(self.begins[:4]) + ", ..."*(len(self.begins) > 4)
        return f"{begins} ({self.clocks[0]}) to {self.end} ({self.clocks[1]}), bits: {self.bits}: " \
            f"{self.why or self.kind}"


class Crossings:
    """The crossings of a ``Netlist``.

    timing   : ``Timing`` of the netlist.
    marked   : whether both registers of a synchroniser must have the attribute ``async_reg``.
    declared : list of ``Declared``.
    """
    def __init__(self, netlist, timing, marked, declared=()):
        self.netlist, self.timing, self.marked, self.declared = netlist, timing, marked, declared
        self.ends    = defaultdict(list)  # Cell and port: ends there that something of another clock leads to.
        self.begins  = {}                 # End: what leads to it.
        self.untimed = {}                 # End: what of this leads to it on paths that are not timed.
        self.wrong   = {}                 # End: two unrelated clocks between which its paths are timed, or None.
        every        = set()
        for end in netlist.ends():
            every |= end.clocks
            if end.clocks and (netlist.origins(end.bit) - {end.clocks} or self._is_select(end)):
                self.ends[end.cell, end.port].append(end)
                self.begins[end] = netlist.begins(end.bit)
                self.untimed[end], self.wrong[end] = self._untimed(end)
        self.clocks  = len(every)
        self.readers = self._find_readers()
        self.pairs   = {end: second for end in self.begins if (second := self._second(end)) is not None}
        self.synced  = self._find_synced()
        self.gray    = [found for ends in self.ends.values() if (found := self._find_gray(ends))]

    # Structure ------------------------------------------------------------------------------------

    def _find_readers(self):
        """Returns (cell, port, index) of all that reads the registers at which paths end, and the next ones."""
        wanted = {bit for end in self.begins for bit in self._output(end)}
        found  = self._readers_of(wanted)
        second = {self.netlist.outputs(cell)[index] for users in found.values() for cell, port, index in users
            if port == "D" and index < len(self.netlist.outputs(cell))}
        return {**found, **self._readers_of(second)}

    def _readers_of(self, wanted):
        found = defaultdict(list)
        for name, cell in self.netlist.cells.items():
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "input":
                    for index, bit in enumerate(bits):
                        if bit in wanted:
                            found[bit].append((name, port, index))
        return found

    def _output(self, end):
        """Returns the output bit of the register at which a path ends, in a list; no bit if it is none."""
        kind = self.netlist.cells[end.cell]["type"]
        if end.port != "D" or not (kind in REGISTERS or kind in FLIP_FLOPS):
            return []
        return [self.netlist.outputs(end.cell)[end.index]]

    def _second(self, end):
        """Returns the output of the second register of a synchroniser, None if there is no such one."""
        output = self._output(end)
        users  = self.readers.get(output[0], ()) if output else ()
        if len(users) != 1 or len(self.begins[end]) != 1:
            return None
        (name, port, index), = users
        kind = self.netlist.cells[name]["type"]
        if port != "D" or not (kind in REGISTERS or kind in FLIP_FLOPS) \
                or self.netlist.clock_of(name, "D") != end.clocks:
            return None
        if self.marked and not ("async_reg" in self.netlist.marks_of(end.cell, end.index)
                and "async_reg" in self.netlist.marks_of(name, index)):
            return None
        return self.netlist.outputs(name)[index]

    def _find_synced(self):
        """Returns, by clocks from and to, the outputs of synchronisers and of the registers that follow them."""
        found = defaultdict(set)
        for end, second in self.pairs.items():
            way = found[self.netlist.begin(next(iter(self.begins[end]))), end.clocks]
            way.add(second)
            for name, port, index in self.readers.get(second, ()):
                if port == "D" and index < len(self.netlist.outputs(name)):
                    way.add(self.netlist.outputs(name)[index])
        return found

    def _input(self, bit):
        """Returns what a register with the output ``bit`` takes while it is not reset, None if it is no register."""
        name, port, index = self.netlist.driver.get(bit, ("", "", 0))
        if port != "Q" or self.netlist.cells[name]["type"] not in REGISTERS:
            return None
        return self._chosen(self.netlist.cells[name]["connections"]["D"][index])

    def _chosen(self, bit):
        """Returns the other input of multiplexers with a constant: of a reset, or of a memory that is not written."""
        while True:
            name, _, index = self.netlist.driver.get(bit, ("", "", 0))
            cell = self.netlist.cells.get(name, {"type": ""})
            ways = [cell["connections"][way][index] for way in "AB"] if cell["type"] == "$mux" else ()
            if sum(isinstance(way, str) for way in ways) != 1:
                return bit
            bit = next(way for way in ways if not isinstance(way, str))

    def _find_gray(self, ends):
        """Returns (clocks from, clocks to, bits of the binary count) if the ends synchronise a Gray counter."""
        if len(ends) < 2 or any(end not in self.pairs for end in ends):
            return None
        count = []
        for end in ends:
            (begin,)       = self.begins[end]
            taken          = self._input(begin)
            name, _, index = self.netlist.driver.get(taken, ("", "", 0))
            cell           = self.netlist.cells.get(name, {"type": ""})
            if cell["type"] != "$xor":
                return None
            count.append([(cell["connections"][way] + ["0"])[index] for way in "AB"])
        above = [pair[0] for pair in count[1:]] + ["0"]
        if [pair[1] for pair in count] != above:
            return None
        return self.netlist.begin(begin), ends[0].clocks, [pair[0] for pair in count]

    def _counts(self, address, ways):
        """Whether an address is that of one of the Gray counters that go from one clock to another."""
        address = [self._chosen(bit) for bit in address]
        taken   = [self._input(bit) for bit in address]
        return any(count[:len(address)] in (address, taken) for begin, end, count in self.gray if (begin, end) == ways)

    def _is_fifo(self, end):
        """Whether all that is not timed comes from memories of FIFOs."""
        wires = lambda name: self.netlist.cells[name]["connections"]["ADDR"]
        for read in self.untimed[end]:
            if not isinstance(read, str):
                return False
            for writer in self.netlist.writers(read):
                clocks = self.netlist.clock_of(writer, "DATA")
                if clocks != end.clocks and not (self._counts(wires(writer), (clocks, end.clocks))
                        and self._counts(wires(read), (end.clocks, clocks))):
                    return False
        return True

    def _follows(self, bit, ways):
        """Whether a bit depends on a synchroniser from one clock to another, directly or through a register."""
        for begin in self.netlist.begins(bit):
            before = None if isinstance(begin, str) else self._input(begin)
            if begin in self.synced[ways] or (before is not None and self.netlist.begins(before) & self.synced[ways]):
                return True
        return False

    def _is_bus(self, end):
        """Whether a bit is held until a handshake came back, and read after the handshake arrived."""
        (begin,) = self.begins[end]
        clocks   = self.netlist.begin(begin)
        taken    = self._input(begin)
        if taken is None or begin not in self.netlist.begins(taken) or not self._follows(taken, (end.clocks, clocks)):
            return False
        users = self.readers.get(self.pairs[end], ())
        return all(self.netlist.cells[name]["type"] == "$mux" and port != "S"
            and self._follows(self.netlist.cells[name]["connections"]["S"][0], (clocks, end.clocks))
            for name, port, _ in users)

    def _is_reset(self, end):
        """Whether an asynchronous set or reset leads to a synchroniser: it is released with the clock."""
        cell = self.netlist.cells[end.cell]
        kind = cell["type"]
        if end.port != ASYNCHRONOUS.get(kind):
            return False
        before, _, _ = self.netlist.driver.get(cell["connections"]["D"][0], ("", "", 0))
        other        = self.netlist.cells.get(before, {"type": ""})["connections"] if before else None
        if other is None:
            return isinstance(cell["connections"]["D"][0], str)
        return self.netlist.cells[before]["type"] == kind and other[TIMED[kind].clock] == \
            cell["connections"][TIMED[kind].clock] and self.netlist.begins(other[end.port][0]) == self.begins[end]

    # Kinds ----------------------------------------------------------------------------------------

    def _untimed(self, end):
        """Returns what leads to an end on paths that no tool times, and a pair of unrelated clocks that one times."""
        untimed, wrong = set(), None
        if self._is_select(end):
            both = tuple(sorted(end.clocks))
            return self.begins[end], None if self.timing.excepted(end, *both) and self.timing.exclusive else both
        for begin in self.begins[end]:
            clocks = self._clocks(begin)
            pairs  = [(one, other) for one in sorted(clocks) for other in sorted(end.clocks) if one != other]
            timed  = [pair for pair in pairs if not self.timing.excepted(end, *pair)]
            wrong  = wrong or next((pair for pair in timed if not self.timing.related(*pair)), None)
            if clocks != end.clocks and not timed:
                untimed.add(begin)
        return untimed, wrong

    def _clocks(self, begin):
        """Returns the clocks of a register, or of what writes the memory that a cell reads."""
        if isinstance(begin, str):
            return frozenset().union(*(self.netlist.clock_of(writer, "DATA") for writer in self.netlist.writers(begin)))
        return self.netlist.begin(begin)

    def _is_select(self, end):
        return end.port in SELECTS.get(self.netlist.cells[end.cell]["type"], ())

    def _kind(self, end, ends):
        if self._is_select(end):
            return "select"
        if self._is_reset(end):
            return "reset"
        if end in self.pairs:
            if len(ends) == 1:
                return "bit"
            return "Gray" if self._find_gray(ends) else "bus" if self._is_bus(end) else None
        return "FIFO" if self._is_fifo(end) else None

    def name(self, end):
        """Returns the name of what a path ends in."""
        output = self.netlist.outputs(end.cell)
        bits   = output if end.index >= len(output) else output[end.index:end.index + 1]
        return self.netlist.net(bits[0]) + (f".{end.port}" if end.port != "D" else "") if bits \
            else f"{end.cell}.{end.port}"

    def _begins(self, ends):
        found = {self.netlist.cells[begin]["parameters"]["MEMID"].strip("\\") if isinstance(begin, str)
            else self.netlist.net(begin) for end in ends for begin in self.begins[end]
            if self._clocks(begin) != end.clocks or self._is_select(end)}
        return tuple(sorted(found))

    def found(self):
        """Returns all ``Crossing``s: one for each kind at each port of a cell."""
        found = []
        for ends in self.ends.values():
            kinds = defaultdict(list)
            for end in ends:
                wrong = self.wrong[end]
                kind  = None if wrong else self._kind(end, ends) if self.untimed[end] else "timed"
                kinds[kind, self._wrong(end, ends, wrong) if kind is None else ""].append(end)
            for (kind, why), some in kinds.items():
                found.append(self._crossing(kind, why, some))
        return found

    def _wrong(self, end, ends, pair):
        if pair and self._is_select(end):
            return f"timed, or {' and '.join(pair)} are timed against each other at its output"
        if pair:
            return f"timed from {self._clock(pair[:1])} to {self._clock(pair[1:])}, which are not related"
        if end in self.pairs:
            return f"{len(ends)} bits that change on their own"
        return "no synchroniser"

    def _clock(self, clocks):
        return " or ".join(sorted(clocks)) or "no clock"

    def _crossing(self, kind, why, ends):
        begins, end = self._begins(ends), self.name(ends[0])
        clocks      = (self._clock(frozenset().union(*(self._clocks(begin) for begin in self.begins[ends[0]]))
            - ends[0].clocks), self._clock(ends[0].clocks))
        if kind is None and not why.startswith("timed"):
            for one in self.declared:
                if one.covers(begins, end):
                    kind, why = "declared", one.reason
        return Crossing(kind, begins, end, clocks, len(ends), why)
