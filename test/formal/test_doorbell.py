#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Check of the doorbell: `add_doorbell` of gateware/dma/engine.py."""

from types import SimpleNamespace

from migen import *

from litex.gen import *

from litepcie_soc.dma import engine, fetch

from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

# Properties ---------------------------------------------------------------------------------------


class Doorbell(LiteXModule):
    """The part of an engine that checks the doorbell, alone."""
    def __init__(self):
        self.doorbell     = Signal(32)
        self.bad_doorbell = Signal()
        self.running      = Signal()
        self.clear        = Signal()
        self.work         = Signal()
        self.storage      = Signal(32)
        self.completed    = Signal(32)
        self.index_mask   = Signal(fetch.RING_LOG2_MAX)
        self.written      = Signal()
        self.direct_go    = Signal()
        self.registers    = SimpleNamespace(doorbell=SimpleNamespace(storage=self.storage, clear=Signal()),
            direct_doorbell=SimpleNamespace(written=self.written))
        self.progress     = SimpleNamespace(completed=self.completed)
        self.ring         = SimpleNamespace(index_mask=self.index_mask, direct_go=self.direct_go)
        engine.DMAEngine.add_doorbell(self)


class DoorbellForward(Harness):
    """The doorbell that the ring gets never moves backwards, and is at most a ring ahead of COMPLETED.

    For every value that the host writes in any cycle, from the reset of the engine on. Assumed: COMPLETED advances by
    at most one in a cycle and not past the doorbell, the size of the ring is constant, and the engine stops in the
    cycle after `bad_doorbell`.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = Doorbell()
        self.free(dut.storage, dut.completed, dut.running, dut.written)
        self.tied(dut.clear)
        self.constant(dut.index_mask)
        size  = Signal(fetch.COUNT_BITS)
        last  = self.previous(dut.completed)
        older = self.previous(last)
        self.comb += size.eq(dut.index_mask + 1)
        self.assume("size", (size & dut.index_mask) == 0)
        one = Signal(32)
        self.comb += one.eq(dut.completed - last)
        self.assume("completed", (one == 0) | ((one == 1) & (last != dut.doorbell)))
        self.assume("stops", ~self.since(dut.bad_doorbell) | ~dut.running)

        ahead, step, left = Signal(32), Signal(32), Signal(32)
        self.comb += [
            ahead.eq(dut.doorbell - dut.completed),
            step.eq(dut.doorbell - self.previous(dut.doorbell)),
            left.eq(dut.storage - dut.completed),
        ]
        self.check("forward", step <= size)
        self.check("at_most_a_ring", ahead <= size)
        # A legal doorbell reaches the ring.
        steady = self.previous(dut.storage) == dut.storage
        still  = Signal(2)
        self.sync += If(~dut.running | ~steady | (last != dut.completed),
            still.eq(0)
        ).Elif(still != 3,
            still.eq(still + 1)
        )
        self.implies("legal_is_accepted", (still == 3) & dut.running & ~dut.bad_doorbell,
            dut.doorbell == self.previous(dut.storage))

        # For induction.
        sampled, distance, candidate = dut.sampled, dut.distance, dut.candidate
        too_far, backwards = dut.too_far, dut.backwards
        early  = self.previous(self.first_cycle, reset=1) | self.first_cycle
        far    = Signal(32)
        lead   = Signal(32)
        back   = Signal(fetch.COUNT_BITS + 1)
        apart  = Signal(32)
        self.comb += [
            apart.eq(sampled - last - 1),
            far.eq(candidate - older),
            lead.eq(dut.doorbell - older),
            back.eq(candidate - dut.doorbell),
        ]
        self.helper("distance", self.first_cycle | (distance == apart))
        self.helper("too_far", early | (too_far == (far > size)))
        self.helper("backwards", early | (backwards == back[-1]))
        self.helper("lead", early | (lead <= size + 2))

# Proofs -------------------------------------------------------------------------------------------

PROOFS = [Proof("doorbell", DoorbellForward, depth=9, induction=5)]

MUTANTS = [
    Mutant("doorbell_backwards", PROOFS[0], engine, "self.running & ~too_far & ~backwards", "self.running & ~too_far"),
    Mutant("doorbell_too_far", PROOFS[0], engine, "self.running & ~too_far & ~backwards", "self.running & ~backwards"),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
