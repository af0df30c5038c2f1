# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Data link layer of the endpoint in gateware: replay buffer, window of TLPs in flight, credits."""

from migen import *
from litex.gen import *

from litepcie_soc.endpoint.data_link import flow_control, replay
from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases


LONGEST = 3     # Words of a TLP.
BITS    = 4     # Of sequence numbers.


# Rules: 3.5.2.1, order
class SendsWhatWasStored(Harness):
    """Every TLP leaves whole, in order, with its own number and words, however often it is sent; a NAK sends it again.

    For a buffer of 16 words, TLPs of up to three words, four-bit sequence numbers, any back-pressure, any ACK and NAK
    with right and wrong numbers, and a replay timer of eight cycles. Assumed: TLPs begin when there is room and have no
    gap; four cycles from one DLLP to the next.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = replay.ReplayBuffer(words=16, longest=LONGEST, tlps=4, sequence_bits=BITS, expires=(3, 4))
        sink, source   = dut.sink, dut.source
        self.free(sink.valid, sink.first, sink.last, sink.data, source.ready)
        self.free(dut.ack, dut.nak, dut.sequence, dut.active)
        self.tied(dut.mps_128)
        self.assume("small", sink.data[2:] == 0)
        self.add_dllps(dut)
        stored, place = self.add_sink(dut)
        well_formed, inside = self.packets(source)
        self.check("packets", well_formed)
        self.check("stable", self.stable(source))
        self.implies("no_gap", inside, source.valid)
        # A word of a TLP that is followed.
        chosen, word  = Signal(BITS), Signal(2)
        self.constant(chosen, word)
        kept, length  = Signal(2), Signal(2)
        self.sync += If(sink.valid & (stored == chosen), If(place == word, kept.eq(sink.data[:2])),
            If(sink.last, length.eq(place)))
        self.add_source(dut, stored, chosen, word, kept, length)
        self.add_replays(dut)

    def add_dllps(self, dut):
        """DLLPs of all kinds, four cycles apart."""
        came = Signal()
        self.comb += came.eq(dut.ack | dut.nak)
        before = came
        recent = 0
        for _ in range(3):
            before = self.previous(before)
            recent = recent | before
        self.assume("one", ~(dut.ack & dut.nak))
        self.assume("distance", ~came | ~recent)

    def add_sink(self, dut):
        """TLPs are stored; returns the number of the TLP on `sink` and the place of the word in it."""
        sink   = dut.sink
        stored = Signal(BITS)
        place  = Signal(2)
        open_  = Signal()
        # A TLP that begun takes the room of all cycles before.
        fresh = Signal(2)
        self.sync += [
            fresh.eq(Cat(dut.room, fresh[0])),
            If(sink.valid,
                fresh.eq(0),
                open_.eq(~sink.last),
                place.eq(Mux(sink.last, 0, place + 1)),
                If(sink.last, stored.eq(stored + 1)))]
        self.assume("first", ~sink.valid | (sink.first == ~open_))
        self.assume("no_gap", ~open_ | sink.valid)
        self.assume("fits", ~sink.valid | (place != LONGEST - 1) | sink.last)
        self.assume("room", ~(sink.valid & sink.first) | dut.room | (fresh != 0))
        self.assume("few", ~sink.valid | (stored < 2**BITS - 2))
        return stored, place

    def add_source(self, dut, stored, chosen, word, kept, length):
        """What is sent."""
        source   = dut.source
        number   = Signal(BITS)     # Of the TLP on `source`, from its second word on.
        expected = Signal(BITS)     # What comes next.
        newest   = Signal(BITS)     # TLPs that were begun.
        position = Signal(3)
        took     = Signal()
        now      = Signal(BITS)
        held     = Signal()         # The first word is offered since a cycle before.
        self.comb += [took.eq(source.valid & source.ready), now.eq(source.data[8:8 + BITS])]
        self.sync += [
            held.eq(source.valid & ~source.ready),
            If(source.valid & source.first & ~held,
                expected.eq(now + 1),
                If(now == newest, newest.eq(newest + 1))),
            If(dut.back, expected.eq(dut.window.oldest)),
            If(took,
                position.eq(Mux(source.last, 0, position + 1)),
                If(source.first, number.eq(now)))]
        begins = source.valid & source.first & ~held
        self.implies("number", begins, now == expected)
        self.implies("other_bits", source.valid & source.first, (source.data[:8] == 0) & (source.data[8 + BITS:] == 0))
        self.implies("was_stored", begins, now <= stored)
        self.implies("new_ones_in_order", begins, now <= newest)
        mine = source.valid & ~source.first & (number == chosen)
        self.implies("same_word", mine & (position == word + 1), source.data == kept)
        self.implies("same_length", mine & (stored != chosen), source.last == (position == length + 1))

    def add_replays(self, dut):
        """A right NAK leads to a replay if anything is in flight, within some cycles in which words are taken."""
        owed, quiet = Signal(), Signal(4)
        empty       = dut.sent_index == dut.window.oldest[:len(dut.sent_index)]
        self.sync += [
            If(dut.replay | empty, owed.eq(0), quiet.eq(0)).Elif(owed & dut.source.ready, quiet.eq(quiet + 1)),
            If(dut.refused, owed.eq(~empty), quiet.eq(0))]
        self.check("replays", quiet <= LONGEST + 3)
        self.implies("for_a_reason", dut.replay, dut.again & ~empty)

PROOFS = [
    Proof("replay buffer", SendsWhatWasStored, depth=14),
    Proof("replay buffer, further", SendsWhatWasStored, depth=22, deep=True)]

MUTANTS = [
    Mutant("address_is_not_restored", PROOFS[0], replay, "self.address.eq(self.freed)",
        "self.address.eq(self.address)"),
    Mutant("replay_counts_as_new", PROOFS[1], replay, "If(self.first_time, self.sent_index", "If(1, self.sent_index")]


ACK_BITS = 4  # Of sequence numbers.
ACK_MOST = 3  # TLPs in flight.


# Rules: 3.5.2.2
class MovesByRightNumbers(Harness):
    """The window begins after an acknowledged number that is in flight; the last one again changes nothing; others err.

    For sequence numbers of four bits and at most three TLPs in flight, with ACK and NAK of any number. Assumed: four
    cycles from one DLLP to the next.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = replay.AckWindow(tlps=4, sequence_bits=ACK_BITS)
        self.free(dut.ack, dut.nak, dut.sequence)
        came  = Signal()
        self.comb += came.eq(dut.ack | dut.nak)
        since = [came]
        for _ in range(3):
            since.append(self.previous(since[-1]))
        self.assume("one", ~(dut.ack & dut.nak))
        self.assume("distance", ~came | ~(since[1] | since[2] | since[3]))
        # TLPs are sent when there are fewer than three in flight.
        send = Signal()
        self.free(send)
        flying = Signal(3)
        self.comb += flying.eq(dut.sent - dut.oldest[:3])
        self.assume("few", ~send | (flying < ACK_MOST))
        self.sync += If(send, dut.sent.eq(dut.sent + 1))
        self.check("window", flying <= ACK_MOST)
        # What the number is when it comes, by comparison with each number in flight.
        number = Signal(ACK_BITS)
        inside = Signal()
        same   = Signal()
        nak    = Signal()
        ahead  = [Signal(ACK_BITS) for _ in range(ACK_MOST)]
        self.comb += [value.eq(dut.oldest + n) for n, value in enumerate(ahead)]
        before = Signal(ACK_BITS)
        self.comb += before.eq(dut.oldest - 1)
        self.sync += If(came, number.eq(dut.sequence),
            inside.eq(Reduce("OR", [(dut.sequence == value) & (flying > n) for n, value in enumerate(ahead)])),
            same.eq(dut.sequence == before), nak.eq(dut.nak))
        following = Signal(ACK_BITS)
        self.comb += following.eq(number + 1)
        self.check("progress", dut.progress == (since[2] & inside))
        self.check("refused", dut.refused == (since[3] & nak & (inside | same)))
        self.check("error", dut.error == (since[3] & ~inside & ~same))
        self.implies("moves", since[3] & inside, dut.oldest == following)
        self.implies("stays", ~since[3] | ~inside, dut.oldest == self.previous(dut.oldest))
        # For the induction: what the pipeline holds.
        offset, held = dut.offset, dut.flying
        distance     = Signal(ACK_BITS)
        fewer        = Signal(3)
        self.comb += [distance.eq(number - dut.oldest), fewer.eq(flying - held)]
        self.helper("measured", dut.measured == Cat(since[1] & ~nak, since[1] & nak))
        self.helper("checked", dut.checked == Cat(since[2] & ~nak, since[2] & nak))
        self.helper("number", ~(since[1] | since[2] | since[3]) | (dut.number == number))
        self.helper("offset", ~since[1] | (offset == distance))
        self.helper("held", ~since[1] | ((held <= ACK_MOST) & (fewer <= ACK_MOST)))
        self.helper("inside", ~since[1] | (inside == (distance < held)))
        self.helper("same", ~since[1] | (same == (distance == 2**ACK_BITS - 1)))
        self.helper("result", ~since[2] | ((dut.inside == inside) & (dut.again == same)))
        self.helper("in_flight", ~(since[2] & inside) | (distance < flying))

