# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Units that packets of the transaction layer pass: realigner, arbiter, entry FIFO."""

from migen import *
from litex.gen import *

from litepcie_soc.common import arbiter
from litepcie_soc.tlp import completion_writer, realign
from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases


BEATS     = 8   # Most beats of a packet.
BEAT_BITS = 3


class RealignerKeepsBytes(Harness):
    """Every lane of a packet leaves once, in its place, and the packet has no other lanes.

    An arbitrary lane of an arbitrary packet is followed, for packets of up to `BEATS` beats between other packets,
    every alignment and any back-pressure. All bits of a lane are equal, as the realigner moves whole lanes. Assumed, as
    the docstring of `Realigner` says: a packet begins in the lane `start - amount` and ends in the lane `end - amount`,
    without gaps, and its parameters do not change.
    """
    def __init__(self, data_width, lane_bits):
        Harness.__init__(self)
        self.dut = dut = realign.Realigner(data_width, lane_bits=lane_bits, param_layout=[("marked", 1)])
        sink, source   = dut.sink, dut.source
        lanes          = data_width//lane_bits
        self.bits = Signal(lanes)       # One bit for each lane: the others of a lane are equal to it.
        self.free(sink.valid, sink.first, sink.last, sink.param, source.ready, self.bits)
        self.comb += sink.dat.eq(Cat(*[Replicate(bit, lane_bits) for bit in self.bits]))
        # Packets in -------------------------------------------------------------------------------
        well_formed, inside = self.packets(sink)
        params = Cat(sink.amount, sink.start, sink.end, sink.marked)
        held   = Signal(len(params))
        begin  = Signal(max=lanes)      # Lanes of the packet in its first and last beat.
        end    = Signal(max=lanes)
        beat   = Signal(BEAT_BITS)
        taken  = Signal()
        marks  = Signal()               # A packet was marked.
        whole  = Signal()               # The marked packet is in.
        final  = Signal(BEAT_BITS)      # Number of its last beat.
        marked = Record([(name, len(getattr(sink, name))) for name in ("amount", "start", "end")])
        self.comb += [begin.eq(sink.start - sink.amount), end.eq(sink.end - sink.amount),
            taken.eq(sink.valid & sink.ready)]
        self.assume("packets", well_formed & self.stable(sink))
        self.assume("one_beat", ~(sink.first & sink.last) | (begin <= end))
        self.assume("same_parameters", ~inside | (params == held))
        self.assume("one_mark", ~(sink.valid & sink.first & sink.marked) | ~marks)
        self.assume("most", (beat != BEATS - 1) | sink.last)
        # The lane that is followed: lane `lane` of beat `number` of the marked packet.
        lane   = Signal(max=lanes)
        number = Signal(BEAT_BITS)
        kept   = Signal(lane_bits)
        seen   = Signal()
        self.constant(lane, number)
        self.sync += If(taken,
            held.eq(params),
            beat.eq(Mux(sink.last, 0, beat + 1)),
            If(sink.marked,
                marks.eq(1),
                *[getattr(marked, name).eq(getattr(sink, name)) for name, *_ in marked.layout],
                If(sink.last, whole.eq(1), final.eq(beat)),
                If((beat == number) & (~sink.first | (lane >= begin)) & (~sink.last | (lane <= end)),
                    seen.eq(1),
                    kept.eq(self.lane_of(sink, lane, lane_bits)))))
        # Packets out ------------------------------------------------------------------------------
        well_formed, _ = self.packets(source)
        place  = Signal(BEAT_BITS + 1)  # Beat of `source`; beat 1 if the first beat of the sink has no output.
        to     = Signal(max=2*lanes)    # Lane that the followed lane moves to, and whether it wraps.
        shown  = Signal()               # The followed lane left.
        gone   = Signal()               # The marked packet left.
        out    = Signal()               # A beat of the marked packet.
        here   = Signal()               # The beat and lane where the followed lane must be.
        self.comb += [out.eq(source.valid & source.marked), to.eq(Cat(lane, Constant(0, 1)) + marked.amount),
            here.eq(out & seen & (place == number + (to >= lanes)))]
        self.sync += If(source.valid & source.ready, place.eq(place + 1),
            If(source.last, If(source.marked, gone.eq(1))), If(here, shown.eq(1)))
        # The marked packet's beats count from 1 if its first beat makes no output.
        self.sync += If(~marks & taken & sink.first & sink.marked, place.eq(sink.start < sink.amount)).Elif(
            source.valid & source.ready & ~source.marked, place.eq(place))
        self.check("packets", well_formed)
        self.check("stable", self.stable(source))
        self.implies("mark_once", out, marks & ~gone)
        self.implies("same_lane", here, self.lane_of(source, to[:len(lane)], lane_bits) == kept)
        self.implies("lane_is_there", here, (source.be >> to[:len(lane)])[0])
        self.implies("every_lane_leaves", gone & seen, shown)
        self.implies("not_longer", out & source.last, whole & (place == final + (marked.end < marked.amount)))
        for n in range(lanes):
            within = (~source.first | (n >= marked.start)) & (~source.last | (n <= marked.end))
            self.implies(f"be_{n}", out, source.be[n] == within)
            self.implies(f"zero_{n}", source.valid & ~source.be[n], source.dat[n*lane_bits:(n + 1)*lane_bits] == 0)
        self.implies("busy", whole & ~gone, dut.busy)
        quiet = Signal(3)
        self.sync += If(source.valid | ~dut.busy | inside, quiet.eq(0)).Else(quiet.eq(quiet + 1))
        self.check("goes_on", quiet <= 2)

    @staticmethod
    def lane_of(endpoint, lane, lane_bits):
        return Array([endpoint.dat[n:n + lane_bits] for n in range(0, len(endpoint.dat), lane_bits)])[lane]

