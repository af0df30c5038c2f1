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
from litepcie_soc.dma.descriptor import Splitter, descriptor_layout
from litepcie_soc.dma.reader import Reader
from litepcie_soc.stream_dma.ram import StreamRAM
from litepcie_soc.stream_dma.stream import WORDS

# Packet Output ------------------------------------------------------------------------------------


def word_layout(data_width):
    """A word to the user. With ``last``, ``lane`` is the lane of the packet's last byte."""
    return [("data", data_width), ("lane", log2_int(data_width // 8))]


class PacketOutput(LiteXModule):
    """Sends the words of the reorder RAM to the user once all their bytes have landed.

    Bytes are in the RAM in the order in which they leave: each packet begins at a word, and there is no gap
    between its descriptors.

    Parameters
    ----------
    data_width, words : bits of a word, words of the RAM (a power of two).
    packets           : most packet ends that wait.

    Attributes
    ----------
    end    : Endpoint(``word``, ``lane``), **in**, position of a packet's last byte; given before that byte lands.
    room   : 1, **out**, there is room for four more packet ends.
    landed : 13, **in**, number of bytes that landed in this cycle, without a gap after the earlier ones.
    ends   : 1, **in**, the last of these bytes is the last of its packet.
    front  : log2(words) + 1, **out**, number of words that left the RAM, modulo twice its size.
    ram    : StreamRAM.
    go     : 1, **in**, words may leave.
    source : Endpoint(word_layout), **out**; ``ready`` is ignored.
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

        # Byte offset up to which bytes have landed. The end of a packet rounds it up to a word: the next packet
        # begins there.
        back      = Signal(word_bits + len(front))
        step      = Signal(14)
        round_up  = Signal()
        next_back = Signal.like(back)
        self.comb += next_back.eq(back + step)
        self.sync += [
            step.eq(self.landed + Mux(self.ends, data_width // 8 - 1, 0)),
            round_up.eq(self.ends),
            back.eq(next_back),
            If(round_up, back[:word_bits].eq(0)),
        ]

        # Only whole words leave.
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
            source.data.eq(ram.source.dat),
            source.lane.eq(end.lane),
            end.ready.eq(source.valid & source.last),
        ]
        self.sync += [
            If(ram.sink.valid, front.eq(front + 1)),
            If(source.valid, first.eq(source.last)),
        ]

# Stream Reader ------------------------------------------------------------------------------------


class StreamReader(LiteXModule):
    """Moves the data of descriptors through a reorder RAM to the user, one beat per cycle.

    Requests use a running byte offset in place of an endpoint address, so the tag of a completion leads to
    its place in the RAM and completions may come in any order. After each packet the offset is rounded up to a word.
    A request is issued only while the RAM has room for it: completions never wait for the user.

    Complete means landed in the RAM: the host may reuse its memory then, while up to a full RAM of data may
    still wait for the user. After a failure the user gets no more data.

    Parameters
    ----------
    port  : MemoryReadPort of the data.
    words : words of the reorder RAM, a power of two. A request is at most a quarter of it.

    Attributes
    ----------
    As ``Reader``, and:

    go     : 1, **in**, words may leave.
    source : Endpoint(word_layout), **out**, ``last`` at the end of a descriptor with LAST; ``ready`` is ignored.
    passed : **out**, number of bytes that leave at ``source``.
    """
    def __init__(self, port, words=WORDS):
        width, size    = port.data_width, words * port.data_width // 8
        self.word_bits = log2_int(width // 8)
        self.size      = size
        self.sink      = stream.Endpoint(descriptor_layout(None))
        self.boundary  = Signal(16)
        self.run       = Signal()
        self.issue     = Signal()
        # Offsets are modulo twice the RAM's size, so that full and empty differ.
        self.memory    = MemoryWriteStream(width, 2 * size)
        # A splitter alone: where packets end is known of one descriptor at a time.
        self.reader    = reader = Reader(port, self.memory, Splitter(bits_for(2 * size - 1)))
        self.output    = output = PacketOutput(width, words)
        self.ends      = stream.SyncFIFO([("packet_end", 1)], port.tags + 4)  # One entry per descriptor issued.
        self.go        = output.go
        self.source    = source = output.source
        self.passed    = Signal(self.word_bits + 1)
        self.done      = reader.done
        self.idle      = reader.idle
        self.tlp       = reader.tlp
        self.moved     = reader.moved
        self.wait_tag  = reader.wait_tag
        self.wait_link = reader.wait_link
        self.wait_data = Signal()

        # # #

        self.comb += [
            If(source.valid, self.passed.eq(Mux(source.last, source.lane + 1, width // 8))),
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
        """Gives each descriptor its place in the RAM, and passes on where packets end."""
        sink, inner = self.sink, self.reader.sink
        piece       = self.splitter.source
        accepted    = Signal()
        settled     = Signal(reset=1)      # ``offset`` is already that of the next descriptor.
        offset      = Signal(len(inner.endpoint))
        end_offset  = Signal.like(offset)  # After the last byte of the descriptor accepted last.
        last_byte   = Signal.like(offset)  # Its last byte.
        packet_end  = Signal()
        ended       = Signal()             # Its last request was issued, and it ends a packet.
        self.comb += [
            sink.connect(inner, omit={"packet_end", "valid", "ready"}),
            inner.endpoint.eq(offset),
            inner.valid.eq(sink.valid & settled & self.ends.sink.ready),
            sink.ready.eq(inner.ready & settled & self.ends.sink.ready),
            accepted.eq(sink.valid & sink.ready),
            self.ends.sink.valid.eq(accepted),
            self.ends.sink.packet_end.eq(sink.packet_end),
            self.output.end.valid.eq(ended),
            Cat(self.output.end.lane, self.output.end.word).eq(last_byte),
        ]
        self.sync += [
            settled.eq(~accepted),
            If(accepted,
                end_offset.eq(offset + sink.length),
                packet_end.eq(sink.packet_end)
            ),
            offset.eq(end_offset),
            If(packet_end,
                # The next packet begins with a word.
                offset.eq(Cat(Replicate(0, self.word_bits),
                    end_offset[self.word_bits:] + (end_offset[:self.word_bits] != 0)))
            ),
            last_byte.eq(end_offset - 1),
            ended.eq(piece.valid & piece.ready & piece.last & packet_end
                & (piece.reason == REASON_NONE)),
        ]

    def add_requests(self):
        """Issues requests while the RAM has room for two of the largest size, and the queue for some packet ends.

        Room for two, as ``room`` is one cycle old: in that cycle one more request may have been issued, or the end of
        a packet was rounded up.
        """
        piece = self.splitter.source
        reach = Signal(len(piece.endpoint))  # Highest offset of a request after the front of the RAM.
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
