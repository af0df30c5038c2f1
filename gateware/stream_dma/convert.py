#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Other widths of a stream of packets, with exact ends: a packet keeps each of its bytes, and gets no other."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.stream_dma.ram import user_layout

# Widener ------------------------------------------------------------------------------------------


class Widener(LiteXModule):
    """Joins beats to wider ones; takes a beat per cycle. A packet ends in a beat of its own, which may be partial.

    A beat with ``first`` begins a wider beat. Lanes of a packet that was cut before it, by a reset for example, are
    dropped: the packet has no end, and its bytes must not lead the next one.

    Parameters
    ----------
    sink_width, source_width : bits of a beat, powers of two, ``sink_width`` the smaller one.

    Attributes
    ----------
    sink   : Endpoint(user_layout(sink_width)), **in**.
    source : Endpoint(user_layout(source_width)), **out**.
    """
    def __init__(self, sink_width, source_width):
        self.sink   = sink   = stream.Endpoint(user_layout(sink_width))
        self.source = source = stream.Endpoint(user_layout(source_width))

        # # #

        count = source_width // sink_width
        after = Signal(max=count)   # Place after that of the last beat.
        place = Signal(max=count)
        lanes = sink_width // 8
        self.comb += [
            sink.ready.eq(~source.valid | source.ready),
            place.eq(Mux(sink.first, 0, after)),
        ]
        self.sync += [
            If(source.ready, source.valid.eq(0)),
            If(sink.valid & sink.ready,
                If(place == 0, source.first.eq(sink.first), source.be.eq(0)),
                Case(place, {n: [
                    source.data[n*sink_width:(n + 1)*sink_width].eq(sink.data),
                    source.be[n*lanes:(n + 1)*lanes].eq(sink.be),
                ] for n in range(count)}),
                source.last.eq(sink.last),
                source.valid.eq(sink.last | (place == count - 1)),
                after.eq(Mux(sink.last, 0, place + 1)),
            ),
        ]

# Narrower -----------------------------------------------------------------------------------------


class Narrower(LiteXModule):
    """Divides beats into narrower ones; gives a beat per cycle, and none without a byte.

    Parameters
    ----------
    sink_width, source_width : bits of a beat, powers of two, ``sink_width`` the larger one.

    Attributes
    ----------
    sink   : Endpoint(user_layout(sink_width)), **in**.
    source : Endpoint(user_layout(source_width)), **out**.
    """
    def __init__(self, sink_width, source_width):
        self.sink   = sink   = stream.Endpoint(user_layout(sink_width))
        self.source = source = stream.Endpoint(user_layout(source_width))

        # # #

        lanes = source_width // 8
        beat  = stream.Endpoint(user_layout(sink_width))  # A shift register: no multiplexer of all places.
        left  = Signal(max=sink_width // source_width)    # Places after the first one.
        final = Signal()
        self.comb += [
            # Lane 0 of the next place has no byte.
            final.eq((left == 0) | ~beat.be[lanes]),
            source.valid.eq(beat.valid),
            source.data.eq(beat.data),
            source.be.eq(beat.be),
            source.first.eq(beat.first),
            source.last.eq(beat.last & final),
            sink.ready.eq(~beat.valid | (source.ready & final)),
        ]
        self.sync += [
            If(source.ready,
                beat.data.eq(beat.data >> source_width),
                beat.be.eq(beat.be >> lanes),
                beat.first.eq(0),
                left.eq(left - 1),
                If(final, beat.valid.eq(0)),
            ),
            If(sink.ready,
                *[getattr(beat, name).eq(getattr(sink, name)) for name in ("valid", "data", "be", "first", "last")],
                left.eq(sink_width // source_width - 1),
            ),
        ]