NEW = [Proof("ACK window", MovesByRightNumbers, depth=24, induction=6)]
PROOFS  += NEW
MUTANTS += [
    Mutant("low_bits_alone", NEW[0], replay, "(offset[bits:] == 0) & ", ""),
    Mutant("wrong_nak_replays", NEW[0], replay, "eq(checked[1] & right)", "eq(checked[1])")]

# Credits that the link partner gives: gateware/endpoint/data_link/flow_control.py -----------------

CREDIT_BITS = 3   # Of the counters: at most 4 credits are outstanding.
WIDE_BITS = 6   # Of the counters here, which are compared without a modulus of 8.


# Rules: 2.6.1
class NeverBeyondCredits(Harness):
    """A TLP has enough credits if and only if the partner gave them, or gave infinitely many at the initialization.

    For counters of three bits, any limits that are at most half of the modulus ahead, and needs below half of it: the
    longest TLP needs 256 units of a modulus of 4096. Assumed: the need stays the same until the TLP is sent, and for
    four cycles at least.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = flow_control.CreditPool(CREDIT_BITS)
        half     = 2**(CREDIT_BITS - 1)
        self.free(dut.record, dut.update, dut.need, dut.consume, dut.forget)
        given, used = Signal(WIDE_BITS), Signal(WIDE_BITS)    # Since the initialization.
        more        = Signal(3)
        self.free(more)
        recorded    = Signal()
        infinite    = Signal()
        after       = Signal(WIDE_BITS)
        unused      = Signal((WIDE_BITS, True))
        waits       = Signal(3)     # Cycles with the same need.
        same        = Signal()
        self.comb  += [after.eq(given + more), dut.value.eq(after), same.eq(dut.need == self.previous(dut.need)),
            unused.eq(given - used)]
        self.assume("first", dut.record == ~recorded)
        self.assume("then", ~dut.update | recorded)
        self.assume("most", (given + more - used) <= half)
        self.assume("need", dut.need < half)
        self.assume("same", same | (waits == 0))
        self.assume("settled", ~dut.consume | ((waits == 4) & dut.enough & recorded))
        self.sync += [recorded.eq(1), If(dut.record, infinite.eq(more == 0)),
            If((dut.record | dut.update) & ~infinite, given.eq(after)),
            If(dut.consume & ~infinite, used.eq(used + dut.need)),
            If(dut.consume, waits.eq(0)).Elif(waits != 4, waits.eq(waits + 1))]
        settled = Signal()
        self.comb += settled.eq((waits == 4) & recorded)
        self.implies("never_beyond", settled & dut.enough & ~infinite, unused >= dut.need)
        # Limits that came in the last three cycles may not count yet.
        known = self.previous(self.previous(self.previous(given)))
        least = Signal((WIDE_BITS + 1, True))
        self.comb += least.eq(known - used)
        old   = self.previous(self.previous(self.previous(recorded)))
        self.implies("at_once", settled & old & ((least >= dut.need) | infinite), dut.enough)
        self.check("counts", infinite | ((unused >= 0) & (unused <= half)))

NEW = [Proof("credits", NeverBeyondCredits, depth=18)]
PROOFS  += NEW
MUTANTS += [
    Mutant("half_is_too_much", NEW[0], flow_control, "~(left[-1] & (left[:-1] != 0))", "~left[-1]"),
    Mutant("infinite_by_update", NEW[0], flow_control, "If(self.record, infinite", "If(self.update, infinite")]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
