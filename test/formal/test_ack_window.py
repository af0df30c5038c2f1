#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Window of TLPs in flight: gateware/phy/soft/window.py."""

from migen import *

from litex.gen import *

from litepcie_soc.phy.soft import window

from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

# Properties ---------------------------------------------------------------------------------------

BITS = 4  # Of sequence numbers.
MOST = 3  # TLPs in flight.


class MovesByRightNumbers(Harness):
    """A number in flight moves the window behind it; the last acknowledged one moves nothing; others are errors.

    For sequence numbers of four bits and at most three TLPs in flight, with ACK and NAK of any number. Assumed: four
    cycles from one DLLP to the next.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = window.AckWindow(tlps=4, sequence_bits=BITS)
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
        self.assume("few", ~send | (flying < MOST))
        self.sync += If(send, dut.sent.eq(dut.sent + 1))
        self.check("window", flying <= MOST)

        # What the number is when it comes, by comparison with each number in flight.
        number = Signal(BITS)
        inside = Signal()
        same   = Signal()
        nak    = Signal()
        ahead  = [Signal(BITS) for _ in range(MOST)]
        self.comb += [value.eq(dut.oldest + n) for n, value in enumerate(ahead)]
        before = Signal(BITS)
        self.comb += before.eq(dut.oldest - 1)
        self.sync += If(came,
            number.eq(dut.sequence),
            inside.eq(Reduce("OR", [(dut.sequence == value) & (flying > n) for n, value in enumerate(ahead)])),
            same.eq(dut.sequence == before),
            nak.eq(dut.nak),
        )
        following = Signal(BITS)
        self.comb += following.eq(number + 1)
        self.check("progress", dut.progress == (since[2] & inside))
        self.check("refused", dut.refused == (since[3] & nak & (inside | same)))
        self.check("error", dut.error == (since[3] & ~inside & ~same))
        self.implies("moves", since[3] & inside, dut.oldest == following)
        self.implies("stays", ~since[3] | ~inside, dut.oldest == self.previous(dut.oldest))

        # For the induction: what the pipeline holds.
        offset, held = dut.offset, dut.flying
        distance     = Signal(BITS)
        fewer        = Signal(3)
        self.comb += [
            distance.eq(number - dut.oldest),
            fewer.eq(flying - held),
        ]
        self.helper("measured", dut.measured == Cat(since[1] & ~nak, since[1] & nak))
        self.helper("checked", dut.checked == Cat(since[2] & ~nak, since[2] & nak))
        self.helper("number", ~(since[1] | since[2] | since[3]) | (dut.number == number))
        self.helper("offset", ~since[1] | (offset == distance))
        self.helper("held", ~since[1] | ((held <= MOST) & (fewer <= MOST)))
        self.helper("inside", ~since[1] | (inside == (distance < held)))
        self.helper("same", ~since[1] | (same == (distance == 2**BITS - 1)))
        self.helper("result", ~since[2] | ((dut.inside == inside) & (dut.again == same)))
        self.helper("in_flight", ~(since[2] & inside) | (distance < flying))

# Proofs -------------------------------------------------------------------------------------------

PROOFS = [Proof("ACK window", MovesByRightNumbers, depth=24, induction=6)]

MUTANTS = [
    Mutant("one_more", PROOFS[0], window, "(offset[:bits] < flying)", "(offset[:bits] <= flying)"),
    Mutant("low_bits_alone", PROOFS[0], window, "(offset[bits:] == 0) & ", ""),
    Mutant("old_number_is_an_error", PROOFS[0], window, "2**sequence_bits - 1)", "2**sequence_bits - 2)"),
    Mutant("moves_to_the_number", PROOFS[0], window, "self.oldest.eq(self.number + 1)", "self.oldest.eq(self.number)"),
    Mutant("wrong_nak_replays", PROOFS[0], window, "eq(checked[1] & right)", "eq(checked[1])"),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
