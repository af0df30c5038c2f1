#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Receives TLPs: checks length, order and LCRC, and acknowledges them."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.endpoint.data_link.lcrc import LCRCChecker
from litepcie_soc.endpoint.data_link.words import HEADER_BITS, WORD, HeaderWords

# Length -------------------------------------------------------------------------------------------
# Compares the length of a received TLP with what its header says.

# Bits of the first two words of a header. Word 0 is preceded by the sequence number.
FOUR_DWORDS, DATA, PREFIX = 5, 6, 7        # Of word 0: fmt.
DIGEST                    = 7              # Of word 1: TD.
SHORTEST                  = 9              # Words of a sequence number, a header of three dwords, and an LCRC.


def payload_dwords(word):
    """Field Length of the second word of a header. 0 means 1024."""
    return Cat(word[8:16], word[0:2])


class LengthCheck(LiteXModule):
    """Says which TLPs are malformed: other in length than their header says, payload above MPS, or with a prefix.

    Attributes
    ----------
    data, valid, first, last : 16, 1, 1, 1, **in**; words of a TLP from the sequence number to the LCRC, as in
                `Receiver`.
    mps       : 3, **in**; Max_Payload_Size as encoded.
    malformed : 1, **out**; valid from two cycles after ``last`` to two cycles after the next ``last``.
    header    : 128, **out**; the header of the newest TLP, see `HeaderWords`.
    ended     : 1, **out**; a pulse, a cycle after ``last``: the header has come.
    unknown   : 1, **out**; with ``ended``: no, as the TLP was shorter.

    PCIe 2.1 2.2.2 and 2.2.3.
    """
    def __init__(self):
        self.data      = Signal(16)
        self.valid     = Signal()
        self.first     = Signal()
        self.last      = Signal()
        self.mps       = Signal(3)
        self.malformed = Signal()
        self.header    = Signal(HEADER_BITS)
        self.ended     = Signal()
        self.unknown   = Signal()

        # # #

        place  = Signal(4)   # Words before this one, at most SHORTEST.
        fmt    = Signal(3)
        dwords = Signal(10)
        digest = Signal()
        words  = Signal(12)  # Words of the payload.
        left   = Signal(13)  # Words that follow, the LCRC included.
        limit  = Signal(9)
        large  = Signal()
        wrong  = Signal()
        ended  = self.ended
        self.words = HeaderWords(place, first=1)
        self.comb += [
            self.words.word.eq(self.data),
            self.words.take.eq(self.valid & ~self.first),
            self.header.eq(self.words.header),
            self.unknown.eq(place != SHORTEST),
            If(fmt[1], words.eq(Cat(0, dwords, dwords == 0))),
            Case(self.mps, {code: limit.eq(32 << code) for code in range(3)} | {"default": limit.eq(256)}),
        ]
        self.sync += [
            ended.eq(self.valid & self.last),
            If(ended, self.malformed.eq(wrong | large | fmt[2])),
            If(self.valid,
                Case(Mux(self.first, 0, place), {
                    0:         place.eq(1),
                    1:         [place.eq(2), fmt.eq(self.data[FOUR_DWORDS:PREFIX + 1])],
                    2:         [place.eq(3), dwords.eq(payload_dwords(self.data)), digest.eq(self.data[DIGEST])],
                    3:         [place.eq(4), left.eq(Mux(fmt[0], 7, 5) + words + Cat(0, digest)),
                        large.eq(fmt[1] & ((dwords > limit) | (dwords == 0)))],
                    "default": [left.eq(left - (left != 0)), If(place != SHORTEST, place.eq(place + 1))],
                }),
                If(self.last, wrong.eq((place < 4) | self.first | (left != 1))),
            ),
        ]

# Order --------------------------------------------------------------------------------------------
# Receives TLPs in their order and stores them until they are known to be good.


