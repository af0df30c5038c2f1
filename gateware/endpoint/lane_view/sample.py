#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Samples the lane: counters of events, the log of the LTSSM, and a copy of all in one memory."""

from operator import add, or_

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litepcie_soc.endpoint.lane_view.layout import CAUSES, COUNTERS, ENTRY, LOG_AT, LOG_ENTRIES, STATE, STATE_AT, WORDS
from litepcie_soc.endpoint.physical.states import STATE_BITS, State

# Counters -----------------------------------------------------------------------------------------
# Counters of events, which share one adder.


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

# Log ----------------------------------------------------------------------------------------------
# The last transitions of the LTSSM, with their times.

TIME_BITS = 48  # Of 8 ns: 26 days.


class TransitionLog(LiteXModule):
    """Records each change of the LTSSM's state. It is kept in a reset of ``sys``, the clock domain of all signals.

    Attributes
    ----------
    state   : STATE_BITS, **in**; of the LTSSM.
    causes  : {name: 1}, **in**; for each of CAUSES, what is so now.
    time    : 48, **out**; cycles since power-up.
    count   : 32, **out**; transitions that were recorded.
    address : 7, **in**; word of the log: two words for each entry, see ENTRY.
    data    : 32, **out**; the word at the address of the cycle before.
    """
    def __init__(self):
        self.state   = Signal(STATE_BITS)
        self.causes  = {name: Signal(name=f"cause_{name}") for name in CAUSES}
        self.time    = Signal(TIME_BITS, reset_less=True)
        self.count   = Signal(32, reset_less=True)
        self.address = Signal(max=2*LOG_ENTRIES)
        self.data    = Signal(32)

        # # #

        # Not attributes: LiteX would put a memory that it finds in a module onto the bus of the registers.
        memories = [Memory(32, LOG_ENTRIES) for _ in range(2)]
        writes   = [memory.get_port(write_capable=True) for memory in memories]
        reads    = [memory.get_port() for memory in memories]
        self.specials += memories, writes, reads
        last     = Signal(STATE_BITS, reset=State.DETECT_QUIET, reset_less=True)
        reasons  = Signal(len(CAUSES), reset_less=True)
        causes   = Signal(len(CAUSES), reset_less=True)
        second   = Signal(reset_less=True)
        fields   = {"state": self.state, "cause": causes, "time_hi": self.time[32:]}
        self.comb += [
            [writes[0].dat_w[low:low + bits].eq(fields[name]) for name, low, bits, _ in ENTRY],
            writes[1].dat_w.eq(self.time[:32]),
            [write.adr.eq(self.count) for write in writes],
            [write.we.eq(self.state != last) for write in writes],
            [read.adr.eq(self.address[1:]) for read in reads],
            self.data.eq(Mux(second, reads[1].dat_r, reads[0].dat_r)),
        ]
        self.sync += [
            self.time.eq(self.time + 1),
            last.eq(self.state),
            # The state changes two cycles after its reason.
            reasons.eq(Cat(*self.causes.values())),
            causes.eq(reasons),
            second.eq(self.address[0]),
            If(self.state != last, self.count.eq(self.count + 1)),
        ]

# Sampler ------------------------------------------------------------------------------------------
# Copies counters, state and log of the lane into one memory, which nothing changes afterwards.


class LaneSampler(LiteXModule):
    """Counts, records, and copies all of it on request: a word in every second cycle, 4 us in all.

    All signals are in ``sys``, the clock domain of the endpoint (``pcie``), but ``sample`` and ``clear``, which change
    at any time. A request waits while the clock stands still, and is kept in a reset.

    Attributes
    ----------
    events  : {name: n bits}, **in**; for each of COUNTERS, events of this cycle.
    state   : [32], **in**; words of STATE.
    log     : `TransitionLog`.
    sample  : 1, **in**; a change asks for a copy. To be kept until
    sampled : 1, **out**; has the same value: the copy is complete.
    clear   : 1, **in**; a change sets all counters to 0. To be kept until
    cleared : 1, **out**; has the same value.
    forget  : 1, **out**; the counters are being cleared.
    address, data, write : 8, 32, 1, **out**; a word for the memory.
    """
    def __init__(self):
        self.counters = counters = SharedCounters([most for most, _ in COUNTERS.values()])
        self.log      = TransitionLog()
        self.events   = dict(zip(COUNTERS, counters.events))
        self.state    = [Signal(32, name=f"state_{name}") for name in STATE]
        self.sample   = Signal()
        self.sampled  = Signal(reset_less=True)
        self.clear    = Signal()
        self.cleared  = Signal(reset_less=True)
        self.forget   = Signal(reset_less=True)
        self.address  = Signal(max=WORDS, reset_less=True)
        self.data     = Signal(32, reset_less=True)
        self.write    = Signal(reset_less=True)

        # # #

        sample, clear = Signal(), Signal()
        self.specials += MultiReg(self.sample, sample), MultiReg(self.clear, clear)
        self.add_copy(sample)
        left = Signal(max=counters.round, reset_less=True)
        self.comb += counters.clear.eq(self.forget)
        self.sync += [
            left.eq(left - 1),
            If(~self.forget,
                left.eq(counters.round - 1),
                self.forget.eq(clear != self.cleared),
            ).Elif(left == 0,
                self.forget.eq(0),
                self.cleared.eq(clear),
            ),
        ]

    def add_copy(self, sample):
        """Reads a word, and writes it two cycles later, from a register: a block RAM is slow."""
        counters, log = self.counters, self.log
        place, before = Signal(max=WORDS, reset_less=True), Signal(max=WORDS, reset_less=True)
        running, read = Signal(reset_less=True), Signal(reset_less=True)
        state         = Signal(32, reset_less=True)
        self.comb += [
            counters.address.eq(place),
            log.address.eq(place),
        ]
        self.sync += [
            read.eq(0),
            self.write.eq(read),
            self.address.eq(before),
            Case(before[5:], {
                0:             self.data.eq(counters.data),
                STATE_AT >> 5: self.data.eq(state),
                "default":     self.data.eq(log.data),
            }),
            Case(place[:5], {n: state.eq(word) for n, word in enumerate(self.state)} | {"default": state.eq(0)}),
            If(~running,
                place.eq(0),
                running.eq((sample != self.sampled) & ~read),
            ).Elif(counters.free,
                read.eq(1),
                before.eq(place),
                place.eq(place + 1),
                If(place == WORDS - 1,
                    running.eq(0),
                    self.sampled.eq(sample),
                ),
            ),
        ]
        assert LOG_AT >= STATE_AT + 32
