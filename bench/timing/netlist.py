#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A flat netlist from yosys before mapping: which registers drive a bit, and which clock each register has.

A bit is a number of yosys' JSON. A clock is the output where it begins ("PLLE2_ADV.CLKOUT0", "port clk200_p"), not the
net: buffers and other names of a net do not make another clock.
"""

from collections import defaultdict
from dataclasses import dataclass

from litepcie_bench.timing.primitives import (
    CONSTANT, MADE, MAKES, OUTPUTS, PASSES, REGISTERS, SELECTS, TIMED,
)

BITWISE = {"$not", "$and", "$or", "$xor", "$xnor", "$pos"}
SUMS    = {"$add", "$sub", "$neg", "$alu"}  # Bit n depends on the bits up to n.


class UnknownCell(Exception):
    """Nothing is known of the clocks of a cell; the text is for the user."""


@dataclass(frozen=True)
class End:
    """An input of something with a clock: of a register, a memory or a hard block.

    cell, port : name of the cell, and its port.
    index      : which bit of the port.
    bit        : what drives it.
    clocks     : frozenset of clocks; empty if no clock times the port.
    """
    cell:   str
    port:   str
    index:  int
    bit:    int
    clocks: frozenset


class Netlist:
    """The flat module ``module`` of ``write_json``.

    blocks, ways : {type: {port: clock}} and {type: {port: direction}} of hard blocks (``recorded``). Yosys knows no
        directions of these.
    """
    def __init__(self, module, blocks=None, ways=None):
        self.cells  = {name: cell for name, cell in module["cells"].items() if cell["type"] not in ("$scopeinfo",
            "$meminit", "$meminit_v2")}
        self.ports  = module["ports"]
        self.blocks = blocks or {}
        self.nets   = {name: net["bits"][0] for name, net in module["netnames"].items()}
        self.names, self.marks = _names(module)
        for cell in self.cells.values():
            if cell["type"] in self.blocks:
                cell["port_directions"] = {port: ways[cell["type"]].get(port) for port in cell["connections"]}
        self.driver = {}              # Bit: (cell, port, index).
        self.memory = defaultdict(list)  # Memory: cells that write it.
        for name, cell in self.cells.items():
            if cell["type"].startswith("$memwr"):
                self.memory[cell["parameters"]["MEMID"]].append(name)
            for port, way in cell.get("port_directions", {}).items():
                if way == "output":
                    for index, bit in enumerate(cell["connections"].get(port, ())):
                        self.driver[bit] = (name, port, index)
        self.inputs = {bit: name for name, port in self.ports.items() if port["direction"] != "output"
            for bit in port["bits"]}
        self._clocks, self._origins, self._begins = {}, {}, {}

    # Names ----------------------------------------------------------------------------------------

    def outputs(self, name):
        """Returns the bits of the output of a register, "Q"."""
        return self.cells[name]["connections"].get("Q", [])

    def marks_of(self, name, index=None):
        """Returns the attributes of a register: those of its cell, and of its outputs or of one of these."""
        outputs = self.outputs(name)
        return set(self.cells[name].get("attributes", ())).union(*(self.marks.get(bit, ())
            for bit in (outputs if index is None else outputs[index:index + 1])))

    def name(self, bit):
        """Returns the shortest name of a bit, with its index."""
        return self.names.get(bit) or str(bit)

    def net(self, bit):
        """Returns the name of the signal of a bit, of a hard block that of its port."""
        name, port, _ = self.driver.get(bit, ("", "", 0))
        if name and self.cells[name]["type"] in self.blocks:
            return f"{self.cells[name]['type']}.{port}"
        return self.name(bit).partition("[")[0]

    # Clocks ---------------------------------------------------------------------------------------

    def clocks(self, bit):
        """Returns the clocks on a net: one, two behind a multiplexer of clocks, none on a constant."""
        if bit not in self._clocks:
            self._clocks[bit] = frozenset()  # For a loop, as that of the feedback of a PLL.
            self._clocks[bit] = self._find_clocks(bit)
        return self._clocks[bit]

    def _find_clocks(self, bit):
        if bit in self.inputs:
            return frozenset([f"port {self.inputs[bit]}"])
        if bit not in self.driver:
            return frozenset()
        name, port, _ = self.driver[bit]
        cell = self.cells[name]
        kind = cell["type"]
        if kind in PASSES:
            return frozenset().union(*(self.clocks(cell["connections"][way][0]) for way in PASSES[kind].get(port, ())
                if cell["connections"].get(way)))
        if kind in self.blocks:
            follows = self.blocks[kind].get(port, "")
            if follows.startswith("as "):
                return self.clocks(cell["connections"][follows[3:]][0])
        return frozenset([f"{name}.{port}"])

    def first(self, clock):
        """Returns the clock that ``clock`` was made from, first of all: what has the same has a known phase."""
        name, _, port = clock.partition(".")
        cell = self.cells.get(name)
        if cell and cell["type"] in MAKES and port.startswith(MADE):
            before = self.clocks(cell["connections"][MAKES[cell["type"]]][0])
            return self.first(min(before)) if before else clock
        return name if cell and cell["type"] in self.blocks else clock  # A block makes all from its reference clock.

    def made_from(self, clock):
        """Yields a clock and all that it was made from."""
        yield clock
        name, _, port = clock.partition(".")
        cell = self.cells.get(name)
        if cell and cell["type"] in MAKES and port.startswith(MADE):
            for before in self.clocks(cell["connections"][MAKES[cell["type"]]][0]):
                yield from self.made_from(before)

    def clock_of(self, name, port):
        """Returns the clocks that time a port of a cell with registers, None if it has no registers."""
        cell  = self.cells[name]
        kind  = cell["type"]
        wires = cell["connections"]
        if kind in REGISTERS:
            return self.clocks(wires["CLK"][0])
        if kind.startswith("$memwr"):
            return self.clocks(wires["CLK"][0])
        if kind in TIMED:
            timed = TIMED[kind]
            if port in (timed.clock, *timed.clocks):
                return None
            if kind == "DCUA" and port.endswith("_PCLK"):
                return None
            clock = timed.own.get(port, timed.clock)
            return frozenset() if clock is None else self.clocks(wires[clock][0])
        if kind in self.blocks:
            clock = self.blocks[kind].get(port)
            if clock is None:
                raise UnknownCell(f"{kind} {name}: nothing is known of the clock of port {port}")
            if clock == "none":
                return frozenset()
            if clock == "clock" or clock.startswith("as "):
                return None
            return self.clocks(wires[clock][0]) if clock in wires else frozenset([f"{name}.{clock}"])
        if kind in MAKES:
            return None if port.startswith(MADE) or port == MAKES[kind] else frozenset()
        if port in SELECTS.get(kind, ()):
            return frozenset().union(*(self.clocks(wires[way][0]) for way in PASSES[kind]["O"]))
        return None

    def check(self):
        """Raises ``UnknownCell`` for a cell whose clocks are unknown."""
        known = {*REGISTERS, *TIMED, *self.blocks, *MAKES, *PASSES, *OUTPUTS, *CONSTANT}
        for name, cell in self.cells.items():
            if not all(cell.get("port_directions", {0: None}).values()):
                raise UnknownCell(f"{cell['type']} {name}: nothing is known of a port")
            if not cell["type"].startswith("$") and cell["type"] not in known:
                raise UnknownCell(f"{cell['type']} {name}: nothing is known of the clocks of this cell")
            if cell["type"].startswith(("$dlatch", "$sr", "$ff")):
                raise UnknownCell(f"{cell['type']} {name}: a latch")

    # Paths ----------------------------------------------------------------------------------------

    def before(self, bit):
        """Returns the bits that a bit depends on, without a register between; None if it begins here."""
        if bit in self.inputs or bit not in self.driver:
            return None
        name, port, index = self.driver[bit]
        cell  = self.cells[name]
        kind  = cell["type"]
        wires = cell["connections"]
        if kind in PASSES or kind in OUTPUTS:
            return [wires[way][0] for way in PASSES.get(kind, {}).get(port, ()) if wires.get(way)]
        if not kind.startswith("$") or kind in REGISTERS:
            return None
        if kind in BITWISE:
            return [wires[way][min(index, len(wires[way]) - 1)] for way in ("A", "B") if way in wires]
        if kind == "$mux":
            return [wires["A"][index], wires["B"][index], wires["S"][0]]
        if kind == "$pmux":
            width = len(wires["Y"])
            return [wires["A"][index], *wires["B"][index::width], *wires["S"]]
        if kind in SUMS:
            return [bit for way in ("A", "B") for bit in wires.get(way, ())[:index + 1]]
        if kind.startswith("$memrd"):
            return wires["ADDR"]
        return [bit for way, bits in wires.items() if cell["port_directions"][way] == "input" for bit in bits]

    def read_memory(self, bit):
        """Returns the cell that reads a memory into a bit, None if there is none or nobody writes the memory."""
        name, *_ = self.driver.get(bit, ("",))
        cell     = self.cells.get(name)
        return name if cell and cell["type"].startswith("$memrd") and self.writers(name) else None

    def writers(self, name):
        """Returns the cells that write the memory of a cell that reads it."""
        return self.memory.get(self.cells[name]["parameters"]["MEMID"], [])

    def begin(self, bit):
        """Returns the clocks of the register whose output a bit is."""
        if bit in self.inputs:
            return frozenset([f"port {self.inputs[bit]}"])
        if bit not in self.driver:
            return frozenset()
        name, port, _ = self.driver[bit]
        return self.clock_of(name, port) or frozenset()

    def origins(self, bit):
        """Returns the clocks of all registers and memories from which paths lead to ``bit``, as a set of frozensets.

        The function does not recurse: paths are long.
        """
        found, entered, stack = self._origins, set(), [bit]
        while stack:
            now = stack[-1]
            if now in found or isinstance(now, str):
                stack.pop()
                continue
            ways = self.before(now)
            if ways is None:
                found[now] = frozenset([self.begin(now)])
                continue
            waiting = {way for way in ways if way not in found and not isinstance(way, str)}
            if waiting:
                if now in entered:
                    raise UnknownCell(f"a loop of logic without a register through {self.name(now)}")
                entered.add(now)
                stack += waiting
                continue
            sets  = {found[way] for way in ways if way in found}
            read  = self.read_memory(now)
            if read:
                sets.add(frozenset(self.clock_of(writer, "DATA") for writer in self.writers(read)))
            found[now] = next(iter(sets)) if len(sets) == 1 else frozenset().union(*sets)
        return found.get(bit, frozenset())

    def begins(self, bit):
        """Returns the outputs of registers from which paths lead to ``bit``, and names of cells that read memories."""
        if bit in self._begins:
            return self._begins[bit]
        seen, stack, found = set(), [bit], set()
        while stack:
            now = stack.pop()
            if now in seen or isinstance(now, str):
                continue
            seen.add(now)
            ways = self.before(now)
            read = self.read_memory(now)
            if ways is None:
                found.add(now)
            elif read:
                found.add(read)
            stack += ways or ()
        self._begins[bit] = found
        return found

    def ends(self):
        """Yields an ``End`` for each input bit of a register, a memory or a hard block that is not constant."""
        for name, cell in self.cells.items():
            kind   = cell["type"]
            writes = kind.startswith("$memwr")
            if (kind in PASSES and kind not in SELECTS) or (kind.startswith("$") and kind not in REGISTERS
                    and not writes):
                continue
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "input" and not (port == "CLK" and (kind in REGISTERS or writes)):
                    clocks = self.clock_of(name, port)
                    if clocks is not None:
                        yield from (End(name, port, index, bit, clocks) for index, bit in enumerate(bits)
                            if not isinstance(bit, str))


def _names(module):
    """Returns the shortest name of each bit, and the attributes of all names of each bit that has any."""
    names, marks = {}, defaultdict(set)
    for name, net in sorted(module["netnames"].items(), key=lambda item: (item[1].get("hide_name", 0), len(item[0]))):
        found = [key for key in net.get("attributes", ()) if key not in ("src", "hdlname", "keep", "init")]
        for index, bit in enumerate(net["bits"]):
            names.setdefault(bit, f"{name}[{index}]" if len(net["bits"]) > 1 else name)
            if found:
                marks[bit].update(found)
    return names, marks
