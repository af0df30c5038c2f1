#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Words of 16 bits, in which the link carries TLPs: from and to beats of 64 bits, and the header in them."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import phy_layout

WORD        = [("data", 16)]
BEAT_BITS   = 64
HEADER_BITS = 128


def swapped(word):
    """A word of 16 bits with its bytes exchanged: fields of a TLP have their most significant byte first."""
    return Cat(word[8:16], word[0:8])


# Beats --------------------------------------------------------------------------------------------


class BeatsToWords(LiteXModule):
    """Gives the words of each beat, in the order of the wire; combinatorial.

    Attributes
    ----------
    sink   : stream of `phy_layout(64)`, **in**.
    source : stream of 16 bits, **out**; the first byte on the wire is in bits 7:0.
    """
    def __init__(self):
        self.sink   = sink   = stream.Endpoint(phy_layout(BEAT_BITS))
        self.source = source = stream.Endpoint(WORD)

        # # #

        place = Signal(2)
        done  = Signal()
        words = [swapped(sink.dat[32*dword + low:32*dword + low + 16]) for dword in range(2) for low in (16, 0)]
        self.comb += [
            done.eq((place == 3) | ((place == 1) & ~sink.be[4])),
            source.valid.eq(sink.valid),
            source.first.eq(sink.first & (place == 0)),
            source.last.eq(sink.last & done),
            Case(place, {n: source.data.eq(word) for n, word in enumerate(words)}),
            sink.ready.eq(source.ready & done),
        ]
        self.sync += If(source.valid & source.ready, place.eq(Mux(done, 0, place + 1)))


class WordsToBeats(LiteXModule):
    """Joins words to beats.

    A TLP has an even number of words. The last word of a beat is not stored: it passes, and the beat with it.

    Attributes
    ----------
    sink   : stream of 16 bits, **in**.
    source : stream of `phy_layout(64)`, **out**; `dat` is undefined where `be` is 0.
    """
    def __init__(self):
        self.sink   = sink   = stream.Endpoint(WORD)
        self.source = source = stream.Endpoint(phy_layout(BEAT_BITS))

        # # #

        place  = Signal(2)
        whole  = Signal()
        first  = Signal()
        stored = [Signal(16, name=f"word{n}") for n in range(3)]
        word   = swapped(sink.data)
        self.comb += [
            whole.eq((place == 3) | sink.last),
            source.valid.eq(sink.valid & whole),
            source.first.eq(first),
            source.last.eq(sink.last),
            If(place[1],
                source.dat.eq(Cat(stored[1], stored[0], word, stored[2])),
                source.be.eq(0xff),
            ).Else(
                source.dat.eq(Cat(word, stored[0])),
                source.be.eq(0x0f),
            ),
            sink.ready.eq(source.ready | ~whole),
        ]
        self.sync += If(sink.valid & sink.ready,
            place.eq(Mux(whole, 0, place + 1)),
            Case(place, {n: register.eq(word) for n, register in enumerate(stored)}),
            If(sink.first, first.eq(1)),
            If(whole, first.eq(0)),
        )

# Header Words -------------------------------------------------------------------------------------


class HeaderWords(LiteXModule):
    """Collects the header of a TLP from the words in which it comes.

    Attributes
    ----------
    word   : 16, **in**; a word, with the first byte on the wire in bits 7:0.
    take   : 1, **in**; there is one.
    place  : **in**; its number in the TLP.
    header : 128, **out**; the header in the order of the registers: the first byte in the upper bits of a dword, the
             first dword in bits 31:0. The fourth dword is undefined if the header has three.

    Parameters
    ----------
    place : Signal.
    first : int, ``place`` of the first word of the header.
    """
    def __init__(self, place, first=0):
        self.word   = Signal(16)
        self.take   = Signal()
        self.header = Signal(HEADER_BITS)

        # # #

        words      = [Signal(16, name=f"word{n}", reset_less=True) for n in range(HEADER_BITS//16)]
        self.sync += If(self.take, Case(place, {first + n: word.eq(swapped(self.word))
            for n, word in enumerate(words)}))
        self.comb += self.header.eq(Cat(*[words[n ^ 1] for n in range(len(words))]))
