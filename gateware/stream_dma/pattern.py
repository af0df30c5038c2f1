#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The two ends of a stream for tests of the whole path: a loop, or a pattern source and its checker."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream
from litex.soc.interconnect.csr import CSRStatus, CSRStorage

from litepcie_soc.stream_dma.ram import user_layout

# Pattern ------------------------------------------------------------------------------------------


def words(beat, data_width):
    """The words of 64 bits of a beat: the number of the word in the low half, its complement in the high half."""
    count = data_width // 64
    number = [beat * count + n & 0xffff_ffff for n in range(count)]
    return [n | (~n & 0xffff_ffff) << 32 for n in number]


def ends(beat):
    """Whether a packet ends with a beat: packets have 1 to 4096 beats."""
    return beat & 0xfff == 0xfff or beat & 0x3fff in (0x100, 0x101, 0x117)


def bytes_of(beat, data_width):
    """Number of bytes of a beat: all of them, or, in the last beat of a packet, 1 to all of them."""
    lanes = data_width // 8
    return (beat >> 14) % lanes + 1 if ends(beat) else lanes


class Pattern(LiteXModule):
    """The beats of the pattern, one after the other.

    Parameters
    ----------
    data_width : bits of a beat.

    Attributes
    ----------
    next   : 1, **in**, go on to the next beat.
    again  : 1, **in**, with ``next``: go on to beat 1, as this one was beat 0.
    source : Endpoint(user_layout), **out**, the beat, always valid; ``ready`` is ignored.
    """
    def __init__(self, data_width):
        lanes       = data_width // 8
        count       = data_width // 64
        self.next   = Signal()
        self.again  = Signal()
        self.source = source = stream.Endpoint(user_layout(data_width))

        # # #

        beat   = Signal(32)
        after  = Signal(32)
        number = Signal(32)
        low    = log2_int(count)
        last   = Signal()
        self.comb += [
            source.valid.eq(1),
            number.eq(Cat(Replicate(0, low), beat) if low else beat),
            last.eq((beat[:12] == 0xfff)
                | Reduce("OR", [beat[:14] == n for n in (0x100, 0x101, 0x117)])),
            source.last.eq(last),
            *[source.be[n].eq(~last | (n <= beat[14:14 + log2_int(lanes)])) for n in range(lanes)],
            *[source.data[64*n:64*n + 64].eq(Cat(number | n, ~(number | n))) for n in range(count)],
            after.eq(Mux(self.again, 0, beat) + 1),
        ]
        self.sync += If(self.next, beat.eq(after), source.first.eq(Mux(self.again, 0, last)))

# Stream Ends --------------------------------------------------------------------------------------


class StreamEnds(LiteXModule):
    """Sends what the host sends back to it, or sends a pattern and compares what the host sends with it.

    The pattern is sent as fast as it is taken. It goes on for as long as the card is configured: what a reset of the
    engine drops is a gap. The checker expects the next beat of the pattern, and begins again with a packet whose first
    word is that of beat 0. It is not ready for 64 of 1024 cycles.

    A switch drops what is in the loop, and may cut a packet. So it is for a stream that no program has open.

    Parameters
    ----------
    data_width : bits of a beat.
    loop       : whether the loop is on after a reset.

    Attributes
    ----------
    source : Endpoint(user_layout), **out**, to the ``sink`` of a stream channel.
    sink   : Endpoint(user_layout), **in**, from the ``source`` of a stream channel.

    Registers
    ---------
    beats  : beats that the checker has taken, modulo 2^32.
    errors : of these, how many were not as expected.
    loop   : 1: the loop; 0: pattern and checker.
    """
    def __init__(self, data_width, loop=False):
        self.sink      = sink = stream.Endpoint(user_layout(data_width))
        self.sending   = sending  = Pattern(data_width)
        self.expected  = expected = Pattern(data_width)
        self.source    = source = stream.Endpoint(user_layout(data_width))
        self.beats     = CSRStatus(32, description="Beats that the checker has taken, modulo 2^32.")
        self.errors    = CSRStatus(32, description="Of these, how many were not as expected.")
        self.loop      = CSRStorage(reset=int(loop), description="Whether the stream is looped back.")

        # # #

        # Loop or pattern ---------------------------------------------------------------------------
        looped    = self.loop.storage
        self.fifo = fifo = ResetInserter()(stream.SyncFIFO(sink.description, 16))
        cycle     = Signal(10)
        taken     = Signal()
        self.comb += [
            fifo.reset.eq(~looped),
            sending.next.eq(source.valid & source.ready & ~looped),
            taken.eq(sink.valid & sink.ready & ~looped),
            If(looped,
                sink.connect(fifo.sink),
                fifo.source.connect(source)
            ).Else(
                sending.source.connect(source),
                sink.ready.eq(cycle[6:] != 0)
            ),
        ]

        # Expected beat -----------------------------------------------------------------------------
        start = Signal()
        wrong = Signal(data_width // 8 + 1)
        lanes = range(data_width // 8)
        zero  = words(0, data_width)[0]
        like  = expected.source
        self.comb += [
            start.eq(sink.first & (sink.data[:64] == zero)),
            expected.next.eq(taken),
            expected.again.eq(start),
        ]
        # Beat 0 has no end, and its words are constants.
        first = [byte for word in words(0, data_width) for byte in word.to_bytes(8, "little")]
        taken_late = Signal()
        self.sync += [
            cycle.eq(cycle + 1),
            taken_late.eq(taken),
            *[wrong[n].eq(Mux(start,
                ~sink.be[n] | (sink.data[8*n:8*n + 8] != first[n]),
                (sink.be[n] != like.be[n])
                    | (like.be[n] & (sink.data[8*n:8*n + 8] != like.data[8*n:8*n + 8])))) for n in lanes],
            wrong[-1].eq(sink.last != (like.last & ~start)),
            If(taken_late,
                self.beats.status.eq(self.beats.status + 1),
                If(wrong != 0, self.errors.status.eq(self.errors.status + 1))
            ),
        ]
