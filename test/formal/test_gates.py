# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""What TLPs pass on their way to the PHY: the link gate, the order of completions, store and forward."""

from unittest import mock

from migen import *
from litex.gen import *
from litex.soc.interconnect import stream

from litepcie_soc.phy import framing, gate, order
from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases


class GateEnds(Harness):
    """Each `first` of the gate is followed by one `last`; a link that goes down ends an open packet.

    For the gate with `ends`, any packets, any back-pressure and a link that goes down and up at any time.
    Assumed: the sink offers packets from `first` to `last`.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = gate.LinkGate(64, ends=True)
        sink, source   = dut.sink, dut.source
        self.free(sink, source.ready, dut.link_up)
        well_formed, inside = self.packets(sink)
        self.assume("packets", well_formed)
        opened = Signal()  # A packet began on `source` and did not end.
        self.sync += If(source.valid & source.ready, opened.eq(~source.last))
        self.implies("first_only_outside", source.valid & source.first, ~opened)
        self.implies("only_first_outside", source.valid & ~opened, source.first)
        self.implies("link_down_ends", opened & ~dut.link_up, source.valid & source.last)
        self.implies("cut_is_an_end", dut.cut, opened & source.valid & source.last)
        # The end that was added stays until it is accepted, also when the link is up again.
        self.check("cut_stays", ~self.previous(dut.cut & ~source.ready) | dut.cut)
        self.implies("down_drops", ~dut.link_up & ~dut.cut, ~source.valid)
        self.helper("inside", opened == dut.inside)
        self.helper("owed", ~dut.owed | opened)
        self.helper("sink_inside", ~opened | dut.owed | inside)


class GatePasses(Harness):
    """While the link is up, whole packets pass the gate unchanged; the gate never holds back a beat while it is down.

    For both kinds of gate. Assumed: the sink offers packets from `first` to `last`.
    """
    def __init__(self, ends):
        Harness.__init__(self)
        self.dut = dut = gate.LinkGate(64, ends=ends)
        sink, source   = dut.sink, dut.source
        self.free(sink, source.ready, dut.link_up)
        if not ends:
            self.tied(dut.cut, dut.owed)
        well_formed, inside = self.packets(sink)
        self.assume("packets", well_formed)
        # The packet on the sink began while the link was up and no end was owed, and the link did not go down since.
        whole  = Signal()
        begins = Signal()
        was    = Signal()
        self.comb += [begins.eq(sink.first & ~self.previous(dut.cut & ~source.ready)),
            whole.eq(dut.link_up & Mux(inside, was, begins))]
        self.sync += If(sink.valid & sink.ready, was.eq(whole)).Elif(~dut.link_up, was.eq(0))
        same = Cat(sink.dat, sink.be, sink.first, sink.last) == Cat(source.dat, source.be, source.first, source.last)
        self.implies("passes", whole & sink.valid, source.valid & same & (sink.ready == source.ready))
        self.implies("drops_the_rest", inside & ~whole & ~dut.cut, ~source.valid)
        self.implies("never_waits_for_a_lost_link", ~dut.link_up & ~dut.cut, sink.ready)
        self.helper("inside", (inside & was & dut.link_up) == (dut.inside & dut.link_up
            & ~self.previous(dut.cut & ~source.ready)))

PROOFS = [
    Proof("gate, with ends", GateEnds, depth=12, induction=2),
    Proof("gate, with ends", GatePasses, depth=12, induction=2, options=dict(ends=True)),
    Proof("gate, without", GatePasses, depth=12, induction=2, options=dict(ends=False))]

MUTANTS = [
    Mutant("loses_last", PROOFS[0], gate, "self.cut.eq(owed | (inside & ~self.link_up))", "self.cut.eq(owed)"),
    Mutant("stops_without_link", PROOFS[2], gate, "Mux(passes, source.ready, ~owed)", "source.ready & passes")]

# Order of completions and MSI after posted writes: gateware/phy/order.py --------------------------

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
            before.eq(ahead - step + dut.accepted))
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

NEW = [
    Proof("order, packets", OrderHolds, depth=6, induction=2, options=dict(packets=True)),
    Proof("order, single beats", OrderHolds, depth=6, induction=2, options=dict(packets=False)),
    # Counts that wrap after 16 requests, so that they do so soon after reset.
    Proof("order, short counts", OrderHolds, depth=20, options=dict(packets=True, count_bits=4))]
PROOFS  += NEW
MUTANTS += [
    Mutant("counts_late", NEW[2], order, "mark.eq(order.count + order.accepted)", "mark.eq(order.count)"),
    Mutant("splits_packets", NEW[2], order, "passes.eq(inside | ", "passes.eq(")]

# Order of data that the card has read after the host's posted requests: gateware/phy/order.py ------

class RequestsExecuted(Harness):
    """A mark is reached when the requests that were handed over before it are executed, and no later.

    For a mark that is taken in any cycle, any number of requests in a cycle, and a loss of the link at any time.
    Assumed: fewer than half of a count wait, and no request is executed that was not handed over or was lost. While the
    link is down none is handed over or executed. The mark is used before half of a count has passed.
    """
    def __init__(self, count_bits=order.COUNT_BITS):
        Harness.__init__(self)
        with mock.patch.object(order, "COUNT_BITS", count_bits):
            self.add()

    def add(self):
        self.dut = dut = order.RequestOrder()
        half     = 2**(order.COUNT_BITS - 1)
        keep     = Signal()
        self.free(dut.accepted, dut.executed, dut.reset, keep)
        ahead    = Signal(order.COUNT_BITS)                 # Requests handed over and not executed.
        left     = Signal((order.COUNT_BITS + 1, True))     # Of those, the ones before the mark; negative: after it.
        room     = Signal((order.COUNT_BITS + 2, True))
        total    = Signal(order.COUNT_BITS + order.HANDED_BITS)
        mark     = Signal.like(dut.mark)
        reached  = Signal()
        self.assume("executed", ~dut.executed | (ahead != 0))
        self.comb += total.eq(ahead + dut.accepted)
        self.assume("fewer_than_half", total < half)
        self.assume("down", ~dut.reset | ((dut.accepted == 0) & ~dut.executed))
        self.comb += room.eq(left + half - 2)
        self.assume("used_soon", ~room[-1])
        self.sync += [ahead.eq(Mux(dut.reset, 0, ahead - dut.executed + dut.accepted)), left.eq(left - dut.executed),
            If(keep, mark.eq(dut.mark), left.eq(ahead - dut.executed))]
        lost = self.since(dut.reset, keep & ~dut.reset)     # The mark is of before a loss of the link.
        self.comb += reached.eq(dut.reached(mark))
        self.implies("not_before", reached & ~lost, left[-1] | (left == 0))
        self.implies("then", (left[-1] | (left == 0)) & ~lost, reached)
        self.implies("without_requests", ahead == 0, reached)
        self.check("settled", dut.settled == (ahead == 0))
        # For induction.
        missing, behind = Signal(order.COUNT_BITS), Signal(order.COUNT_BITS)
        self.comb += [missing.eq(dut.count - dut.committed), behind.eq(mark - dut.committed)]
        self.helper("count", missing == ahead)
        self.helper("few", ahead < half)
        self.helper("mark", lost | (behind == left[:order.COUNT_BITS]))
        self.helper("at_most", lost | left[-1] | (left[:order.COUNT_BITS] <= ahead))

NEW = [
    Proof("order, requests of the host", RequestsExecuted, depth=4, induction=2),
    # Counts that wrap after 8 requests.
    Proof("order, requests of the host, short counts", RequestsExecuted, depth=12, options=dict(count_bits=3))]
PROOFS  += NEW
MUTANTS += [
    Mutant("lost_requests_count", NEW[1], order, "forget.eq(self.reset | ahead[-1])", "forget.eq(ahead[-1])"),
    Mutant("mark_of_before_a_loss", NEW[1], order, "[COUNT_BITS - 1] | self.settled", "[COUNT_BITS - 1]")]


class StoresWhole(Harness):
    """A TLP leaves without a gap, with one `last` for its `first`, in order; a truncated one does not leave.

    For a buffer of eight beats, any back-pressure, and TLPs of up to half of it. Assumed: the sink offers packets from
    `first` to `last`, and only a last beat is marked as the end of a truncated TLP.
    """
    def __init__(self):
        Harness.__init__(self)
        with mock.patch.object(framing, "MAX_PAYLOAD", 16):
            self.dut = dut = framing.StoreAndForward(64)
        sink, source = dut.sink, dut.source
        self.free(sink, source.ready, dut.cut)
        self.tied("replace", "sink_first", "sink_last")
        well_formed, _ = self.packets(sink)
        self.assume("packets", well_formed)
        length = Signal(3)
        self.sync += If(sink.valid & sink.ready, If(sink.last, length.eq(0)).Else(length.eq(length + 1)))
        self.assume("fits", (length < 3) | sink.last)
        self.assume("cut_only_at_the_end", ~dut.cut | sink.last)
        well_formed, opened = self.packets(source)
        self.check("packets", well_formed)
        self.implies("no_gap", opened, source.valid)
        self.check("stable", self.stable(source))
        # Whole TLPs in and out; an arbitrary one is followed.
        chosen = Signal(3)
        beat   = Signal(2)
        self.constant(chosen, beat)
        kept   = Signal(sink.dat.nbits)
        seen   = Signal()
        taken  = Signal()
        sent   = Signal(4)
        stored = Signal(4)
        place  = Signal(3)
        self.comb += taken.eq(sink.valid & sink.ready)
        self.sync += [
            If(taken & (stored == chosen) & (length == beat), kept.eq(sink.dat), seen.eq(1)),
            If(taken & sink.last,
                If(dut.cut, If(stored == chosen, seen.eq(0))).Else(stored.eq(stored + 1))),
            If(source.valid & source.ready,
                place.eq(place + 1),
                If(source.last, sent.eq(sent + 1), place.eq(0)))]
        self.assume("few", stored < 8)
        self.implies("only_whole", source.valid, sent != stored)
        self.implies("same_beat", source.valid & (sent == chosen) & (place == beat), seen & (source.dat == kept))
        quiet = Signal(4)
        self.sync += If(source.valid | (sent == stored), quiet.eq(0)).Else(quiet.eq(quiet + 1))
        self.check("goes_on", quiet <= 7)

NEW = [Proof("store and forward", StoresWhole, depth=10)]
PROOFS  += NEW
MUTANTS += [Mutant("forwards_truncated", NEW[0], framing, "If(~tlp.valid | tlp.cut,", "If(~tlp.valid,")]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
