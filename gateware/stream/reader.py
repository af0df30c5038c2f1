#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Reader of a stream: host memory to the user's ``source``."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common import REASON_NONE
from litepcie_soc.dma.descriptor import descriptor_layout
from litepcie_soc.dma.reader import Reader
from litepcie_soc.memory.ports import MemoryWriteStream
from litepcie_soc.stream.ram import WORDS, StreamRAM, user_layout

# Packet Output ------------------------------------------------------------------------------------


class PacketOutput(LiteXModule):
    """Gives the words of the reorder RAM to the user when all of their bytes have landed.

    Bytes lie in the RAM as they leave: a packet begins with a word, and between its descriptors
    there is no gap. A packet's end is known before its bytes land.

    Parameters
    ----------
    data_width, words : of the RAM, bits and a power of two.
    packets           : ends that can wait.

    Attributes
    ----------
    end    : Endpoint (``word``, ``lane`` of a packet's last byte), in, sys.
    landed : 13, in, sys, bytes that landed in this cycle, behind those before without a gap.
    front  : log2(words) + 1, out, sys, words that left the RAM, modulo twice its size.
    ram    : StreamRAM.
    source : Endpoint(user_layout), out, sys.
    """
    def __init__(self, data_width, words, packets=16):
        word_bits   = log2_int(data_width // 8)
        self.landed = Signal(13)
        self.front  = front = Signal(log2_int(words) + 1)
        self.source = source = stream.Endpoint(user_layout(data_width))
        self.ends   = ends = stream.SyncFIFO([("word", len(front) - 1), ("lane", word_bits)], packets)
        self.end    = ends.sink
        self.ram    = ram = StreamRAM(data_width, words, granularity=8, params=[("lane", word_bits)])

        # # #

        level = Signal(max=words * data_width // 8 + 1)  # Bytes that landed and did not leave.
        part  = Signal(word_bits + 1)                    # Bytes of the word in front.
        ends_ = Signal()                                 # It is the last of its packet.
        taken = Signal()
        self.comb += [
            ends_.eq(ends.source.valid & (ends.source.word == front[:-1])),
            part.eq(Mux(ends_, ends.source.lane + 1, data_width // 8)),
            ram.sink.valid.eq(level >= part),
            ram.sink.address.eq(front),
            ram.sink.last.eq(ends_),
            ram.sink.lane.eq(ends.source.lane),
            taken.eq(ram.sink.valid & ram.sink.ready),
            ends.source.ready.eq(taken & ends_),
            ram.source.connect(source, omit={"lane"}),
            *[source.be[n].eq(~source.last | (n <= ram.source.lane))
                for n in range(data_width // 8)],
        ]
        self.sync += level.eq(level + self.landed - Mux(taken, part, 0))
        first = Signal(reset=1)
        self.comb += ram.sink.first.eq(first)
        self.sync += If(taken, front.eq(front + 1), first.eq(ends_))

# Stream Reader ------------------------------------------------------------------------------------


class StreamReader(LiteXModule):
    """Moves the data of descriptors through a reorder RAM to the user, a beat a cycle.

    A running byte offset stands in the place of the endpoint address, so that completions find
    their place in the RAM by their tag, in any order. It is rounded up to a word behind a packet.
    A request leaves only while the RAM has room for it: completions never wait for the user.

    Complete means landed in the RAM: the host's memory is free then, but the user may still have to
    take up to the RAM's size. Behind a failure nothing more is given to the user.

    Parameters
    ----------
    port  : MemoryReadPort of the data.
    words : words of the reorder RAM, a power of two. Requests are for a quarter of it at most.

    Attributes
    ----------
    source : Endpoint(user_layout), out, sys; ``last`` behind a descriptor with LAST.

    Every other as ``Reader``.
    """
    def __init__(self, port, words=WORDS):
        width, size    = port.data_width, words * port.data_width // 8
        word_bits      = log2_int(width // 8)
        self.sink      = sink = stream.Endpoint(descriptor_layout(None))
        self.boundary  = Signal(16)
        self.run       = Signal()
        self.issue     = Signal()
        # Offsets are modulo twice the RAM, so that full and empty differ.
        self.reader    = reader = Reader(port, memory := MemoryWriteStream(width, 2 * size))
        self.output    = output = PacketOutput(width, words)
        self.source    = output.source
        self.done      = reader.done
        self.idle      = reader.idle
        self.tlp       = reader.tlp
        self.moved     = reader.moved
        self.wait_tag  = reader.wait_tag
        self.wait_link = reader.wait_link
        self.wait_data = Signal()

        # # #

        # Descriptors, each with its place in the RAM.
        accepted   = Signal()
        offset     = Signal(word_bits + len(output.front))  # Of the next descriptor.
        final      = Signal.like(offset)                    # The last byte of the next descriptor.
        end        = Signal.like(offset)                    # The same, of the one in the splitter.
        packet_end = Signal()                               # That one ends a packet.
        self.comb += [
            sink.connect(reader.sink, omit={"packet_end"}),
            reader.sink.endpoint.eq(offset),
            reader.run.eq(self.run),
            reader.boundary.eq(Mux(self.boundary > size // 4, size // 4, self.boundary)),
            accepted.eq(sink.valid & sink.ready),
            final.eq(offset + sink.length - 1),
        ]
        self.sync += If(accepted,
            offset.eq(final + 1),
            If(sink.packet_end, offset.eq(Cat(Replicate(0, word_bits), final[word_bits:] + 1))),
            end.eq(final),
            packet_end.eq(sink.packet_end)
        )

        # Requests, while there is room for one of the largest size.
        piece = reader.splitter.source
        used  = Signal(len(offset))
        room  = Signal()
        self.comb += [
            used.eq(piece.endpoint - Cat(Replicate(0, word_bits), output.front)),
            room.eq((used + reader.boundary <= size) & output.end.ready),
            reader.issue.eq(self.issue & (room | (piece.reason != REASON_NONE))),
            output.end.valid.eq(piece.valid & piece.ready & piece.last & packet_end
                & (piece.reason == REASON_NONE)),
            Cat(output.end.lane, output.end.word).eq(end),
        ]

        # Data.
        failed = Signal()
        self.comb += [
            memory.ready.eq(1),
            output.ram.write_address.eq(memory.address),
            output.ram.write_data.eq(memory.dat),
            If(memory.valid, output.ram.write_enable.eq(memory.be)),
            If(self.done.valid & ~failed, output.landed.eq(self.done.bytes)),
            self.wait_data.eq(reader.wait_data | (~self.moved & ~self.wait_tag & ~self.wait_link
                & piece.valid & ~room)),
        ]
        self.sync += If(self.done.valid & (self.done.reason != REASON_NONE), failed.eq(1))

    @property
    def splitter(self):
        return self.reader.splitter
