#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Budget of the completion buffer: gateware/tlp/budget.py."""

from migen import *

from litex.gen import *

from litepcie_soc.common.pcie import LENGTH_BITS, RCB_BYTES
from litepcie_soc.tlp import budget
from litepcie_soc.tlp.context import BLOCKS_BITS

from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

MOST = 65   # Blocks of a request of 4096 bytes that is not aligned.

# Properties ---------------------------------------------------------------------------------------


class BudgetKept(Harness):
    """Outstanding blocks never exceed the buffer, unless one request alone does, and all are free again at idle.

    For any sizes of requests, any order in which blocks are given back, and an RCB that changes at any time. Assumed,
    as `ReadIssue` does: a request takes its blocks only while they fit and, without `per_cycle`, at most every second
    cycle; no more is given back than was taken, and `settled` is deasserted from a request until two cycles after it
    took its blocks.
    """
    def __init__(self, completion_blocks, per_cycle=False, halves=False):
        Harness.__init__(self)
        self.dut = dut = budget.Budget(completion_blocks, per_cycle=per_cycle, halves=halves)
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
        self.comb += [
            If(dut.give, given.eq(unit*dut.given - dut.given_half)),
            needed.eq(unit*dut.blocks - dut.half),
            capacity.eq(unit*Mux(dut.large, large, small)),
        ]
        self.sync += [
            taken.eq(taken + Mux(dut.take, needed, 0) - given),
            latest.eq(Mux(dut.take, needed, 0)),
            If(dut.take, alone.eq(taken == 0)),
        ]
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
        self.comb += [
            following.eq(address + part),
            whole.eq(budget.blocks_of(address, length, 1, large)),
            first.eq(budget.blocks_of(address, part, 0, large)),
            second.eq(budget.blocks_of(following, (length - part)[:LENGTH_BITS], 1, large)),
        ]
        self.check("add_up", whole == first + second)
        size, reach = Signal(8), Signal(14)     # Bytes of a block; the request's end from the begin of its first block.
        self.comb += [
            size.eq(Mux(large, 2*RCB_BYTES, RCB_BYTES)),
            reach.eq((address[:7] & (size - 1)) + length),
        ]
        self.check("blocks_touched", (whole*size >= reach) & ((whole - 1)*size < reach))
        self.check("at_most", (whole != 0) & (whole <= MOST))

# Proofs -------------------------------------------------------------------------------------------

PROOFS = [
    Proof("budget", BudgetKept, depth=8, induction=3, options=dict(completion_blocks=(100, 60))),
    Proof("budget, smaller than a request", BudgetKept, depth=8, induction=3, options=dict(completion_blocks=(20, 12))),
    Proof("budget, each cycle", BudgetKept, depth=8, induction=3, options=dict(completion_blocks=(20, 12),
        per_cycle=True)),
    Proof("budget, halves", BudgetKept, depth=8, induction=3, options=dict(completion_blocks=(20, 12), per_cycle=True,
        halves=True)),
    Proof("blocks of completions", BlocksAddUp, depth=1, induction=1),
]

MUTANTS = [
    Mutant("half_given_back_as_a_whole", PROOFS[3], budget, "self.given_half & self.give", "0"),
    Mutant("long_request_right_after_another", PROOFS[2], budget, "self.is_few(self.blocks) & ", ""),
    Mutant("forgets_the_request_before", PROOFS[2], budget, "If(taken != 0, self.fits", "If(0, self.fits"),
    Mutant("room_for_only_one_of_two", PROOFS[2], budget, "free >= 2*FEW*unit", "free >= FEW*unit"),
    Mutant("not_given_back", PROOFS[0], budget, "units(given, self.given_half & self.give) - ", "0 - "),
    Mutant("fits_if_any_is_free", PROOFS[0], budget, "self.fits.eq(fits | empty)", "self.fits.eq((free > 0) | empty)"),
    Mutant("rcb_changes_while_outstanding", PROOFS[0], budget,
        "If(differ & self.settled & empty,\n                self.large", "If(differ,\n                self.large"),
    Mutant("last_block_not_counted", PROOFS[4], budget, "2*RCB_BYTES - 1, RCB_BYTES - 1)) != 0",
        "2*RCB_BYTES - 1, RCB_BYTES - 2)) != 0"),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
