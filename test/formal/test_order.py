#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Order of completions and MSI after posted writes: gateware/phy/order.py."""

from unittest import mock

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.phy import order

from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

# Properties ---------------------------------------------------------------------------------------


class OrderHolds(Harness):
    """A packet passes after the posted requests before it are committed, whole, with one `last` for each `first`.

    For packets of any length and any back-pressure. The requests before a packet are those accepted until the cycle in
    which the packet is offered. Assumed: requests are committed in order, any number in a cycle, and fewer than 2**9
    wait; packets run from `first` to `last`, and a beat of a packet that waits does not change. A single beat may be
    taken back. A reset counts as the commitment of all requests until then, which are not committed a second time.
    """
    def __init__(self, packets, count_bits=order.COUNT_BITS):
        Harness.__init__(self)
        with mock.patch.object(order, "COUNT_BITS", count_bits):
            self.add(packets, count_bits)

    def add(self, packets, count_bits):
        self.dut = dut = order.PostedOrder()
        source   = stream.Endpoint([("dat", 4)])
        sink     = dut.after_posted(source, packets)
        self.free(sink, source.ready, dut.accepted, dut.reset, dut.committed)
        well_formed, entered = self.packets(sink)
        if packets:
            self.assume("packets", self.stable(sink) & well_formed)

        # Requests accepted before this cycle, and those of them that are committed in it.
        ahead = Signal(count_bits)
        step  = Signal(count_bits)
        self.comb += step.eq(dut.committed - self.previous(dut.committed))
        self.assume("commits", step <= ahead)
        self.assume("fewer_than_half", ahead < 2**(count_bits - 1) - 1)
        self.sync += If(dut.forget, ahead.eq(dut.accepted)).Else(ahead.eq(ahead - step + dut.accepted))

        # Requests that the packet on the sink still waits for.
        before = Signal(count_bits)
        still  = Signal(count_bits)
        inside = Signal()
        waits  = self.since(sink.valid & ~inside & ~(sink.ready & sink.valid), (sink.valid & sink.ready) | ~sink.valid)
        begins = source.valid & ~inside
        self.sync += If(sink.valid & sink.ready, inside.eq(~sink.last if packets else 0))
        self.comb += still.eq(Mux(before > step, before - step, 0))
        self.sync += If(dut.forget,
            before.eq(0),
        ).Elif(waits,
            before.eq(still),
        ).Else(
            before.eq(ahead - step + dut.accepted),
        )
        self.implies("after_posted", begins, waits & (still == 0))
        self.check("stable", ~self.previous(source.valid & ~source.ready) | (source.valid == sink.valid))
        self.check("no_beat_lost", (sink.valid & sink.ready) == (source.valid & source.ready))
        self.implies("same_beat", source.valid, Cat(sink.dat, sink.first, sink.last)
            == Cat(source.dat, source.first, source.last))
        # What waits for nothing passes.
        self.implies("goes_on", sink.valid & (inside | (waits & (still == 0))), source.valid)
        if packets:
            well_formed, opened = self.packets(source)
            self.check("packets", well_formed)
            self.helper("opened", (opened == inside) & (entered == inside) & ~(inside & waits))

        # For induction.
        (gate,) = [module for _, module in dut._submodules if isinstance(module, order._OrderGate)]
        mark, waiting = gate.mark, gate.waiting
        left = Signal(count_bits)
        self.comb += left.eq(mark - dut.committed)
        self.helper("waiting", waiting == waits)
        self.helper("mark", ~waits | (Mux(left[-1], 0, left) == still))
        self.helper("inside", gate.inside == inside)
        missing = Signal(count_bits)
        self.comb += missing.eq(dut.count - dut.committed)
        self.helper("count", missing == ahead - step)

PROOFS = [
    Proof("order, packets", OrderHolds, depth=6, induction=2, options=dict(packets=True)),
    Proof("order, single beats", OrderHolds, depth=6, induction=2, options=dict(packets=False)),
    # Counts that wrap after 16 requests, so that they do so soon after reset.
    Proof("order, short counts", OrderHolds, depth=20, options=dict(packets=True, count_bits=4)),
]

MUTANTS = [
    Mutant("mark_stays_behind", PROOFS[2], order, "Elif(reached,", "Elif(0,"),
    Mutant("passes_before_the_last_request", PROOFS[2], order, "reached.eq((left == 0)",
        "reached.eq((left == 1) | (left == 0)"),
    Mutant("counts_late", PROOFS[2], order, "mark.eq(order.count + order.accepted)", "mark.eq(order.count)"),
    Mutant("splits_packets", PROOFS[2], order, "passes.eq(inside | ", "passes.eq("),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