class Receiver(LiteXModule):
    """Checks LCRC and sequence number of received TLPs, and gives those that are good and in order.

    A TLP is stored while it comes. Its last word and LCRC decide whether it stays. The pulses come six cycles after
    the last word at the latest, and at most one of them for each TLP; a nullified TLP has none. A TLP that finds no
    room is treated as a bad one, so that a partner which ignores credits sends it again.

    Parameters
    ----------
    words         : int, a power of two; words of 16 bits in the buffer.
    sequence_bits : int, of sequence numbers. Fewer than 12 are for proofs.

    Attributes
    ----------
    data      : 16, **in**; a word, from the sequence number to the LCRC.
    valid     : 1, **in**; there is a word. Between two TLPs is at least one cycle without a word.
    first     : 1, **in**; it is the first word of a TLP.
    last      : 1, **in**; it is the last word of a TLP. Every TLP has one.
    edb       : 1, **in**; with ``last``: the TLP ended with EDB.
    damaged   : 1, **in**; with ``last``: the TLP had a wrong symbol or a wrong end.
    listen    : 1, **in**; TLPs are for us. Others are dropped.
    malformed : 1, **in**; the TLP whose ``last`` was two to six cycles ago is dropped if it is good: see `LengthCheck`.
    source    : stream of 16 bits, **out**; good TLPs, without sequence number and LCRC.
    newest    : 12, **out**; number of the last good TLP.
    accepted  : 1, **out**; a pulse: a good TLP. ``newest`` has its number in the next cycle.
    duplicate : 1, **out**; a pulse: a TLP that was received before.
    rejected  : 1, **out**; a pulse: any other TLP. A NAK is wanted.
    error     : 1, **out**; a pulse, with ``rejected``: because of its LCRC, symbols, end or length.
    overflow  : 1, **out**; a pulse, with ``rejected``: because there was no room.

    PCIe 2.1 3.5.3.1.
    """
    def __init__(self, words=2048, sequence_bits=12):
        self.data      = Signal(16)
        self.valid     = Signal()
        self.first     = Signal()
        self.last      = Signal()
        self.edb       = Signal()
        self.damaged   = Signal()
        self.listen    = Signal()
        self.malformed = Signal()
        self.source    = stream.Endpoint(WORD)
        self.newest    = Signal(sequence_bits, reset=2**sequence_bits - 1)
        self.accepted  = Signal()
        self.duplicate = Signal()
        self.rejected  = Signal()
        self.error     = Signal()
        self.overflow  = Signal()

        # # #

        self.checker   = LCRCChecker()
        # Not an attribute: LiteX would put a memory that it finds in a module onto the bus of the registers.
        memory         = Memory(17, words)
        self.write     = memory.get_port(write_capable=True)
        self.reading   = memory.get_port(has_re=True)
        self.specials += memory, self.write, self.reading
        self.bits      = log2_int(words)
        # Addresses have one bit more than the memory needs.
        self.end       = Signal(self.bits + 1)  # Of what is stored.
        self.committed = Signal(self.bits + 1)  # Of what is good.
        self.read      = Signal(self.bits + 1)
        self.lost      = Signal()               # The TLP found no room.
        self.short     = Signal()               # The TLP is shorter than its sequence number, a header and the LCRC.
        self.add_storage()
        self.add_decision()
        self.add_output()

    def add_storage(self):
        """Stores each word two words later: then it is known not to be of the LCRC."""
        place   = Signal(2)  # Words of the TLP before this one, at most 3.
        earlier = [Signal(16, name=f"earlier{n}") for n in (1, 2)]
        store   = Signal()
        level   = Signal(self.bits + 1)
        full    = Signal()
        self.comb += [
            store.eq(self.valid & ~self.first & (place == 3) & ~full),
            self.write.adr.eq(self.end[:-1]),
            self.write.dat_w.eq(Cat(earlier[1], self.last)),
            self.write.we.eq(store),
            self.checker.data.eq(self.data),
            self.checker.valid.eq(self.valid),
            self.checker.last.eq(self.last),
        ]
        self.sync += [
            level.eq(self.end - self.read),
            # A few words before it is so: the level is late.
            full.eq(level[-1] | (level[3:-1] == 2**(self.bits - 3) - 1)),
            If(self.valid,
                earlier[0].eq(self.data),
                earlier[1].eq(earlier[0]),
                If(self.first,
                    place.eq(1),
                    self.lost.eq(0),
                ).Else(
                    If(place != 3, place.eq(place + 1)),
                    If((place == 3) & full, self.lost.eq(1)),
                ),
                self.short.eq(self.first | (place != 3)),
            ),
            If(store, self.end.eq(self.end + 1)),
        ]

    def add_decision(self):
        """Says what the TLP is, and keeps it or forgets it."""
        number, distance    = Signal.like(self.newest), Signal.like(self.newest)
        following, received = Signal(), Signal()  # It is the next one; it was received before.
        edb, damaged        = Signal(), Signal()
        checker             = self.checker
        sound, null, done   = Signal(), Signal(), Signal()
        lost, good          = Signal(), Signal()
        bits                = len(number)
        self.comb += good.eq(sound & ~lost & following)
        self.sync += [
            If(self.valid & self.first, number.eq(Cat(self.data[8:], self.data[:8])[:bits])),
            distance.eq(self.newest - number),
            following.eq(distance == 2**bits - 1),
            received.eq(~distance[-1]),
            If(self.valid & self.last,
                edb.eq(self.edb),
                damaged.eq(self.damaged),
            ),
            # What the checker says. The next TLP may begin now, and changes all that is not in a register of its own.
            lost.eq(self.lost),
            done.eq(checker.done & self.listen),
            sound.eq(checker.good & ~edb & ~damaged & ~self.short),
            null.eq(checker.nullified & edb & ~damaged),
            # What follows.
            self.accepted.eq(done & good),
            self.duplicate.eq(done & sound & received),
            self.rejected.eq(done & ~null & ~good & ~(sound & received)),
            self.error.eq(done & ~null & ~sound),
            self.overflow.eq(done & sound & lost & following),
            If(done & good,
                self.newest.eq(self.newest + 1),
                If(~self.malformed, self.committed.eq(self.end)),
            ),
            If((done & (~good | self.malformed)) | (checker.done & ~self.listen), self.end.eq(self.committed)),
        ]

    def add_output(self):
        """Reads good TLPs from the memory."""
        source, port  = self.source, self.reading
        go, available = Signal(), Signal()
        fetched       = Signal()
        first         = Signal(reset=1)
        self.comb += [
            go.eq(source.ready | ~source.valid),
            available.eq(self.read != self.committed),
            port.adr.eq(self.read[:-1]),
            port.re.eq(go),
        ]
        self.sync += If(go,
            fetched.eq(available),
            If(available, self.read.eq(self.read + 1)),
            source.valid.eq(fetched),
            source.data.eq(port.dat_r[:16]),
            source.first.eq(first),
            source.last.eq(port.dat_r[16]),
            If(fetched, first.eq(port.dat_r[16])),
        )

