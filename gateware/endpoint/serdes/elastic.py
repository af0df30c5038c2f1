#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Elastic buffer between the received clock and the clock of the endpoint."""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litepcie_soc.endpoint.serdes.interface import SKP

# Levels as the reading side sees them, about three words less than there are. The clocks differ by 600 ppm at most,
# which is less than a word between two SKP ordered sets (PCIe 2.1 4.2.7).
DEPTH          = 16
START          = 6   # At the begin.
LOW, HIGH      = 5, 8
EMPTY, FULL    = 1, 12
STEADY         = 32  # Cycles in which the writing side must be alive before reading begins.


def gray(binary):
    return binary ^ (binary >> 1)


def from_gray(code):
    """Returns the bits of a gray code in binary, the lowest first."""
    bits = len(code)
    return [Reduce("XOR", [code[n] for n in range(low, bits)]) for low in range(bits)]


class ElasticBuffer(LiteXModule):
    """Takes pairs of symbols at the received clock and gives pairs at the clock of the endpoint.

    A SKP ordered set COM SKP SKP SKP holds one pair SKP SKP, whether COM is in the lower half or in the upper. The
    buffer drops such a pair when it is too full, and repeats it when it is too empty: the set then has 1 or 5 SKP.
    Sets without such a pair pass unchanged. A buffer that runs empty or full reports it once and begins again.

    Attributes
    ----------
    sink_data, sink_k, sink_error : 16, 2, 2, **in**, pcie_rx; a pair in every cycle.
    sink_status                   : 6, **in**, pcie_rx; goes with the pair.
    enable                        : 1, **in**, pcie; 0: the buffer gives nothing, and begins again afterwards.
    data, k, error, status        : 16, 2, 2, 6, **out**, pcie; a pair.
    valid                         : 1, **out**, pcie; the pair is valid.
    overflow                      : 1, **out**, pcie; a pulse: pairs were lost or repeated.
    added, removed                : 1, **out**, pcie and pcie_rx; a pulse for each repeated or dropped pair of SKP.

    PCIe 2.1 4.2.7.
    """
    def __init__(self):
        self.sink_data  = Signal(16)
        self.sink_k     = Signal(2)
        self.sink_error = Signal(2)
        self.sink_status = Signal(6)
        self.enable     = Signal()
        self.data       = Signal(16)
        self.k          = Signal(2)
        self.error      = Signal(2)
        self.status     = Signal(6)
        self.valid      = Signal()
        self.overflow   = Signal()
        self.added      = Signal()
        self.removed    = Signal()

        # # #

        # Not an attribute: LiteX would put a memory that it finds in a module onto the bus of the registers.
        memory      = Memory(27, DEPTH)
        self.write  = memory.get_port(write_capable=True, clock_domain="pcie_rx")
        self.read   = memory.get_port(async_read=True, clock_domain="pcie")
        self.specials += memory, self.write, self.read
        self.too_full = Signal()
        self.written  = Signal(4)  # Gray code.
        self.add_writing_side()
        self.add_reading_side()

    def add_writing_side(self):
        """Stores every pair, but the pair SKP SKP of a set while the buffer is too full."""
        pair, skips       = Signal(26), Signal()
        too_full, pointer = Signal(), Signal(4)
        self.specials     += MultiReg(self.too_full, too_full, "pcie_rx")
        symbols            = [(self.sink_data[8*n:8*n + 8] == SKP) & self.sink_k[n] & ~self.sink_error[n]
            for n in range(2)]
        self.sync.pcie_rx += [
            pair.eq(Cat(self.sink_data, self.sink_k, self.sink_error, self.sink_status)),
            skips.eq(symbols[0] & symbols[1]),
            # Once for each set: two pairs that follow each other are not both dropped.
            self.removed.eq(skips & too_full & ~self.removed),
            If(~(skips & too_full & ~self.removed), pointer.eq(pointer + 1)),
            # One cycle later than the memory, so that the pair is there when the pointer says so.
            self.written.eq(gray(pointer)),
        ]
        self.comb += [
            self.write.adr.eq(pointer),
            self.write.dat_w.eq(Cat(pair, skips)),
            self.write.we.eq(1),
        ]

    def add_reading_side(self):
        """Reads a pair in every cycle, or the pair SKP SKP of a set twice while the buffer is too empty."""
        code, written, before = Signal(4), Signal(4), Signal(4)
        pointer, level        = Signal(4), Signal(4)
        alive, repeated       = Signal(max=STEADY + 1), Signal()
        skips, repeat         = Signal(), Signal()
        self.specials += MultiReg(self.written, code, "pcie")
        self.comb     += [
            self.read.adr.eq(pointer),
            skips.eq(self.read.dat_r[26]),
            level.eq(written - pointer),
            repeat.eq(skips & ~repeated & (level <= LOW)),
        ]
        self.sync.pcie += [
            written.eq(Cat(*from_gray(code))),
            before.eq(written),
            self.overflow.eq(0),
            self.added.eq(0),
            self.valid.eq(0),
            Cat(self.data, self.k, self.error, self.status).eq(self.read.dat_r[:26]),
            self.too_full.eq((level >= HIGH) & (alive == STEADY)),
            If(~self.enable,
                alive.eq(0),
            ).Elif(alive != STEADY,
                pointer.eq(written - START),
                If(written != before, alive.eq(alive + 1)),
            ).Elif((level <= EMPTY) | (level >= FULL),
                self.overflow.eq(1),
                alive.eq(0),
            ).Else(
                self.valid.eq(1),
                self.added.eq(repeat),
                repeated.eq(skips & (repeated | repeat)),
                If(~repeat, pointer.eq(pointer + 1)),
            )
        ]
