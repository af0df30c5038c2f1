#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Counters of events, which share one adder."""

from operator import add, or_

from migen import *

from litex.gen import *

# Counters -----------------------------------------------------------------------------------------


class SharedCounters(LiteXModule):
    """Counts events in a memory: each counter has its turn, and takes what came since the last one.

    The memory is used in every second cycle; in the others it may be read. Counts are kept in a reset of ``sys``, the
    clock domain of all signals.

    Parameters
    ----------
    most : [int], for each counter the most events per cycle. 0: it counts the turns with an event, which is smaller.
    bits : int, of a counter, which stays at its largest value.

    Attributes
    ----------
    events  : [n bits], **in**; events of this cycle.
    clear   : 1, **in**; every counter begins at 0 when it has its turn. To be asserted for ``round`` cycles.
    address : 5, **in**; counter to be read.
    free    : 1, **out**; ``address`` is used in this cycle.
    data    : bits, **out**; the counter whose address was used in the cycle before.
    round   : int, cycles in which each counter has one turn.
    """
    def __init__(self, most, bits=32):
        places       = max(4, 2**log2_int(len(most), need_pow2=False))  # A turn takes longer than two of them.
        self.events  = [Signal(bits_for(n), name=f"events{place}") for place, n in enumerate(most)]
        self.clear   = Signal()
        self.address = Signal(max=places)
        self.free    = Signal()
        self.data    = Signal(bits)
        self.round   = 2*places

        # # #

        # Not an attribute: LiteX would put a memory that it finds in a module onto the bus of the registers.
        memory      = Memory(bits, places)
        self.read   = read  = memory.get_port(mode=READ_FIRST)
        self.write  = write = memory.get_port(write_capable=True, mode=READ_FIRST)
        self.specials += memory, read, write

        # The counter whose turn begins, whose turn began before, and which is written.
        place, before, written = [Signal(max=places, reset_less=True) for _ in range(3)]
        even          = Signal(reset_less=True)
        self.waiting  = [Signal(bits_for(n*(self.round + 1)), reset_less=True, name=f"waiting{place}")
            for place, n in enumerate(most)]
        amount        = Signal(max(len(waiting) for waiting in self.waiting), reset_less=True)
        fresh         = Signal(reset_less=True)
        value         = Signal(bits, reset_less=True)  # A block RAM is slow: nothing follows it but this register.
        total         = Signal(bits + 1, reset_less=True)
        self.comb += [
            self.free.eq(~even),
            read.adr.eq(Mux(even, place, self.address)),
            self.data.eq(read.dat_r),
            write.adr.eq(written),
            write.dat_w.eq(Mux(total[bits], 2**bits - 1, total[:bits])),
            write.we.eq(even),
        ]
        self.sync += [
            even.eq(~even),
            If(even,
                place.eq(place + 1),
                before.eq(place),
                written.eq(before),
                total.eq(value + amount),
                Case(place, {n: amount.eq(waiting) for n, waiting in enumerate(self.waiting)} | {
                    "default": amount.eq(0)}),
                fresh.eq(self.clear),
            ).Else(
                value.eq(Mux(fresh, 0, read.dat_r)),
            ),
            [waiting.eq((add if most[n] else or_)(Mux(even & (place == n), 0, waiting), events))
                for n, (waiting, events) in enumerate(zip(self.waiting, self.events))],
        ]
