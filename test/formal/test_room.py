#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Return of the room in the completion buffer: gateware/tlp/room.py."""

from migen import *

from litex.gen import *

from litepcie_soc.common.pcie import RCB_BYTES
from litepcie_soc.tlp import room
from litepcie_soc.tlp.check_layouts import entry_layout

from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

LATENCY = 4     # Cycles from the first beat of a completion to its entry.
COUNT   = 4     # Bits of the counts of completions, which wrap.

# Properties ---------------------------------------------------------------------------------------


class RoomComesBackOnce(Harness):
    """The blocks of a completion are given back once, after its last beat left the PHY, and before the next entry.

    For completions of any length with any pauses, and events between them. Assumed, as `CompletionCheck` does: the
    entry of a completion comes `LATENCY` cycles after its first beat, and an event begins between completions. With
    `every`, a completion or an event may begin in every cycle, else in every second one.
    """
    def __init__(self):
        Harness.__init__(self)
        entry = Record([("valid", 1)] + entry_layout(64, 1, 32))
        self.dut = dut = room.BlockReturn(entry)
        first, last, event = Signal(), Signal(), Signal()
        inside = Signal()   # A completion has begun and not ended.
        beat   = Signal()
        self.free(beat, last, event, entry.live, entry.lower, dut.large)
        self.tied(entry)
        self.assume("between", ~event | ~(beat | inside))
        self.comb += [
            first.eq(beat & ~inside),
            dut.last.eq(beat & last),
        ]
        self.sync += If(beat, inside.eq(~last))

        # The pipeline of the check: what is on its way.
        stages = [(first, event)]
        for n in range(LATENCY):
            again = Signal(name=f"completion{n}"), Signal(name=f"event{n}")
            self.sync += [after.eq(before) for after, before in zip(again, stages[-1])]
            stages.append(again)
        self.comb += [
            entry.valid.eq(stages[-1][0] | stages[-1][1]),
            entry.has_beats.eq(stages[-1][0]),
            entry.covered.eq(RCB_BYTES),
            entry.covers_end.eq(1),
        ]

        # Completions that have ended, and the number of entries; the entry whose blocks are to be given back.
        ended, checked, number = Signal(COUNT), Signal(COUNT), Signal(COUNT)
        waits = Signal()
        self.sync += [
            ended.eq(ended + dut.last),
            checked.eq(checked + entry.has_beats),
            If(dut.give, waits.eq(0)),
            If(entry.valid & entry.live, waits.eq(1), number.eq(checked + entry.has_beats)),
        ]
        over = Signal((COUNT, True))    # Completions that ended after the one whose entry waits, or with it.
        self.comb += over.eq(ended - number)
        self.implies("not_before_the_end", dut.give, ~over[-1])
        self.check("once", ~dut.give | waits)
        self.implies("at_once", waits & ~over[-1], dut.give)
        self.implies("not_lost", entry.valid & entry.live & waits, dut.give)

        # For the induction: what the counts say about the pipeline.
        begun = Signal(3)
        unpaired = Signal((COUNT, True))
        ahead = dut.ahead
        self.comb += [
            begun.eq(sum(stage[0] for stage in stages[1:])),
            unpaired.eq(ended - checked),
        ]
        self.helper("held", dut.held == waits)
        self.helper("ahead", ahead == unpaired)
        self.helper("pipeline", ahead + inside == begun)
        self.helper("waits_for_the_newest", ~waits | (number == checked))

# Proofs -------------------------------------------------------------------------------------------

PROOFS = [Proof("room given back", RoomComesBackOnce, depth=14, induction=6)]

MUTANTS = [
    Mutant("not_after_the_last_beat", PROOFS[0], room, "self.give.eq(held & ~ahead[-1])", "self.give.eq(held)"),
    Mutant("counts_events", PROOFS[0], room, "(entry.valid & entry.has_beats)", "entry.valid"),
    Mutant("given_twice", PROOFS[0], room, "If(self.give, held.eq(0)),", "If(self.give & entry.valid, held.eq(0)),"),
    Mutant("narrow_count", PROOFS[0], room, "AHEAD_BITS = 4", "AHEAD_BITS = 2"),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
