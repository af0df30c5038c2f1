#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Beats of the transaction layer to words of the link, and back."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import phy_layout
from litepcie_soc.phy.soft.lcrc import WORD

BEAT_BITS = 64


def swapped(word):
    """A word of 16 bits with its bytes exchanged: fields of a TLP have their most significant byte first."""
    return Cat(word[8:16], word[0:8])


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
