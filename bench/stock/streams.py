#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The user's logic behind stock LitePCIe: dwords that count up, sent by the one stream and checked in the other."""

from migen import *

from litex.gen import *

from litex.soc.interconnect.csr import CSRStatus, CSRStorage
from litex.soc.interconnect import stream

from litepcie.common import dma_layout

# Helpers ------------------------------------------------------------------------------------------


def word_of(first, data_width):
    """Returns a word of ``data_width`` bits: the dwords ``first``, ``first`` + 1, ... of which the lowest comes first.

    ``first`` is a multiple of the dwords of a word.
    """
    count = data_width//32
    return Cat(*(Cat(Constant(lane, log2_int(count)), first[log2_int(count):]) for lane in range(count)))

# Streams ------------------------------------------------------------------------------------------


class CountingSource(LiteXModule):
    """``source``: a word in every cycle, each dword one more than the one before it."""
    def __init__(self, data_width):
        self.source = source = stream.Endpoint(dma_layout(data_width))

        # # #

        first = Signal(32)
        self.comb += [source.valid.eq(1), source.data.eq(word_of(first, data_width))]
        self.sync += If(source.ready, first.eq(first + data_width//32))


class CountingCheck(LiteXModule):
    """``sink``: takes a word in every cycle and counts those that are not the next one.

    Attributes
    ----------
    length : CSR, dwords of a descriptor, after which the numbers begin again at 0; a write clears the counts.
    words  : CSR, words that came.
    wrong  : CSR, words of these with a wrong dword.
    """
    def __init__(self, data_width):
        self.sink   = sink = stream.Endpoint(dma_layout(data_width))
        self.length = CSRStorage(32, description="Dwords of a descriptor. A write clears the counts.")
        self.words  = CSRStatus(32, description="Words that came.")
        self.wrong  = CSRStatus(32, description="Words of these that had a wrong dword.")

        # # #

        first, following = Signal(32), Signal(32)
        self.comb += [sink.ready.eq(1), following.eq(first + data_width//32)]
        self.sync += [
            If(sink.valid,
                first.eq(following),
                If(following == self.length.storage, first.eq(0)),
                self.words.status.eq(self.words.status + 1),
                If(sink.data != word_of(first, data_width), self.wrong.status.eq(self.wrong.status + 1)),
            ),
            If(self.length.re,
                first.eq(0),
                self.words.status.eq(0),
                self.wrong.status.eq(0),
            ),
        ]