# Acknowledgement ----------------------------------------------------------------------------------
# When to acknowledge received TLPs.

# Cycles from a good TLP to its ACK, for MPS 128 and for more. One TLP of ours may be before it. PCIe 2.1 table 3-5 has
# limits of 237 symbols for MPS 128 and 416 for 256, less the 164 and 292 symbols of that TLP and its SKP.
LATENCY_SHORT = 0b10_0000
LATENCY_LONG  = 0b11_0000


class AckScheduler(LiteXModule):
    """Asks for ACK and NAK DLLPs.

    Good TLPs in a row share an ACK. A duplicate is acknowledged at once, because the partner is sending again. There
    is one NAK until a good TLP came.

    Attributes
    ----------
    accepted, duplicate, rejected : 1, **in**; pulses of the `Receiver`.
    mps_128  : 1, **in**; MPS is 128.
    ack_due  : 1, **out**; an ACK is to be sent.
    nak_due  : 1, **out**; a NAK is to be sent, before an ACK.
    ack_sent : 1, **in**; a pulse: an ACK is being sent. It was composed in the cycle before.
    nak_sent : 1, **in**; a pulse: a NAK is being sent.

    PCIe 2.1 3.5.3.1.
    """
    def __init__(self):
        self.accepted  = Signal()
        self.duplicate = Signal()
        self.rejected  = Signal()
        self.mps_128     = Signal()
        self.ack_due   = Signal()
        self.nak_due   = Signal()
        self.ack_sent  = Signal()
        self.nak_sent  = Signal()

        # # #

        nak_scheduled = Signal()
        pending, late = Signal(), Signal()
        urgent        = Signal()
        timer         = Signal(6)
        self.comb += self.ack_due.eq(pending & (urgent | ((timer & LATENCY_SHORT) != 0)
            & (self.mps_128 | ((timer & LATENCY_LONG) == LATENCY_LONG))))
        self.sync += [
            late.eq(self.accepted | self.duplicate),
            If(pending & (timer != 2**6 - 1), timer.eq(timer + 1)),
            If(self.ack_sent | self.nak_sent,
                pending.eq(0),
                urgent.eq(0),
                timer.eq(0),
            ),
            If(self.accepted | self.duplicate | late, pending.eq(1)),
            If(self.duplicate, urgent.eq(1)),
            If(self.nak_sent, self.nak_due.eq(0)),
            If(self.rejected & ~nak_scheduled,
                nak_scheduled.eq(1),
                self.nak_due.eq(1),
            ),
            If(self.accepted,
                nak_scheduled.eq(0),
                self.nak_due.eq(0),
            ),
        ]
