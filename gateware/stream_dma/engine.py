#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The DMA engine of a stream."""

from typing import NamedTuple

from migen import *

from litex.soc.interconnect import stream

from litepcie_soc.dma.engine import DMAEngine
from litepcie_soc.stream_dma.ram import WordFIFO, user_layout
from litepcie_soc.stream_dma.reader import StreamReader, word_layout
from litepcie_soc.stream_dma.stream import WORDS
from litepcie_soc.stream_dma.writer import FlushTimer, StreamWriter

# Stream Engine ------------------------------------------------------------------------------------


class StreamEngine(DMAEngine):
    """A ``DMAEngine`` between host memory and a user stream, without endpoint memory.

    RESET drops the contents of the engine's RAM. A packet that a reset cuts short has no ``last``.
    After the reset of a reader, up to eight beats that had already left the RAM still wait at ``source``;
    the beat after them has ``first``. A writer is not ready while it is off. If its reset cuts a packet, it drops the
    rest of this packet when it is on again, until a beat with ``first`` or after one with ``last``, so that what the
    host gets begins with a packet. It drops nothing of a user that has not ended a packet since power-on: such a stream
    has none. If it ends one later, the rest is reported as a packet that was cut. The register PASSED counts the bytes
    that the engine took from ``sink``, or gave to ``source``, through all resets: with the reports, it tells how many
    bytes a reset dropped.

    Parameters
    ----------
    As ``DMAEngine``, without ``memory``, and:

    words : words of the RAM, a power of two.

    Attributes
    ----------
    As ``DMAEngine``, and:

    source : Endpoint(user_layout), **out**, readers only.
    sink   : Endpoint(user_layout), **in**, writers only.
    active : Signal(), **out**, the host has enabled the engine, and no reset of it is in progress.

    Registers
    ---------
    As ``DMAEngine``.
    """
    MOVERS = {"reader": StreamReader, "writer": StreamWriter}

    def __init__(self, direction, words=WORDS, **kwargs):
        self.FLUSHES = direction == "writer"
        self.words   = words
        DMAEngine.__init__(self, direction, **kwargs)

        # # #

        passed = Signal(len(self.mover.passed))
        self.active = Signal()
        self.sync += [
            self.active.eq(self.registers.control.fields.enable & ~self.resetting),
            passed.eq(self.mover.passed),
            self.registers.passed.status.eq(self.registers.passed.status + passed),
        ]
        if direction == "reader":
            width       = len(self.mover.source.data)
            self.source = source = stream.Endpoint(user_layout(width))
            self.output = output = WordFIFO(word_layout(width))
            self.comb += [
                self.mover.go.eq(output.go),
                self.mover.source.connect(output.sink, omit={"ready"}),
                output.source.connect(source, omit={"lane"}),
                *[source.be[n].eq(~source.last | (n <= output.source.lane))
                    for n in range(width // 8)],
            ]
        else:
            registers  = self.registers
            self.sink  = self.mover.user
            self.add_packet_start()
            self.timer = timer = FlushTimer(kwargs["clk_freq"])
            self.comb += [
                self.mover.ring_log2.eq(registers.ring_log2.storage),
                self.mover.status_address.eq(
                    Cat(registers.status_address_lo.storage, registers.status_address_hi.storage)),
                timer.us.eq(registers.flush_us.storage),
                timer.wait.eq(self.mover.splitter.pending),
                self.mover.splitter.flush.eq(timer.due),
            ]

    def make_mover(self, port, memory):
        return self.MOVERS[self.direction](port, self.words)

    def add_packet_start(self):
        """Drops the rest of a packet that a reset has cut. None of this is cleared by the reset."""
        sink    = self.sink
        taken   = Signal()
        inside  = Signal()  # A packet has begun and not ended.
        packets = Signal()  # The user has ended a packet.
        rest    = Signal()  # The rest of a packet follows that was cut.
        doubt   = Signal()  # The same, if the user's data has packets.
        self.comb += [
            taken.eq(sink.valid & sink.ready),
            self.mover.input.drop.eq(rest & ~sink.first),
            self.mover.input.broken.eq(doubt & ~sink.first),
        ]
        self.sync += [
            If(taken,
                inside.eq(~sink.last),
                If(sink.last, packets.eq(1)),
                If(sink.first | sink.last, rest.eq(0), doubt.eq(0)),
            ),
            If(self.clear & inside, rest.eq(packets), doubt.eq(~packets)),
        ]

# Stream Channel -----------------------------------------------------------------------------------


class StreamChannel(NamedTuple):
    """The directions of a stream channel, for the user of the SoC: Endpoints of ``user_layout``, sys.

    The host opens, closes and resets each direction for itself; ``StreamPort`` says how logic follows. A direction that
    the stream does not have is None.
    """
    source        : stream.Endpoint | None = None  # Host to user.
    sink          : stream.Endpoint | None = None  # User to host.
    source_active : Signal | None          = None  # **out**, the host's program can send.
    sink_active   : Signal | None          = None  # **out**, the host's program can receive.


class StreamList(list):
    """The streams of a card, by number or by name.

    names : list of str, in the order of the streams.
    """
    names = ()

    def __getitem__(self, key):
        if isinstance(key, str):
            if key not in self.names:
                raise KeyError(f"no stream {key!r}; there are {', '.join(self.names) or 'none'}")
            key = self.names.index(key)
        return list.__getitem__(self, key)
