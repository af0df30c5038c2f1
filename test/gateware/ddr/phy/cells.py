# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Takes Xilinx's cells out of a design; their signals become ports at the top, for models in C++."""

from migen import Cat, Constant, Instance, Mux, Signal
from migen.fhdl.structure import _Assign, _Slice
from migen.genlib.resetsync import AsyncResetSynchronizer


SERIALIZERS   = ("OSERDESE2", "OSERDESE3")
DESERIALIZERS = ("ISERDESE2", "ISERDESE3")
DELAYS        = ("IDELAYE2", "ODELAYE2", "IDELAYE3", "ODELAYE3")
PINS          = ("IOBUF", "IOBUFDS", "IOBUFDSE3", "OBUFDS")
PLLS          = ("PLLE2_ADV", "MMCME2_ADV", "PLLE3_ADV", "MMCME3_ADV", "PLLE4_ADV", "MMCME4_ADV")
BUFFERS       = ("BUFG", "BUFGCE", "BUFGCE_DIV", "FDCE")

# Outputs of cells, and the inputs they follow.
OUT = {"OQ": None, "OFB": None, "DATAOUT": ("ODATAIN", "IDATAIN"), "IO": ("I",), "O": ("I",)}

# The models support cells with these parameters only.
MODES = {"DATA_WIDTH": 8, "DATA_RATE": "DDR", "DATA_RATE_OQ": "DDR", "DATA_RATE_TQ": "BUF", "DELAY_FORMAT": "TIME",
    "INTERFACE_TYPE": "NETWORKING", "DELAY_TYPE": "VARIABLE", "IDELAY_TYPE": "VARIABLE", "ODELAY_TYPE": "VARIABLE",
    "CASCADE": "NONE", "IS_CLK_INVERTED": 0}

# Pads of a memory, as LiteDRAM names them.
COMMANDS = ("clk_p", "reset_n", "cke", "cs_n", "act_n", "ras_n", "cas_n", "we_n", "a", "ba", "bg", "odt")
DATA     = ("dqs_p", "dm", "dq")


def bits(expression):
    """Bits of a signal or of a slice of one, each as (signal's number, place); of other expressions, none."""
    if isinstance(expression, Signal):
        return [(expression.duid, n) for n in range(len(expression))]
    if isinstance(expression, _Slice) and isinstance(expression.value, Signal):
        return [(expression.value.duid, n) for n in range(expression.start, expression.stop)]
    return []


def parameter(cell, name, default=None):
    """Value of a cell's parameter, a number or a string."""
    for item in cell.items:
        if isinstance(item, Instance.Parameter) and item.name == name:
            return item.value.value if isinstance(item.value, Constant) else item.value
    return default


def tristate(serializer):
    """The input that releases the serializer's pin, or None."""
    return serializer.get_io("T1" if serializer.of == "OSERDESE2" else "T")


def is_late(serializer):
    """Returns whether the serializer, like its clock, is late by a quarter of the chips' cycle."""
    return getattr(serializer.get_io("CLK"), "cd", "").endswith("_dqs")


def port(name, width):
    return Signal(width, name_override=name)


