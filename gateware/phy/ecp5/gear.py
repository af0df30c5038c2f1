#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Gearing in the fabric, for a SerDes channel that takes and gives one symbol per cycle of 250 MHz."""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litepcie_soc.phy.soft.elastic import gray

DEPTH = 8  # Words of the FIFO. Reading begins when it is half full.


class TransmitGear(LiteXModule):
    """Splits each word into its halves, the lower one first.

    nextpnr does not know the phase of ``pcie``, which the channel divides from ``symbol``: hence a FIFO between them.
    It stays half full, because both clocks have one source. Both domains must be in reset together.

    Parameters
    ----------
    width : bits of a half.
    rest  : half that is given until there is a word.

    Attributes
    ----------
    sink   : 2*width, **in**, pcie; a word in every cycle.
    source : width, **out**, symbol; a half in every cycle, from a register.
    """
    def __init__(self, width, rest):
        self.sink   = Signal(2*width)
        self.source = Signal(width, reset=rest)

        # # #

        # Not an attribute: LiteX would put a memory that it finds in a module onto the bus of the registers.
        memory = Memory(2*width, DEPTH)
        write  = memory.get_port(write_capable=True, clock_domain="pcie")
        read   = memory.get_port(async_read=True, clock_domain="symbol")
        self.specials += memory, write, read

        # Writing side. The gray code is one cycle later than the pointer, so that the word is there.
        word, into = Signal(2*width, reset=rest | rest << width), Signal(max=DEPTH)
        written    = Signal(max=DEPTH)
        self.comb      += [write.adr.eq(into), write.dat_w.eq(word), write.we.eq(1)]
        self.sync.pcie += [word.eq(self.sink), into.eq(into + 1), written.eq(gray(into))]

        # Reading side.
        seen, started = Signal(max=DEPTH), Signal()
        upper, filled = Signal(), Signal()
        taken, out    = Signal(2*width), Signal(max=DEPTH)
        self.specials    += MultiReg(written, seen, "symbol")
        self.comb        += read.adr.eq(out)
        self.sync.symbol += [
            If(seen == gray(DEPTH // 2), started.eq(1)),
            self.source.eq(rest),
            If(filled, self.source.eq(Mux(upper, taken[:width], taken[width:]))),
            If(started,
                upper.eq(~upper),
                If(upper,
                    out.eq(out + 1),
                ).Else(
                    taken.eq(read.dat_r),
                    filled.eq(1),
                ),
            ),
        ]


class ReceiveGear(LiteXModule):
    """Joins two halves that follow each other to a word, the first one lowest.

    Parameters
    ----------
    width : bits of a half.

    Attributes
    ----------
    sink   : width, **in**, pcie_rx; a half in every cycle.
    source : 2*width, **out**, pcie_rx; a word, from a register; it stays for two cycles.
    valid  : 1, **out**, pcie_rx; in the first of them.
    """
    def __init__(self, width):
        self.sink   = Signal(width)
        self.source = Signal(2*width)
        self.valid  = Signal()

        # # #

        first, now = Signal(width), Signal(width)
        self.sync.pcie_rx += [
            now.eq(self.sink),
            first.eq(now),
            self.valid.eq(~self.valid),
            If(~self.valid, self.source.eq(Cat(first, now))),
        ]
