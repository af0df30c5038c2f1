# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""State, room and budget of the completions to come."""

from unittest import mock

from migen import *
from litex.gen import *

from litepcie_soc.common.pcie import LENGTH_BITS, RCB_BYTES
from litepcie_soc.tlp import budget, context
from litepcie_soc.tlp.check import entry_layout
from litepcie_soc.tlp.context import BLOCKS_BITS
from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

# State of the requests by tag, with an issue, an update and a lookup in each cycle: gateware/tlp/context.py

TAGS = 2


class LookupsSeeUpdates(Harness):
    """A lookup shows what the issue before its cycle, or the latest update up to its cycle, said about its tag.

    Assumed: a tag is issued again after an update ended its last request, with the other generation; an update is for
    the tag's latest request.
    """
    def __init__(self):
        Harness.__init__(self)
        with mock.patch.object(context, "BLOCK_RAM_DEPTH", TAGS):
            self.dut = dut = context.TagContexts(TAGS, 1, 8, per_cycle=True)
        issue, update = dut.issue, dut.update
        self.tied(issue, update, dut.finish, dut.retire_tag)
        self.free(issue.write, issue.tag, issue.length, issue.generation, update.write, update.tag, update.left,
            update.late, update.generation, dut.lookup_tag)
        self.comb += update.valid.eq(update.write)
        lefts, lates, generations = [Array([Signal.like(signal, name=f"{name}{tag}") for tag in range(TAGS)])
            for name, signal in (("left", update.left), ("late", update.late), ("generation", issue.generation))]
        self.assume("after_clearing", ~dut.clearing | ~(issue.write | update.write))
        self.assume("length", (issue.length != 0) == issue.write)
        self.assume("ended", ~issue.write | (lefts[issue.tag] == 0))
        self.assume("toggles", ~issue.write | (issue.generation != generations[issue.tag]))
        self.assume("latest", ~update.write | (update.generation == generations[update.tag]))
        self.assume("one", ~(issue.write & update.write) | (issue.tag != update.tag))
        self.sync += [
            If(issue.write,
                lefts[issue.tag].eq(issue.length),
                lates[issue.tag].eq(0),
                generations[issue.tag].eq(issue.generation)),
            If(update.write,
                lefts[update.tag].eq(update.left),
                lates[update.tag].eq(update.late))]
        # What the lookup should see, two cycles later.
        layout   = [("known", 1), ("left", len(update.left)), ("late", 1), ("generation", 1)]
        expected = [Record(layout) for _ in range(3)]
        updated  = Signal()
        self.comb += [updated.eq(update.write & (update.tag == dut.lookup_tag)), expected[0].known.eq(~dut.clearing),
            expected[0].left.eq(Mux(updated, update.left, lefts[dut.lookup_tag])),
            expected[0].late.eq(Mux(updated, update.late, lates[dut.lookup_tag])),
            expected[0].generation.eq(generations[dut.lookup_tag])]
        self.sync += [after.eq(before) for before, after in zip(expected, expected[1:])]
        seen = expected[-1]
        self.implies("left", seen.known, dut.progress.left == seen.left)
        self.implies("late", seen.known, dut.progress.late == seen.late)
        self.implies("generation", seen.known, dut.context.generation == seen.generation)

PROOFS = [Proof("contexts, each cycle", LookupsSeeUpdates, depth=14)]

MUTANTS = [
    Mutant("update_in_the_cycle_not_seen", PROOFS[0], context, "same.eq(update.write & ", "same.eq(0 & "),
    Mutant("previous_request_seen", PROOFS[0], context, "Elif(stored.generation != self.shown.generation", "Elif(0")]


MOST = 65   # Blocks of a request of 4096 bytes that is not aligned.


