# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""What the endpoint in gateware sends: packets between ordered sets, and DLLPs between TLPs."""

from types import SimpleNamespace

from migen import *
from litex.gen import *
from litex.soc.interconnect import stream

from litepcie_soc.endpoint.data_link import dllp, layer, receiver
from litepcie_soc.endpoint.data_link.dllp import FOR_ACK, FOR_INIT, FOR_NAK, FOR_UPDATE, DLLPTransmitter
from litepcie_soc.endpoint.data_link.layer import TX_FRAME
from litepcie_soc.endpoint.physical import framing, ordered_sets
from litepcie_soc.endpoint.physical.ordered_sets import SEND_DATA
from litepcie_soc.endpoint.serdes.interface import COM, EDB, END, PAD, SDP, SKP, STP
from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases


# Rules: 4.2.7, transmitter
class NoSetInsidePackets(Harness):
    """While the link is in L0, a packet has nothing but its words between begin and end, and a SKP set is whole.

    Assumed, as of the data link layer: a packet has a word in every cycle. A packet is cut if the link leaves L0.
    """
    def __init__(self):
        Harness.__init__(self)
        self.frames = frames = framing.FrameTransmitter()
        self.sets   = sets   = ordered_sets.SetTransmitter(interval=16)
        self.comb  += [frames.hold.eq(sets.hold), sets.packet.eq(frames.valid), sets.packet_data.eq(frames.data),
            sets.packet_k.eq(frames.k)]
        self.free(frames.sink, frames.active, sets.send, sets.fields)
        well_formed, inside = self.packets(frames.sink)
        self.assume("packets", well_formed)
        self.assume("no_gap", ~inside | frames.sink.valid)
        self.assume("states", sets.send <= SEND_DATA)
        for name in ("link", "lane"):
            number = getattr(sets.fields, name)
            self.assume(name, ~number[8] | (number[:8] == PAD))
        self.assume("l0", ~frames.active | (sets.send == SEND_DATA))
        low, high  = sets.data[:8], sets.data[8:]
        begin, end = Signal(), Signal()
        self.comb += [begin.eq((sets.k == 0b01) & ((low == STP) | (low == SDP))),
            end.eq((sets.k == 0b10) & ((high == END) | (high == EDB)))]
        opened = Signal()  # Before the present pair.
        self.sync += opened.eq(frames.active & (begin | opened & ~end))
        # The pair of this cycle was chosen in the cycle before.
        active, given = self.previous(frames.active), self.previous(frames.valid)
        self.implies("as_given", given, (sets.data == self.previous(frames.data)) & (sets.k == self.previous(frames.k)))
        self.implies("no_set_inside", opened & active, ((sets.k == 0) | end) & given)
        self.implies("ends_are_of_packets", end & active, opened)
        begun = self.previous((sets.k == 0b11) & (low == COM) & (high == SKP))
        self.implies("skp_is_whole", begun, (sets.k == 0b11) & (low == SKP) & (high == SKP))

PROOFS = [Proof("packets and ordered sets", NoSetInsidePackets, depth=30)]
MUTANTS = [
    Mutant("skp_cuts_a_packet", PROOFS[0], ordered_sets, "(left == 0) & (due != 0) & ~self.packet &",
        "(left == 0) & (due != 0) &"),
    Mutant("packet_in_a_set", PROOFS[0], ordered_sets, "(due != 0) | (left != 0) |", "(due != 0) |")]

# Which DLLP is next: dllp.py, receiver.py and the output of layer.py in gateware/endpoint/data_link/

APART = 10  # Cycles between two received TLPs: the shortest has 20 symbols.


# Rules: 3.5.2.1, DLLP
class NoDLLPStarves(Harness):
    """NAK, ACK, and flow control leave within three packets and eight cycles, whatever else is to be sent.

    For TLPs of six words at most, or of ``longest``. Assumed: received TLPs are ten cycles apart, good, bad or sent
    again; the lane takes packets without a pause. Power management waits for TLPs, and nothing is promised of it.
    """
    def __init__(self, longest=6):
        Harness.__init__(self)
        bound         = 3*(longest + 2) + 8
        self.acks     = acks = receiver.AckScheduler()
        self.selector = dut  = dllp.DLLPSelector()
        self.sender   = DLLPTransmitter()
        self.output   = stream.Buffer(TX_FRAME, pipe_valid=True, pipe_ready=True)
        self.frames   = frames = framing.FrameTransmitter()
        tlps          = stream.Endpoint([("data", 16)])
        self.appender = SimpleNamespace(source=tlps)
        self.tx       = stream.Endpoint(TX_FRAME)
        self.active, self.coming = Signal(reset=1), tlps.valid
        layer.DataLink.add_output(self, Constant(0))
        asked, flow, power = Signal(), Signal(), Signal()  # After the initialization, ``flow`` is set.
        want, apart, words = Signal(), Signal(max=APART), Signal(max=longest + 1)
        received           = Cat(acks.accepted, acks.duplicate, acks.rejected)
        self.free(acks.accepted, acks.duplicate, acks.rejected, asked, power, tlps.valid, tlps.last)
        self.constant(flow, acks.mps_128)
        self.tied(dut.kind, dut.credits, dut.update, dut.header_fc, dut.data_fc, dut.newest, dut.power, tlps.data,
            frames.hold, self.active, self.output.sink.edb)
        self.comb += [
            self.tx.connect(frames.sink),
            frames.active.eq(1),
            self.sender.sink.dword.eq(dut.source.dword),
            dut.requests.eq(Cat(acks.nak_due, acks.ack_due, want & ~flow, want & flow, power)),
            acks.nak_sent.eq(dut.sent[FOR_NAK]),
            acks.ack_sent.eq(dut.sent[FOR_ACK]),
            tlps.first.eq(words == 0),
        ]
        self.sync += [
            If(dut.sent[FOR_INIT] | dut.sent[FOR_UPDATE], want.eq(0)).Elif(asked, want.eq(1)),
            If(received != 0, apart.eq(APART - 1)).Elif(apart != 0, apart.eq(apart - 1)),
            If(tlps.valid & tlps.ready, If(tlps.last, words.eq(0)).Else(words.eq(words + 1))),
        ]
        self.assume("apart", (received == 0) | (apart == 0))
        self.assume("one", Reduce("AND", [received != n for n in (3, 5, 6, 7)]))
        self.assume("no_gap", (words == 0) | tlps.valid)
        self.assume("longest", tlps.last | (words != longest - 1))
        self.assume("shortest", ~tlps.last | (words >= 4))
        for name, reason in (("nak", FOR_NAK), ("ack", FOR_ACK), ("init", FOR_INIT), ("update", FOR_UPDATE)):
            age        = Signal(max=bound + 2)
            self.sync += If(dut.requests[reason] & ~dut.sent[reason], age.eq(age + (age <= bound))).Else(age.eq(0))
            self.check(name, age <= bound)

NEW = [Proof("choice of DLLPs", NoDLLPStarves, depth=70),
    Proof("choice of DLLPs, longer TLPs", NoDLLPStarves, depth=90, variant=True, options=dict(longest=16))]
PROOFS  += NEW
MUTANTS += [
    Mutant("tlps_go_first", NEW[0], layer, "Mux(inside, chosen, self.sender.sink.valid)",
        "Mux(inside, chosen, self.sender.sink.valid & ~tlp.valid)")]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
