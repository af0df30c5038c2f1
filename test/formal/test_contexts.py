#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""State of the requests by tag, with an issue, an update and a lookup in each cycle: gateware/tlp/context.py."""

from unittest import mock

from migen import *

from litex.gen import *

from litepcie_soc.tlp import context

from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

TAGS = 2

# Properties ---------------------------------------------------------------------------------------


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
                generations[issue.tag].eq(issue.generation),
            ),
            If(update.write,
                lefts[update.tag].eq(update.left),
                lates[update.tag].eq(update.late),
            ),
        ]
        # What the lookup should see, two cycles later.
        layout   = [("known", 1), ("left", len(update.left)), ("late", 1), ("generation", 1)]
        expected = [Record(layout) for _ in range(3)]
        updated  = Signal()
        self.comb += [
            updated.eq(update.write & (update.tag == dut.lookup_tag)),
            expected[0].known.eq(~dut.clearing),
            expected[0].left.eq(Mux(updated, update.left, lefts[dut.lookup_tag])),
            expected[0].late.eq(Mux(updated, update.late, lates[dut.lookup_tag])),
            expected[0].generation.eq(generations[dut.lookup_tag]),
        ]
        self.sync += [after.eq(before) for before, after in zip(expected, expected[1:])]
        seen = expected[-1]
        self.implies("left", seen.known, dut.progress.left == seen.left)
        self.implies("late", seen.known, dut.progress.late == seen.late)
        self.implies("generation", seen.known, dut.context.generation == seen.generation)

# Proofs -------------------------------------------------------------------------------------------

PROOFS = [Proof("contexts, each cycle", LookupsSeeUpdates, depth=14)]

MUTANTS = [
    Mutant("update_in_the_cycle_not_seen", PROOFS[0], context, "same.eq(update.write & ", "same.eq(0 & "),
    Mutant("previous_request_seen", PROOFS[0], context, "Elif(stored.generation != self.shown.generation", "Elif(0"),
    Mutant("update_for_another_tag_seen", PROOFS[0], context,
        "same.eq(update.write & (update.tag == self.lookup_tag))", "same.eq(update.write)"),
    Mutant("generation_not_stored", PROOFS[0], context, "packed(after, layout)", "packed(after, PROGRESS)"),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