class BudgetKept(Harness):
    """Outstanding blocks never exceed the buffer, unless one request alone does, and all are free again at idle.

    For any sizes of requests, any order in which blocks are given back, and an RCB that changes at any time. Assumed,
    as `ReadIssue` does: a request takes its blocks only while they fit and, without `per_cycle`, at most every second
    cycle; no more is given back than was taken, and `settled` is deasserted from a request until two cycles after it
    took its blocks.
    """
    strict_blocks = None

    def __init__(self, completion_blocks, per_cycle=False, halves=False):
        Harness.__init__(self)
        self.dut = dut = budget.Budget(completion_blocks, self.strict_blocks, per_cycle=per_cycle, halves=halves)
        small, large   = completion_blocks
        self.free(dut.rcb_128, dut.settled, dut.blocks, dut.take, dut.give, dut.given)
        if halves:
            self.free(dut.half, dut.given_half)
            self.assume("half", (~dut.half | (dut.blocks == 1)) & (~dut.given_half | (dut.given == 1)))
        else:
            self.comb += [dut.half.eq(0), dut.given_half.eq(0)]
        unit = 2 if halves else 1       # Everything is counted in this part of a block.
        taken    = Signal(12)   # Blocks that are outstanding.
        alone    = Signal()     # The buffer was empty when the latest request took its blocks.
        given    = Signal(BLOCKS_BITS + 1)
        needed   = Signal(BLOCKS_BITS + 1)
        latest   = Signal(BLOCKS_BITS + 1)      # What the request took in the previous cycle.
        capacity = Signal(12)
        took     = self.previous(dut.take)
        self.comb += [If(dut.give, given.eq(unit*dut.given - dut.given_half)), needed.eq(unit*dut.blocks - dut.half),
            capacity.eq(unit*Mux(dut.large, large, small))]
        self.sync += [taken.eq(taken + Mux(dut.take, needed, 0) - given), latest.eq(Mux(dut.take, needed, 0)),
            If(dut.take, alone.eq(taken == 0))]
        self.assume("blocks", (dut.blocks != 0) & (dut.blocks <= MOST))
        self.assume("take", ~dut.take | (dut.fits & (1 if per_cycle else ~took)))
        self.assume("give", given <= taken)
        self.assume("settled", ~dut.settled | ~(dut.take | took | self.previous(took)))
        self.check("within_the_buffer", (taken <= capacity) | (alone & (taken <= unit*MOST)))
        self.implies("whole_at_idle", (taken == 0) & ~took, dut.free == capacity)
        self.implies("fits_at_idle", (taken == 0) & ~took, dut.fits)
        missing = Signal((13, True))
        self.comb += missing.eq(capacity - taken)
        self.helper("free", (dut.free - latest) == missing)
        self.helper("took", (dut.taken == 0) | took)
        half = (dut.taken_half & took) if halves else 0
        self.helper("latest", latest == (unit*dut.taken - half))
        if self.strict_blocks:
            self.add_strict(taken, alone, latest, took)


class BudgetKeptInOrder(BudgetKept):
    """While a request without Relaxed Ordering is outstanding, the blocks of all fit in the hard block's own buffer.

    For the sizes, order and changes of `BudgetKept`. So they do while the host does not enable Relaxed Ordering, and
    from a change of that or the loss of such a request until the buffer is empty. A request alone may have more.
    """
    strict_blocks = (9, 8)

    def add_strict(self, taken, alone, latest, took):
        dut = self.dut
        self.free(dut.relaxed, dut.ordered, dut.late)
        small, large = self.strict_blocks
        bound  = Signal()   # When the latest request took its blocks, one without the attribute was outstanding.
        empty  = Signal()
        mixed  = Signal(reset=1)
        capacity = Signal(12)
        self.comb += [empty.eq((taken == 0) & ~took), capacity.eq(Mux(dut.large, large, small))]
        self.sync += [If(~dut.relaxed | dut.late, mixed.eq(1)).Elif(empty, mixed.eq(0)),
            If(dut.take, bound.eq(mixed | dut.ordered))]
        self.implies("within_the_hard_block", bound & took, (taken <= capacity) | alone)
        missing = Signal((13, True))
        self.comb += missing.eq(capacity - taken)
        self.helper("strict", (dut.strict - latest) == missing)
        self.helper("mixed", mixed == ~dut.all_relaxed)


class BlocksAddUp(Harness):
    """The blocks that the completions of a request give back are those that the request took.

    For one split of any request at any byte, and both RCB; further splits follow from it. Combinatorial.
    """
    def __init__(self):
        Harness.__init__(self)
        address, length, part = Signal(64), Signal(LENGTH_BITS), Signal(LENGTH_BITS)
        large, following      = Signal(), Signal(64)
        whole, first, second  = Signal(12), Signal(12), Signal(12)
        self.free(address, length, part, large)
        self.assume("split", (length <= 4096) & (part != 0) & (part < length))
        self.comb += [following.eq(address + part), whole.eq(budget.blocks_of(address, length, 1, large)),
            first.eq(budget.blocks_of(address, part, 0, large)),
            second.eq(budget.blocks_of(following, (length - part)[:LENGTH_BITS], 1, large))]
        self.check("add_up", whole == first + second)
        size, reach = Signal(8), Signal(14)     # Bytes of a block; the request's end from the begin of its first block.
        self.comb += [size.eq(Mux(large, 2*RCB_BYTES, RCB_BYTES)), reach.eq((address[:7] & (size - 1)) + length)]
        self.check("blocks_touched", (whole*size >= reach) & ((whole - 1)*size < reach))
        self.check("at_most", (whole != 0) & (whole <= MOST))

