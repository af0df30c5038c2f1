#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Progress and performance counters of a DMA engine."""

from migen import *

from litex.gen import *

from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.dma.descriptor import done_layout

# Progress -----------------------------------------------------------------------------------------


class Progress(LiteXModule):
    """Counts completed descriptors and bytes in order, up to the first failure.

    Attributes
    ----------
    done             : Record(done_layout), **in**.
    completed        : 32, **out**, completed ring slots.
    slot             : 1, **out**, one cycle: ``completed`` increments in the next cycle.
    descriptor       : 1, **out**, one cycle: a descriptor completes, in the ring or in a table.
    bytes            : 64, **out**, bytes landed without a gap, including those of an unfinished descriptor.
    unfinished_bytes : 24, **out**, bytes of the unfinished descriptor.
    reason           : 4, **out**, reason of the first failure; nothing is counted after it.
    interrupt        : 1, **out**, one cycle: a descriptor with INTERRUPT completes.
    """
    def __init__(self):
        self.done             = done = Record(done_layout())
        self.completed        = Signal(32)
        self.slot             = Signal()
        self.descriptor       = Signal()
        self.bytes            = Signal(64)
        self.unfinished_bytes = Signal(24)
        self.reason           = Signal(4)
        self.interrupt        = Signal()

        # # #

        counts = Signal()
        good   = self.descriptor
        self.comb += [
            counts.eq(done.valid & (self.reason == REASON_NONE)),
            good.eq(counts & done.last & (done.reason == REASON_NONE)),
            self.slot.eq(good & done.slot_last),
            self.interrupt.eq(good & done.interrupt),
        ]
        self.sync += [
            If(counts,
                self.reason.eq(done.reason),
                self.bytes.eq(self.bytes + done.bytes),
                self.unfinished_bytes.eq(self.unfinished_bytes + done.bytes)
            ),
            If(good, self.unfinished_bytes.eq(0)),
            If(self.slot, self.completed.eq(self.completed + 1)),
        ]

# Counters -----------------------------------------------------------------------------------------

ACTIVE_LO, ACTIVE_HI, DESCRIPTORS, TLPS, WAIT_DESCRIPTOR, WAIT_TAG, WAIT_LINK, WAIT_DATA = range(8)

WORDS    = 8  # Counters in the RAM; it has as many words for registers that the host wrote, and for LATCHED.
LATCHED  = 2*WORDS - 1  # Word that keeps ACTIVE_HI for the host.
LOW_BITS = 6  # 2^(LOW_BITS - 1) is more than the cycles between two visits, so a visit sees at most one wrap.


