#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Copies counters, state and log of the lane into one memory, which nothing changes afterwards."""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litepcie_soc.phy.soft.lane_counters import SharedCounters
from litepcie_soc.phy.soft.lane_layout import COUNTERS, LOG_AT, STATE, STATE_AT, WORDS
from litepcie_soc.phy.soft.lane_log import TransitionLog

# Sampler ------------------------------------------------------------------------------------------


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
