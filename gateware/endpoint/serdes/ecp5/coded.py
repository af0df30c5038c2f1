#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Symbols to and from the bus of a SerDes channel that codes and aligns them itself."""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litepcie_soc.endpoint.serdes.elastic import gray
from litepcie_soc.endpoint.serdes.interface import UNDECODABLE

# Gears --------------------------------------------------------------------------------------------
# Gearing in the fabric, for a SerDes channel that takes and gives one symbol per cycle of 250 MHz.

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

# Bus ----------------------------------------------------------------------------------------------

# Bits of a half of the bus, which carries one symbol. The lower half is first in time.
HALF         = 12
BUS          = 2*HALF
DATA, K      = 0, 8
FORCE        = 9            # Transmitter: the running disparity becomes that of the next bit, of which 0 is negative.
IDLE         = 11           # Transmitter: electrical idle.
STATUS       = slice(9, 12) # Receiver.
DECODE_ERROR, DISPARITY_ERROR = 4, 7
STUCK        = 64           # Cycles in a row with an error in a half, after which its status has no meaning.


class CodedTransmitter(LiteXModule):
    """Registers symbols for the block. The lane is in electrical idle while ``pcie`` is in reset.

    Parameters
    ----------
    geared : the block takes two symbols per cycle. False: it takes one per cycle of ``symbol``.

    Attributes
    ----------
    data     : 16, **in**, pcie; two symbols, the lower half is first in time.
    k        : 2, **in**, pcie; control symbols.
    negative : 1, **in**, pcie; the lower symbol is coded with negative running disparity.
    idle     : 2, **in**, pcie; electrical idle.
    bus      : 24, **out**, pcie, or lower half only, symbol; from registers.
    quiet    : 1, **out**; 0: idle goes by bits of the bus.
    """
    def __init__(self, geared):
        self.data     = Signal(16)
        self.k        = Signal(2)
        self.negative = Signal()
        self.idle     = Signal(2)
        self.bus      = Signal(BUS)
        self.quiet    = Constant(0)

        # # #

        data, k, idle   = Signal(16), Signal(2), Signal(2, reset=0b11)
        negative, bus   = Signal(), Signal(BUS)
        self.sync.pcie += [data.eq(self.data), k.eq(self.k), idle.eq(self.idle), negative.eq(self.negative)]
        self.comb      += bus[FORCE].eq(negative)
        for half in range(2):
            first      = half * HALF
            self.comb += [
                bus[first + DATA:first + DATA + 8].eq(data[8*half:8*half + 8]),
                bus[first + K].eq(k[half]),
                bus[first + IDLE].eq(idle[half]),
            ]
        if geared:
            self.comb += self.bus.eq(bus)
        else:
            self.gear  = gear = TransmitGear(HALF, rest=1 << IDLE)
            self.comb += [gear.sink.eq(bus), self.bus[:HALF].eq(gear.source)]


class CodedReceiver(LiteXModule):
    """Registers the bus of the block, then makes symbols and errors of it.

    The status that comes with a symbol was seen with constant bits on a board. So the link trains without it, and a
    status that tells an error in 64 cycles in a row counts no longer, until it tells none.

    Parameters
    ----------
    geared : the block gives two symbols per cycle. False: it gives one.

    Attributes
    ----------
    bus    : 24, **in**, pcie_rx; of the block.
    strict : 1, **in**, asynchronous; a status that tells an error counts. 0: only a code that does not exist does.
    data   : 16, **out**, pcie_rx; two symbols, the lower half is first in time.
    k      : 2, **out**, pcie_rx; control symbols.
    error  : 2, **out**, pcie_rx; symbols with a wrong code, or if ``strict`` with a wrong running disparity.
    status : 6, **out**, pcie_rx; status of both symbols.
    valid  : 1, **out**, pcie_rx; there are two symbols in this cycle.
    """
    def __init__(self, geared):
        self.bus    = Signal(BUS)
        self.strict = Signal()
        self.data   = Signal(16)
        self.k      = Signal(2)
        self.error  = Signal(2)
        self.status = Signal(6)
        self.valid  = Signal()

        # # #

        bus, strict    = Signal(BUS), Signal()
        self.specials += MultiReg(self.strict, strict, "pcie_rx")
        if geared:
            self.comb         += self.valid.eq(1)
            self.sync.pcie_rx += bus.eq(self.bus)
        else:
            self.gear          = gear = ReceiveGear(HALF)
            self.comb         += [gear.sink.eq(self.bus[:HALF]), bus.eq(gear.source)]
            self.sync.pcie_rx += self.valid.eq(gear.valid)
        for half in range(2):
            symbol = bus[half*HALF:(half + 1)*HALF]
            data   = symbol[DATA:DATA + 8]
            status = symbol[STATUS]
            told   = Signal()
            in_row = Signal(max=STUCK + 1)
            self.comb += told.eq((status == DECODE_ERROR) | (status == DISPARITY_ERROR))
            self.sync.pcie_rx += [
                If(~told, in_row.eq(0)).Elif(in_row != STUCK, in_row.eq(in_row + 1)),
                self.status[3*half:3*half + 3].eq(status),
                self.data[8*half:8*half + 8].eq(data),
                self.k[half].eq(symbol[K]),
                self.error[half].eq(symbol[K] & (data == UNDECODABLE) | told & strict & (in_row != STUCK)),
            ]