PROOFS = [
    Proof("realigner, 8 bytes", RealignerKeepsBytes, depth=12, variant=True,
        options=dict(data_width=64, lane_bits=8)),
    Proof("realigner, 4 dwords", RealignerKeepsBytes, depth=12, options=dict(data_width=128, lane_bits=32)),
    Proof("realigner, 16 bytes", RealignerKeepsBytes, depth=14, deep=True,
        options=dict(data_width=128, lane_bits=8))]

MUTANTS = [
    Mutant("no_flush", PROOFS[0], realign, "rot.flush.eq(sink.last & (sink.end < sink.amount))", "rot.flush.eq(0)"),
    Mutant("wrong_multiplexer", PROOFS[1], realign, "flush | (lane < rot.amount)", "flush | (lane <= rot.amount)")]


COUNT = 3


class ArbiterKeepsPackets(Harness):
    """Packets of the sinks pass whole and unmixed, no beat is lost or made up, and no sink waits for ever.

    For three sinks, packets of any length and any back-pressure. Assumed: each sink offers packets from `first` to
    `last`, and does not change a beat that waits. `soon` has any value.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = arbiter.PacketArbiter([("dat", 4)], COUNT)
        source   = dut.source
        self.free(*dut.sinks, dut.soon, source.ready)
        insides = []
        for n, sink in enumerate(dut.sinks):
            well_formed, inside = self.packets(sink)
            insides.append(inside)
            self.assume(f"packets_{n}", well_formed & self.stable(sink))
        well_formed, inside = self.packets(source)
        self.check("packets", well_formed)
        self.check("stable", self.stable(source))
        # The sinks that a beat leaves are one, and it is the beat on `source`.
        taken = Signal(COUNT)
        other = Signal(COUNT)  # Has a packet open while another sink sends.
        for n, sink in enumerate(dut.sinks):
            self.comb += taken[n].eq(sink.valid & sink.ready)
            self.implies(f"same_beat_{n}", taken[n], source.valid & source.ready & (source.dat == sink.dat)
                & (source.first == sink.first) & (source.last == sink.last))
            self.comb += other[n].eq(insides[n] & (dut.grant != n))
        self.check("one_sink", (taken & (taken - 1)) == 0)
        self.check("no_beat_made_up", ~(source.valid & source.ready) | (taken != 0))
        self.check("unmixed", other == 0)
        # A sink that waits is passed over by at most one packet of each other sink.
        for n, sink in enumerate(dut.sinks):
            passed = Signal(4)
            self.sync += If(~sink.valid | taken[n], passed.eq(0)).Elif(
                source.valid & source.ready & source.first, passed.eq(passed + 1))
            self.check(f"served_{n}", passed <= COUNT)
            # Each packet brings the grant nearer to the sink.
            bound = Array([COUNT - (n - grant) % COUNT for grant in range(COUNT)])[dut.grant]
            self.helper(f"nearer_{n}", ~sink.valid | (passed <= bound + inside))
        # A sink that has a packet waits for no sink that has none, but for one cycle.
        waits = Reduce("OR", [sink.valid for sink in dut.sinks])
        self.check("no_second_idle_cycle", ~self.previous(waits & ~source.valid & ~inside) | source.valid)
        # For induction.
        self.helper("inside", inside == dut.inside)
        self.helper("inside_of_grant", inside == Array(insides)[dut.grant])
        self.helper("grant", dut.grant < COUNT)

NEW = [Proof("arbiter", ArbiterKeepsPackets, depth=12, induction=2)]
PROOFS  += NEW
MUTANTS += [
    Mutant("grant_changes_in_a_packet", NEW[0], arbiter, "source.ready & source.last, ~inside",
        "source.ready, ~inside"),
    Mutant("always_the_first_sink", NEW[0], arbiter, "range(1, count + 1)", "range(count, count + 1)")]


DEPTH = 4


class EntriesInOrder(Harness):
    """Entries leave in order and none is lost; alone, an entry is valid one cycle after it came.

    Assumed: no entry comes while DEPTH are inside. Entry n holds n.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = completion_writer.EntryFIFO([("number", 4)], DEPTH)
        sink, source   = dut.sink, dut.source
        came = Signal(4)
        left = Signal(4)
        self.free(sink.valid, source.ready)
        self.tied("*")
        self.assume("room", ~sink.valid | (dut.level < DEPTH))
        self.comb += sink.number.eq(came)
        self.sync += [came.eq(came + sink.valid), left.eq(left + (source.valid & source.ready))]
        inside = Signal(4)
        self.comb += inside.eq(came - left)
        self.implies("has_room", sink.valid, sink.ready)
        self.implies("in_order", source.valid, source.number == left)
        self.check("level", dut.level == inside)
        self.check("at_once", source.valid == (inside != 0))

NEW = [Proof("entry FIFO", EntriesInOrder, depth=12)]
PROOFS  += NEW
MUTANTS += [Mutant("overtakes", NEW[0], completion_writer, "sink.valid & (waits | ~take)", "sink.valid & ~take")]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
