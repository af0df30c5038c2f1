#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Credits that the link partner gives: gateware/phy/soft/credits.py."""

from migen import *

from litex.gen import *

from litepcie_soc.phy.soft import credits

from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

# Properties ---------------------------------------------------------------------------------------

BITS = 3   # Of the counters: at most 4 credits are outstanding.
WIDE = 6   # Of the counters here, which are compared without a modulus of 8.


class NeverBeyondCredits(Harness):
    """A TLP has enough credits if and only if the partner gave them, or gave infinitely many at the initialization.

    For counters of three bits, any limits that are at most half of the modulus ahead, and needs below half of it: the
    longest TLP needs 256 units of a modulus of 4096. Assumed: the need stays the same until the TLP is sent, and for
    four cycles at least.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = credits.CreditPool(BITS)
        half     = 2**(BITS - 1)
        self.free(dut.record, dut.update, dut.need, dut.consume, dut.forget)
        given, used = Signal(WIDE), Signal(WIDE)    # Since the initialization.
        more        = Signal(3)
        self.free(more)
        recorded    = Signal()
        infinite    = Signal()
        after       = Signal(WIDE)
        unused      = Signal((WIDE, True))
        waits       = Signal(3)     # Cycles with the same need.
        same        = Signal()
        self.comb  += [
            after.eq(given + more),
            dut.value.eq(after),
            same.eq(dut.need == self.previous(dut.need)),
            unused.eq(given - used),
        ]
        self.assume("first", dut.record == ~recorded)
        self.assume("then", ~dut.update | recorded)
        self.assume("most", (given + more - used) <= half)
        self.assume("need", dut.need < half)
        self.assume("same", same | (waits == 0))
        self.assume("settled", ~dut.consume | ((waits == 4) & dut.enough & recorded))
        self.sync += [
            recorded.eq(1),
            If(dut.record, infinite.eq(more == 0)),
            If((dut.record | dut.update) & ~infinite, given.eq(after)),
            If(dut.consume & ~infinite, used.eq(used + dut.need)),
            If(dut.consume, waits.eq(0)).Elif(waits != 4, waits.eq(waits + 1)),
        ]
        settled = Signal()
        self.comb += settled.eq((waits == 4) & recorded)
        self.implies("never_beyond", settled & dut.enough & ~infinite, unused >= dut.need)
        # Limits that came in the last three cycles may not count yet.
        known = self.previous(self.previous(self.previous(given)))
        least = Signal((WIDE + 1, True))
        self.comb += least.eq(known - used)
        old   = self.previous(self.previous(self.previous(recorded)))
        self.implies("at_once", settled & old & ((least >= dut.need) | infinite), dut.enough)
        self.check("counts", infinite | ((unused >= 0) & (unused <= half)))

# Proofs -------------------------------------------------------------------------------------------

PROOFS = [Proof("credits", NeverBeyondCredits, depth=18)]

MUTANTS = [
    Mutant("half_is_too_much", PROOFS[0], credits, "~(left[-1] & (left[:-1] != 0))", "~left[-1]"),
    Mutant("more_than_half", PROOFS[0], credits, "~(left[-1] & (left[:-1] != 0))", "~(left[-1] & left[0])"),
    Mutant("increments", PROOFS[0], credits, "limit.eq(self.value)", "limit.eq(limit + self.value)"),
    Mutant("infinite_by_update", PROOFS[0], credits, "If(self.record, infinite", "If(self.update, infinite"),
    Mutant("consumes_one", PROOFS[0], credits, "consumed.eq(required)", "consumed.eq(consumed + 1)"),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
