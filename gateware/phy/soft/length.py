#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Compares the length of a received TLP with what its header says."""

from migen import *

from litex.gen import *

from litepcie_soc.phy.soft.error_log import HEADER_BITS, HeaderWords

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