class Counters(LiteXModule):
    """Performance counters as in Intel AN 456: active cycles, TLPs, and what idle cycles waited for.

    ``active`` counts the cycles from the doorbell to the last byte. It is the sum of the cycles that moved data
    and of the four ``wait`` counters. A cycle for which the engine gives no reason waited for a descriptor.

    The counters are in one small RAM with one adder, which visits them round robin. The low bits of each
    counter are also in registers next to the RAM, which count in every cycle. A visit copies these low bits
    into the RAM word, and adds a carry if they have wrapped since the last visit. So a word read from the RAM is
    a few cycles old. After the counters, the RAM holds the values that the host wrote into registers, for reading
    them back, and in its last word ACTIVE_HI as of the last read of ACTIVE_LO.

    Attributes
    ----------
    run             : 1, **in**, there is work: this cycle is active.
    moved, wait_tag_now, wait_link_now, wait_data_now : 1, **in**, at most one of them is set.
    tlp             : 1, **in**, a data TLP was sent (read request or write).
    descriptor      : 1, **in**, a descriptor was completed.
    address, value  : 4, **in**; 32, **out**, reads a word in the same cycle: a counter, or the value of
        register n at ``WORDS`` + n.
    hold            : 1, **in**, ACTIVE_LO is read in this cycle: keeps ACTIVE_HI of this moment in word ``LATCHED``,
        which can be read three cycles later.
    write, write_address, write_value : 1, 3, 32, **in**, writes word ``WORDS`` + ``write_address``.
    """
    def __init__(self):
        self.run           = Signal()
        self.moved         = Signal()
        self.wait_tag_now  = Signal()
        self.wait_link_now = Signal()
        self.wait_data_now = Signal()
        self.tlp           = Signal()
        self.descriptor    = Signal()
        self.address       = Signal(max=2 * WORDS)
        self.value         = Signal(32)
        self.hold          = Signal()
        self.write         = Signal()
        self.write_address = Signal(max=WORDS)
        self.write_value   = Signal(32)

        # # #

        storage = Memory(32, 2 * WORDS)  # Not an attribute: LiteX would map it onto the CSR bus.
        write = storage.get_port(write_capable=True)
        visit = storage.get_port(async_read=True)
        read  = storage.get_port(async_read=True)
        self.specials += storage, write, visit, read

        # A visit takes one cycle; no counter is visited while the host writes a word. The cycle after a read
        # of ACTIVE_LO visits ACTIVE_HI. A carry from the cycle of the read has not reached ACTIVE_HI yet, so
        # both halves are from the same moment.
        turn       = Signal(max=WORDS)   # Round-robin pointer.
        hold       = Signal()            # Visit ACTIVE_HI out of turn, and write it to word LATCHED instead.
        latched    = Signal()            # Word LATCHED was written since the last reset.
        index      = Signal(max=WORDS)   # The counter visited: ACTIVE_HI with ``hold``, otherwise ``turn``.
        visiting   = Signal()
        next_turn  = Signal.like(turn)
        next_hold  = Signal()
        next_index = Signal.like(index)
        sample     = Signal(LOW_BITS)    # Low bits of the counter ``turn``, as of the last cycle.
        is_high    = Signal()
        low        = Signal(LOW_BITS)    # ``sample``; but ACTIVE_HI needs the present value, which has every carry.
        wrapped    = Signal()            # The low bits have wrapped since the last visit.
        upper      = Signal(32 - LOW_BITS + 1)
        total      = Signal(32)
        first_pass = Signal(reset=1)     # First pass after a reset: the RAM still holds the old values.
        self.first = Signal(32)          # Initial value of ACTIVE_LO: 0; tests change it to reach a carry soon.
        self.lows  = lows = [Signal(LOW_BITS) for _ in range(WORDS)]
        self.comb += [
            visiting.eq(~self.write),
            next_turn.eq(turn + (visiting & ~hold)),
            next_hold.eq(self.hold | (hold & ~visiting)),
            next_index.eq(Mux(next_hold, ACTIVE_HI, next_turn)),
            visit.adr.eq(index),
            low.eq(Mux(is_high, lows[ACTIVE_HI], sample)),
            wrapped.eq(visit.dat_r[LOW_BITS - 1] & ~low[-1]),
            upper.eq(visit.dat_r[LOW_BITS:] + wrapped),
            total.eq(Cat(low, Mux(first_pass, Mux(index == ACTIVE_LO, self.first[LOW_BITS:], 0), upper[:-1]))),
            write.we.eq(visiting | self.write),
            write.adr.eq(Mux(self.write, Cat(self.write_address, 1), Mux(hold, LATCHED, index))),
            write.dat_w.eq(Mux(self.write, self.write_value, total)),
            read.adr.eq(self.address),
            self.value.eq(Mux(first_pass & ~self.address[-1], self.first,
                Mux((self.address == LATCHED) & ~latched, 0, read.dat_r))),
        ]
        self.sync += [
            turn.eq(next_turn),
            hold.eq(next_hold),
            index.eq(next_index),
            is_high.eq(next_index == ACTIVE_HI),
            sample.eq(Array(lows)[next_turn]),   # For ACTIVE_HI it is not used.
            If(visiting & hold, latched.eq(1)),
            If(visiting & ~hold & (turn == WORDS - 1), first_pass.eq(0)),
        ]
        for n, event in self.events(upper[-1] & (index == ACTIVE_LO) & visiting & ~first_pass).items():
            self.sync += lows[n].eq(lows[n] + event)

    def events(self, carry):
        """The event of each counter in this cycle, as a register: some events come through long paths."""
        waits = {
            WAIT_TAG:        self.wait_tag_now,
            WAIT_LINK:       ~self.wait_tag_now & self.wait_link_now,
            WAIT_DATA:       ~self.wait_tag_now & ~self.wait_link_now & self.wait_data_now,
            WAIT_DESCRIPTOR: ~self.wait_tag_now & ~self.wait_link_now & ~self.wait_data_now,
        }
        events = {n: self.run & ~self.moved & wait for n, wait in waits.items()}
        events |= {ACTIVE_LO: self.run, ACTIVE_HI: carry, DESCRIPTORS: self.descriptor, TLPS: self.tlp}
        named  = {n: Signal() for n in events}
        self.sync += [named[n].eq(event) for n, event in events.items()]
        return named
