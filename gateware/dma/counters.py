#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What an engine counts: its progress, and the performance counters of AN 456."""

from migen import *

from litex.gen import *

from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.dma.descriptor import done_layout

# Progress -----------------------------------------------------------------------------------------


class Progress(LiteXModule):
    """Counts what is complete, in order, and nothing behind the first failure.

    Attributes
    ----------
    done        : Record(done_layout), in, sys.
    completed   : 32, out, sys, slots of the ring,
    slot        : 1, out, sys, one cycle: one more in the next.
    descriptor  : 1, out, sys, one cycle: a descriptor becomes complete, those of tables too.
    bytes       : 64, out, sys, bytes landed without a gap, those of an unfinished descriptor too.
    part        : 24, out, sys, bytes of the unfinished descriptor.
    reason      : 4, out, sys, of the first failure; nothing counts behind it.
    interrupt   : 1, out, sys, one cycle: a descriptor with INTERRUPT becomes complete.
    """
    def __init__(self):
        self.done        = done = Record(done_layout())
        self.completed   = Signal(32)
        self.slot        = Signal()
        self.descriptor  = Signal()
        self.bytes       = Signal(64)
        self.part        = Signal(24)
        self.reason      = Signal(4)
        self.interrupt   = Signal()

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
                self.part.eq(self.part + done.bytes)
            ),
            If(good, self.part.eq(0)),
            If(self.slot, self.completed.eq(self.completed + 1)),
        ]

# Counters -----------------------------------------------------------------------------------------

ACTIVE_LO, ACTIVE_HI, DESCRIPTORS, TLPS, WAIT_DESCRIPTOR, WAIT_TAG, WAIT_LINK, WAIT_DATA = range(8)

WORDS    = 8  # Counters, and as many words that the host wrote.
LOW_BITS = 6  # Go half round in more cycles than there are between two visits.


class Counters(LiteXModule):
    """Cycles from the doorbell to the last byte, and what those that moved nothing waited for.

    ``active`` is the sum of the cycles that moved data and of the four ``wait`` counters. A cycle
    for which the engine names no reason waited for a descriptor.

    The words lie in one small RAM, with one adder. Its counters are visited in turns. The low bits
    of each count beside the RAM, without pause; a visit finds them behind those of the word and
    takes them over, with a carry if they went round since. So a word is a few cycles old. Behind
    the counters the RAM keeps what the host wrote into registers, for it to read back.

    Attributes
    ----------
    run             : 1, in, sys, there is work.
    moved, wait_tag_now, wait_link_now, wait_data_now : 1, in, sys, at most one.
    tlp             : 1, in, sys, a request or write of data was sent.
    descriptor      : 1, in, sys, a descriptor was completed.
    address, value  : 4, in, 32, out, sys, reads a word in the same cycle: a counter, or
        ``WORDS`` + n.
    hold            : 1, in, sys, ``value`` is ACTIVE_LO and is read: two cycles later
    high            : 32, out, sys, is ACTIVE_HI as of then.
    write, write_address, write_value : 1, 3, 32, in, sys, word ``WORDS`` + n.
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
        self.high          = Signal(32)
        self.write         = Signal()
        self.write_address = Signal(max=WORDS)
        self.write_value   = Signal(32)

        # # #

        storage = Memory(32, 2 * WORDS)  # No attribute: LiteX would map it as a memory of the CSR bus.
        write = storage.get_port(write_capable=True)
        visit = storage.get_port(async_read=True)
        read  = storage.get_port(async_read=True)
        self.specials += storage, write, visit, read

        # Visits: none while the host writes a word. The cycle behind a read of ACTIVE_LO is that of
        # the high half: a carry of the cycle of the read has not reached it yet, so the two are of
        # one moment.
        turn    = Signal(max=WORDS)
        hold    = Signal()            # The high half is asked for.
        index   = Signal(max=WORDS)   # What is visited: that, or what has its turn.
        now     = Signal()
        after   = Signal.like(turn)   # All three in the next cycle.
        again   = Signal()
        visited = Signal.like(index)
        sample  = Signal(LOW_BITS)    # Low bits of what is visited, as of the last cycle;
        is_high = Signal()            # but of the high half, so that it has every carry of the low one,
        low     = Signal(LOW_BITS)    # as of now.
        lapped  = Signal()            # They went round since the last visit.
        upper   = Signal(32 - LOW_BITS + 1)
        total   = Signal(32)
        fresh   = Signal(reset=1)     # The first turns: the RAM holds what was before the reset.
        self.first = Signal(32)       # ACTIVE_LO begins with it: 0, but where a test counts far.
        self.lows  = lows = [Signal(LOW_BITS) for _ in range(WORDS)]
        self.comb += [
            now.eq(~self.write),
            after.eq(turn + (now & ~hold)),
            again.eq(self.hold | (hold & ~now)),
            visited.eq(Mux(again, ACTIVE_HI, after)),
            visit.adr.eq(index),
            low.eq(Mux(is_high, lows[ACTIVE_HI], sample)),
            lapped.eq(visit.dat_r[LOW_BITS - 1] & ~low[-1]),
            upper.eq(visit.dat_r[LOW_BITS:] + lapped),
            total.eq(Cat(low, Mux(fresh, Mux(index == ACTIVE_LO, self.first[LOW_BITS:], 0), upper[:-1]))),
            write.we.eq(now | self.write),
            write.adr.eq(Mux(self.write, Cat(self.write_address, 1), index)),
            write.dat_w.eq(Mux(self.write, self.write_value, total)),
            read.adr.eq(self.address),
            self.value.eq(Mux(fresh & ~self.address[-1], self.first, read.dat_r)),
        ]
        self.sync += [
            turn.eq(after),
            hold.eq(again),
            index.eq(visited),
            is_high.eq(visited == ACTIVE_HI),
            sample.eq(Array(lows)[visited]),
            If(now & hold, self.high.eq(total)),
            If(now & ~hold & (turn == WORDS - 1), fresh.eq(0)),
        ]
        for n, event in self.events(upper[-1] & (index == ACTIVE_LO) & now & ~fresh).items():
            self.sync += lows[n].eq(lows[n] + event)

    def events(self, carry):
        """What a counter counts in this cycle, by counter; a register, as some of it comes a long way."""
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
