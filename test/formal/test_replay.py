#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Replay buffer: gateware/phy/soft/replay.py."""

from migen import *

from litex.gen import *

from litepcie_soc.phy.soft import replay

from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

# Properties ---------------------------------------------------------------------------------------

LONGEST = 3     # Words of a TLP.
BITS    = 4     # Of sequence numbers.


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
        self.sync += If(sink.valid & (stored == chosen),
            If(place == word, kept.eq(sink.data[:2])),
            If(sink.last, length.eq(place)),
        )
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
                If(sink.last, stored.eq(stored + 1)),
            ),
        ]
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
        self.comb += [
            took.eq(source.valid & source.ready),
            now.eq(source.data[8:8 + BITS]),
        ]
        self.sync += [
            held.eq(source.valid & ~source.ready),
            If(source.valid & source.first & ~held,
                expected.eq(now + 1),
                If(now == newest, newest.eq(newest + 1)),
            ),
            If(dut.back, expected.eq(dut.window.oldest)),
            If(took,
                position.eq(Mux(source.last, 0, position + 1)),
                If(source.first, number.eq(now)),
            ),
        ]
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
            If(dut.refused, owed.eq(~empty), quiet.eq(0)),
        ]
        self.check("replays", quiet <= LONGEST + 3)
        self.implies("for_a_reason", dut.replay, dut.again & ~empty)

# Proofs -------------------------------------------------------------------------------------------

PROOFS = [
    Proof("replay buffer", SendsWhatWasStored, depth=14),
    Proof("replay buffer, further", SendsWhatWasStored, depth=22, deep=True),
]

MUTANTS = [
    Mutant("replays_from_the_next", PROOFS[0], replay, "self.read.eq(self.window.oldest)",
        "self.read.eq(self.window.oldest + 1)"),
    Mutant("address_is_not_restored", PROOFS[0], replay, "self.address.eq(self.freed)",
        "self.address.eq(self.address)"),
    Mutant("frees_what_is_stored", PROOFS[0], replay, "self.freed.eq(after)", "self.freed.eq(address)"),
    Mutant("replay_counts_as_new", PROOFS[1], replay, "If(self.first_time, self.sent_index", "If(1, self.sent_index"),
    Mutant("end_of_the_last_word", PROOFS[0], replay, "end.dat_w.eq(following)", "end.dat_w.eq(address)"),
    Mutant("nak_is_forgotten", PROOFS[1], replay, "If(self.refused | self.timeout, self.again.eq(1))",
        "If(self.timeout, self.again.eq(1))"),
    Mutant("cuts_a_tlp", PROOFS[0], replay, "self.back.eq(~running & (", "self.back.eq(("),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
