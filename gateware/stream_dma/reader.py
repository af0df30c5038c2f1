#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Reader of a stream: host memory to the user's ``source``."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.memory_ports import MemoryWriteStream
from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.dma.descriptor import descriptor_layout
from litepcie_soc.dma.reader import Reader
from litepcie_soc.stream_dma.ram import WORDS, StreamRAM

# Packet Output ------------------------------------------------------------------------------------


def word_layout(data_width):
    """A word on its way to the user: with ``last``, bytes up to ``lane``."""
    return [("dat", data_width), ("lane", log2_int(data_width // 8))]


class PacketOutput(LiteXModule):
    """Gives the words of the reorder RAM to the user when all of their bytes have landed.

    Bytes lie in the RAM as they leave: a packet begins with a word, and between its descriptors
    there is no gap.

    Parameters
    ----------
    data_width, words : of the RAM, bits and a power of two.
    packets           : ends that can wait.

    Attributes
    ----------
    end    : Endpoint (``word``, ``lane`` of a packet's last byte), in, sys; before it lands.
    room   : 1, out, sys, for four ends more.
    landed : 13, in, sys, bytes that landed in this cycle, behind those before without a gap;
    ends   : 1, in, sys, and the last of them is the last of its packet.
    front  : log2(words) + 1, out, sys, words that left the RAM, modulo twice its size.
    ram    : StreamRAM.
    go     : 1, in, sys, words may leave.
    source : Endpoint(word_layout), out, sys; ready is not looked at.
    """
    def __init__(self, data_width, words, packets=16):
        word_bits   = log2_int(data_width // 8)
        self.landed = Signal(13)
        self.ends   = Signal()
        self.front  = front = Signal(log2_int(words) + 1)
        self.go     = Signal()
        self.source = source = stream.Endpoint(word_layout(data_width))
        self.fifo   = fifo = stream.SyncFIFO([("word", len(front) - 1), ("lane", word_bits)], packets)
        self.end    = fifo.sink
        self.room   = Signal()
        self.ram    = ram = StreamRAM(data_width, words, granularity=8,
            params=[("word", len(front) - 1)])

        # # #

        # How far bytes landed: to the end of the word with the end of a packet.
        back  = Signal(word_bits + len(front))
        more  = Signal(14)
        whole = Signal()
        ahead = Signal.like(back)
        self.comb += ahead.eq(back + more)
        self.sync += [
            more.eq(self.landed + Mux(self.ends, data_width // 8 - 1, 0)),
            whole.eq(self.ends),
            back.eq(ahead),
            If(whole, back[:word_bits].eq(0)),
        ]

        # Whole words leave.
        end   = fifo.source
        first = Signal(reset=1)
        self.comb += [
            self.room.eq(fifo.level <= packets - 4),
            ram.sink.valid.eq(self.go & (front != back[word_bits:])),
            ram.sink.address.eq(front),
            ram.sink.word.eq(front),
            source.valid.eq(ram.source.valid),
            source.first.eq(first),
            source.last.eq(end.valid & (end.word == ram.source.word)),
            source.dat.eq(ram.source.dat),
            source.lane.eq(end.lane),
            end.ready.eq(source.valid & source.last),
        ]
        self.sync += [
            If(ram.sink.valid, front.eq(front + 1)),
            If(source.valid, first.eq(source.last)),
        ]

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
    go     : 1, in, sys, words may leave.
    source : Endpoint(word_layout), out, sys; ``last`` behind a descriptor with LAST. Ready is not
        looked at.

    Every other as ``Reader``.
    """
    def __init__(self, port, words=WORDS):
        width, size    = port.data_width, words * port.data_width // 8
        self.word_bits = log2_int(width // 8)
        self.size      = size
        self.sink      = stream.Endpoint(descriptor_layout(None))
        self.boundary  = Signal(16)
        self.run       = Signal()
        self.issue     = Signal()
        # Offsets are modulo twice the RAM, so that full and empty differ.
        self.memory    = MemoryWriteStream(width, 2 * size)
        self.reader    = reader = Reader(port, self.memory)
        self.output    = output = PacketOutput(width, words)
        self.ends      = stream.SyncFIFO([("packet_end", 1)], port.tags + 4)  # Of what is issued.
        self.go        = output.go
        self.source    = output.source
        self.done      = reader.done
        self.idle      = reader.idle
        self.tlp       = reader.tlp
        self.moved     = reader.moved
        self.wait_tag  = reader.wait_tag
        self.wait_link = reader.wait_link
        self.wait_data = Signal()

        # # #

        self.comb += [
            reader.run.eq(self.run),
            reader.boundary.eq(Mux(self.boundary > size // 4, size // 4, self.boundary)),
        ]
        self.add_descriptors()
        self.add_requests()
        self.add_data()

    @property
    def splitter(self):
        return self.reader.splitter

    def add_descriptors(self):
        """Gives each its place in the RAM, and tells where its packet ends."""
        sink, inner = self.sink, self.reader.sink
        piece       = self.splitter.source
        accepted    = Signal()
        settled     = Signal(reset=1)     # ``offset`` is that of the next descriptor.
        offset      = Signal(len(inner.endpoint))
        behind      = Signal.like(offset)  # The descriptor that was accepted last,
        final       = Signal.like(offset)  # its last byte.
        packet_end  = Signal()
        ended       = Signal()             # Its last request is made.
        self.comb += [
            sink.connect(inner, omit={"packet_end", "valid", "ready"}),
            inner.endpoint.eq(offset),
            inner.valid.eq(sink.valid & settled & self.ends.sink.ready),
            sink.ready.eq(inner.ready & settled & self.ends.sink.ready),
            accepted.eq(sink.valid & sink.ready),
            self.ends.sink.valid.eq(accepted),
            self.ends.sink.packet_end.eq(sink.packet_end),
            self.output.end.valid.eq(ended),
            Cat(self.output.end.lane, self.output.end.word).eq(final),
        ]
        self.sync += [
            settled.eq(~accepted),
            If(accepted,
                behind.eq(offset + sink.length),
                packet_end.eq(sink.packet_end)
            ),
            offset.eq(behind),
            If(packet_end,
                # The next packet begins with a word.
                offset.eq(Cat(Replicate(0, self.word_bits),
                    behind[self.word_bits:] + (behind[:self.word_bits] != 0)))
            ),
            final.eq(behind - 1),
            ended.eq(piece.valid & piece.ready & piece.last & packet_end
                & (piece.reason == REASON_NONE)),
        ]

    def add_requests(self):
        """Lets them go while there is room for two of the largest size, and for some ends.

        What decides is a cycle old: in that, one request went, or an end of a packet was rounded.
        """
        piece = self.splitter.source
        reach = Signal(len(piece.endpoint))  # Of a request, from the front of the RAM on.
        limit = Signal.like(reach)
        left  = Signal.like(reach)
        room  = Signal()
        self.comb += [
            left.eq(limit - piece.endpoint),
            self.reader.issue.eq(self.issue & (room | (piece.reason != REASON_NONE))),
            self.wait_data.eq(self.reader.wait_data
                | (~self.moved & ~self.wait_tag & ~self.wait_link & piece.valid & ~room)),
        ]
        self.sync += [
            reach.eq(self.size - 2 * self.reader.boundary),
            limit.eq(Cat(Replicate(0, self.word_bits), self.output.front) + reach),
            room.eq(~left[-1] & self.output.room),
        ]

    def add_data(self):
        done, memory, ram = self.done, self.memory, self.output.ram
        failed = Signal()
        self.comb += [
            memory.ready.eq(1),
            ram.write_address.eq(memory.address),
            ram.write_data.eq(memory.dat),
            If(memory.valid, ram.write_enable.eq(memory.be)),
            self.ends.source.ready.eq(done.valid & done.last),
            If(done.valid & ~failed,
                self.output.landed.eq(done.bytes),
                self.output.ends.eq(done.last & (done.reason == REASON_NONE)
                    & self.ends.source.packet_end)
            ),
        ]
        self.sync += If(done.valid & (done.reason != REASON_NONE), failed.eq(1))