NEW = [
    Proof("budget", BudgetKept, depth=8, induction=3, options=dict(completion_blocks=(100, 60))),
    Proof("budget, smaller than a request", BudgetKept, depth=8, induction=3, options=dict(completion_blocks=(20, 12))),
    Proof("budget, each cycle", BudgetKept, depth=8, induction=3, options=dict(completion_blocks=(20, 12),
        per_cycle=True)),
    Proof("budget, halves", BudgetKept, depth=8, induction=3, options=dict(completion_blocks=(20, 12), per_cycle=True,
        halves=True)),
    Proof("blocks of completions", BlocksAddUp, depth=1, induction=1),
    Proof("budget, in order", BudgetKeptInOrder, depth=8, induction=3, options=dict(completion_blocks=(20, 12),
        per_cycle=True))]
PROOFS  += NEW
MUTANTS += [
    Mutant("half_given_back_as_a_whole", NEW[3], budget, "self.given_half & self.give", "0"),
    Mutant("room_for_only_one_of_two", NEW[2], budget, "free >= 2*FEW*unit", "free >= FEW*unit"),
    Mutant("fits_if_any_is_free", NEW[0], budget, "self.fits.eq(fits | empty)", "self.fits.eq((free > 0) | empty)"),
    Mutant("last_block_not_counted", NEW[4], budget, "2*RCB_BYTES - 1, RCB_BYTES - 1)) != 0",
        "2*RCB_BYTES - 1, RCB_BYTES - 2)) != 0"),
    Mutant("all_outstanding_beside_one_in_order", NEW[5], budget, "relaxed & ~self.ordered", "relaxed")]

# Return of the room in the completion buffer: gateware/tlp/budget.py --------------------------------

LATENCY = 4     # Cycles from the first beat of a completion to its entry.
COUNT   = 4     # Bits of the counts of completions, which wrap.


class RoomComesBackOnce(Harness):
    """The blocks of a completion are given back once, after its last beat left the PHY, and before the next entry.

    For completions of any length with any pauses, and events between them. Assumed, as `CompletionCheck` does: the
    entry of a completion comes `LATENCY` cycles after its first beat, and an event begins between completions. With
    `every`, a completion or an event may begin in every cycle, else in every second one.
    """
    def __init__(self):
        Harness.__init__(self)
        entry = Record([("valid", 1)] + entry_layout(64, 1, 32))
        self.dut = dut = budget.BlockReturn(entry)
        first, last, event = Signal(), Signal(), Signal()
        inside = Signal()   # A completion has begun and not ended.
        beat   = Signal()
        self.free(beat, last, event, entry.live, entry.lower, dut.large)
        self.tied(entry)
        self.assume("between", ~event | ~(beat | inside))
        self.comb += [first.eq(beat & ~inside), dut.last.eq(beat & last)]
        self.sync += If(beat, inside.eq(~last))
        # The pipeline of the check: what is on its way.
        stages = [(first, event)]
        for n in range(LATENCY):
            again = Signal(name=f"completion{n}"), Signal(name=f"event{n}")
            self.sync += [after.eq(before) for after, before in zip(again, stages[-1])]
            stages.append(again)
        self.comb += [entry.valid.eq(stages[-1][0] | stages[-1][1]), entry.has_beats.eq(stages[-1][0]),
            entry.covered.eq(RCB_BYTES), entry.covers_end.eq(1)]
        # Completions that have ended, and the number of entries; the entry whose blocks are to be given back.
        ended, checked, number = Signal(COUNT), Signal(COUNT), Signal(COUNT)
        waits = Signal()
        self.sync += [ended.eq(ended + dut.last), checked.eq(checked + entry.has_beats), If(dut.give, waits.eq(0)),
            If(entry.valid & entry.live, waits.eq(1), number.eq(checked + entry.has_beats))]
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
        self.comb += [begun.eq(sum(stage[0] for stage in stages[1:])), unpaired.eq(ended - checked)]
        self.helper("held", dut.held == waits)
        self.helper("ahead", ahead == unpaired)
        self.helper("pipeline", ahead + inside == begun)
        self.helper("waits_for_the_newest", ~waits | (number == checked))

NEW = [Proof("room given back", RoomComesBackOnce, depth=14, induction=6)]
PROOFS  += NEW
MUTANTS += [
    Mutant("not_after_the_last_beat", NEW[0], budget, "self.give.eq(held & ~ahead[-1])", "self.give.eq(held)"),
    Mutant("counts_events", NEW[0], budget, "(entry.valid & entry.has_beats)", "entry.valid")]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