class Cells:
    """Removes the cells from a fragment (in place), and records which cells are wired to which pad.

    All clocked parts run on one clock, the clock of the PHY's controller side.

    Ports, of the top
    -----------------
    clk, locked : 1, **in**, of every PLL; locked also of the delay controllers.
    word     : 8 per serializer, **out**, first bit first.
    floating : 1 per serializer, **out**, its pin is not driven.
    sample   : 8 per deserializer, **in**, first bit first.
    reset    : 1 per delay, **out**, moves it to its first tap.
    move     : 1 per delay, **out**, moves it by one tap.
    vtc      : 1 per delay, **out**, it tracks voltage and temperature (EN_VTC).
    count    : 9 per delay, **in**, its present tap.
    phase    : 2, **out**, moves the phase of the late serializers' clock by a step; later.
    """
    def __init__(self, fragment):
        cells = [special for special in fragment.specials if isinstance(special, Instance)]
        cells.sort(key=lambda cell: cell.duid)
        self.fragment      = fragment
        self.serializers   = [cell for cell in cells if cell.of in SERIALIZERS]
        self.deserializers = [cell for cell in cells if cell.of in DESERIALIZERS]
        self.delays        = [cell for cell in cells if cell.of in DELAYS]
        self.clk, self.locked = port("clk", 1), port("locked", 1)
        self.word, self.sample = port("word", 8*len(self.serializers)), port("sample", 8*len(self.deserializers))
        self.floating = port("floating", len(self.serializers))
        self.reset, self.move, self.vtc = (port(name, len(self.delays)) for name in ("reset", "move", "vtc"))
        self.count   = port("count", 9*len(self.delays))
        self.phase   = port("phase", 2)
        self.ports   = {self.clk, self.locked, self.word, self.floating, self.sample, self.reset, self.move, self.vtc,
            self.count, self.phase}

        # # #

        self.drivers, self.readers = {}, {}
        for cell in cells:
            self.remember(cell)
            self.take_out(cell)
        for statement in fragment.comb:
            if isinstance(statement, _Assign):
                self.drivers.update(zip(bits(statement.l), bits(statement.r)))
        for special in sorted(fragment.specials, key=lambda special: special.duid):
            if isinstance(special, AsyncResetSynchronizer):
                self.synchronize(special)
        self.add_ports()

    def remember(self, cell):
        for item in cell.items:
            if isinstance(item, Instance._IO):
                for bit in bits(item.expr):
                    if item.name in OUT:
                        self.drivers[bit] = cell
                    elif item.name in ("IDATAIN", "DDLY", "D"):
                        self.readers[bit] = cell

    def take_out(self, cell):
        known = (*SERIALIZERS, *DESERIALIZERS, *DELAYS, *PINS, *PLLS, *BUFFERS, "IDELAYCTRL")
        assert cell.of in known, cell.of
        for name, value in MODES.items():
            assert parameter(cell, name, value) == value, (cell.of, name)
        self.fragment.specials.remove(cell)
        if cell.of in BUFFERS:
            out, of = ("Q", "D") if cell.of == "FDCE" else ("O", "I")
            self.fragment.comb.append(cell.get_io(out).eq(cell.get_io(of)))
        for item in cell.items:
            if isinstance(item, Instance.Output) and item.name in ("RDY", "LOCKED"):
                self.fragment.comb.append(item.expr.eq(self.locked))
            elif isinstance(item, Instance.Output) and item.name.startswith("CLKOUT"):
                self.fragment.comb.append(item.expr.eq(self.clk))
        if cell.get_io("PSEN") is not None:
            (moved,) = [n for n in range(7) if parameter(cell, f"CLKOUT{n}_USE_FINE_PS") == "TRUE"]
            assert parameter(cell, f"CLKOUT{moved}_PHASE") == 90  # No other clock may move.
            self.fragment.comb.append(self.phase.eq(Cat(cell.get_io("PSEN"), cell.get_io("PSINCDEC"))))

    def synchronize(self, special):
        self.fragment.specials.remove(special)
        stages = [Signal(reset=1, reset_less=True) for _ in range(2)]
        for stage, before in zip(stages, (0, stages[0])):
            self.fragment.sync.setdefault(special.cd.name, []).append(stage.eq(special.async_reset | before))
        self.fragment.comb.append(special.cd.rst.eq(special.async_reset | stages[1]))

    def add_ports(self):
        comb, words, floating, reset, move, vtc = self.fragment.comb, [], [], [], [], []
        for cell in self.serializers:
            word = cell.get_io("D")
            if word is None:
                word = Cat(*[cell.get_io(f"D{k + 1}") for k in range(8)])
            words.append(Mux(cell.get_io("RST"), 0, word))
            floating.append(Constant(0, 1) if tristate(cell) is None else tristate(cell))
        for n, cell in enumerate(self.deserializers):
            sample = self.sample[8*n:8*n + 8]
            if cell.of == "ISERDESE3":
                comb.append(cell.get_io("Q").eq(sample))
            else:
                comb += [cell.get_io(f"Q{8 - k}").eq(sample[k]) for k in range(8)]
        for n, cell in enumerate(self.delays):
            reset.append(cell.get_io("LD" if cell.of.endswith("E2") else "RST"))
            assert cell.get_io("INC").value == 1
            move.append(cell.get_io("CE"))
            vtc.append(Constant(0, 1) if cell.get_io("EN_VTC") is None else cell.get_io("EN_VTC"))
            if cell.get_io("CNTVALUEOUT") is not None:
                comb.append(cell.get_io("CNTVALUEOUT").eq(self.count[9*n:9*n + 9]))
        for ports, values in ((self.word, words), (self.floating, floating), (self.reset, reset), (self.move, move),
            (self.vtc, vtc)):
            comb.append(ports.eq(Cat(*[self.wire(value, len(ports)//len(values)) for value in values])))

    def wire(self, value, width):
        wire = Signal(width)
        self.fragment.comb.append(wire.eq(value))
        return wire

    # Wires ----------------------------------------------------------------------------------------

    def output(self, bit):
        """(serializer, delay or -1) that drive the pad of a bit."""
        delay, cell = -1, self.drivers[bit]
        while isinstance(cell, tuple):
            bit, cell = cell, self.drivers[cell]
        while cell not in self.serializers:
            if cell in self.delays:
                delay = self.delays.index(cell)
            (bit,) = bits(cell.get_io("ODATAIN") if cell in self.delays else cell.get_io("I"))
            cell   = self.drivers[bit]
        return self.serializers.index(cell), delay

    def input(self, bit):
        """(deserializer, delay) that the pad of a bit, an IOBUF's, drives."""
        (bit,) = bits(self.drivers[bit].get_io("O"))
        delay  = self.readers[bit]
        (bit,) = bits(delay.get_io("DATAOUT"))
        return self.deserializers.index(self.readers[bit]), self.delays.index(delay)

    def header(self, pads):
        """C++ header: the number of cells of each kind, and the cells at each pad."""
        lines = [f"constexpr unsigned SERIALIZERS = {len(self.serializers)}, DELAYS = {len(self.delays)};",
            f"constexpr unsigned DESERIALIZERS = {len(self.deserializers)};"]
        of     = lambda name: [pad[n] for pad in [getattr(pads, name, [])] for n in range(len(pad))]
        either = {name: [self.output(bit) for pad in of(name) for bit in bits(pad)] for name in (*COMMANDS, *DATA)}
        inputs = [self.input(bit) for pad in of("dq") for bit in bits(pad)]
        for name, wires in either.items():
            cells  = [self.serializers[serializer] for serializer, _ in wires]
            fields = [f"{{{serializer}, {delay}, {int(is_late(cell))}, {int(tristate(cell) is not None)}}}"
                for cell, (serializer, delay) in zip(cells, wires)]
            lines.append(f"const std::vector<Output> PAD_{name.upper()} = {{{', '.join(fields)}}};")
        lines.append(f"const std::vector<Input> PAD_DQ_IN = {{{', '.join(f'{{{d}, {t}}}' for d, t in inputs)}}};")
        first = [parameter(cell, "ODELAY_VALUE") or parameter(cell, "DELAY_VALUE") or 0 for cell in self.delays]
        lines.append(f"const unsigned FIRST_TAP[] = {{{', '.join(map(str, first))}}};")
        return "\n".join(lines) + "\n"
