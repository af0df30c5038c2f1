#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Buffers user packets; presents data and reports to the writer as memory."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.memory_ports import MemoryReadStream
from litepcie_soc.stream_dma.ram import StreamRAM, WordFIFO, user_layout
from litepcie_soc.stream_dma.stream import WORDS

# Constants ----------------------------------------------------------------------------------------

REPORT_BITS = 26  # [23:0] bytes in a buffer, [24] it ends a packet, [25] the packet before it was cut.

# Packet Input -------------------------------------------------------------------------------------


class PacketInput(LiteXModule):
    """Buffers user packets in a RAM; presents data and reports to the writer as memory.

    Each packet begins at a word of the RAM; a queue holds the offsets at which packets end. In the memory that
    the writer reads, the lower half is this RAM twice, so that a packet that wraps in the RAM has contiguous addresses.
    Every word of the upper half is a report of the contents of a buffer for the host.

    A beat with ``first`` in the middle of a packet ends that packet without its ``last``: the packet was cut.

    Parameters
    ----------
    data_width, words : bits of a word, words of the RAM (a power of two).
    reports           : most reports that wait to be read, a power of two.
    packets           : most packet ends that wait.

    Attributes
    ----------
    sink      : Endpoint(user_layout), **in**. ``be`` is used only with ``last``.
    enable    : 1, **in**, beats are accepted only with it.
    drop      : 1, **in**, a beat that is accepted is not stored.
    broken    : 1, **in**, the beat continues a packet whose beginning is not here: this packet counts as cut.
    passed    : **out**, number of bytes that were accepted in the last cycle.
    filled    : log2(bytes of the RAM), **out**, byte offset after the last accepted word.
    end       : Endpoint(``offset``, ``cut``), **out**, byte offset after the last byte of the oldest packet that has
        ended, and whether it was cut. Its bytes may have been read before its end was known.
    report    : 26, **in**, a report to store, with ``put``.
    put       : 1, **in**, stores ``report`` at ``report_at``.
    report_at : log2(reports), **out**, where the next report is stored.
    memory    : MemoryReadStream of four times the RAM's size. A read of a data word frees the words before it.
    """
    def __init__(self, data_width, words=WORDS, reports=32, packets=16):
        self.word_bits = log2_int(data_width // 8)
        self.sink      = stream.Endpoint(user_layout(data_width))
        self.enable    = Signal()
        self.drop      = Signal()
        self.broken    = Signal()
        self.passed    = Signal(self.word_bits + 1)
        self.filled    = Signal(self.word_bits + log2_int(words))
        self.report    = Signal(REPORT_BITS)
        self.put       = Signal()
        self.report_at = Signal(max=reports)
        self.memory    = MemoryReadStream(data_width, 4 * words * data_width // 8)
        self.ends      = stream.SyncFIFO([("offset", len(self.filled)), ("cut", 1)], packets)
        self.end       = self.ends.source
        self.ram       = StreamRAM(data_width, words,
            params=[("is_report", 1), ("report", REPORT_BITS)])

        # # #

        self.front = Signal(max=words)   # The data word read last.
        self.add_input(words, packets)
        self.add_reports(reports)
        self.add_memory()

    # User to RAM ----------------------------------------------------------------------------------

    def add_input(self, words, packets):
        sink, ram = self.sink, self.ram
        lanes = len(sink.be)
        place = Signal(max=words)
        ahead = Signal(max=words, reset=1)   # place + 1: one word stays free, so that full and empty differ.
        room  = Signal()                     # There is room for packet ends.
        taken = Signal()
        kept  = Signal()
        edge  = Signal(lanes)                # One-hot: the lane of the last byte.
        inside = Signal()                    # A packet has begun and not ended.
        # Ends of packets, one cycle late.
        begun = Signal()                     # A beat cut the packet before its own.
        ended = Signal()                     # A packet ended.
        both  = Signal()                     # Both in one beat: the packet that it ends is next.
        cut   = Signal()                     # ``broken`` of that packet.
        final = Signal()                     # The last beat of a packet, stored or not.
        whole = Signal()                     # A beat before the last.
        word  = Signal.like(place)
        lane  = Signal(self.word_bits)
        self.comb += [
            both.eq(begun & ended),
            sink.ready.eq(self.enable & room & ~both & (ahead != self.front)),
            taken.eq(sink.valid & sink.ready),
            ram.write_address.eq(place),
            ram.write_data.eq(sink.data),
            kept.eq(taken & ~self.drop),
            ram.write_enable.eq(kept),
            edge.eq(sink.be & ~Cat(sink.be[1:], 0)),
            self.ends.sink.valid.eq(begun | ended),
            self.ends.sink.cut.eq(begun | cut),
            self.ends.sink.offset.eq(Mux(begun, Cat(Replicate(0, self.word_bits), word), Cat(lane, word) + 1)),
            If(final, self.passed.eq(lane + 1)).Elif(whole, self.passed.eq(lanes)),
        ]
        self.sync += [
            If(kept, place.eq(ahead), ahead.eq(ahead + 1), inside.eq(~sink.last)),
            # The last two beats may have three ends that are not in the queue yet.
            room.eq(self.ends.level <= packets - 4),
            begun.eq(kept & sink.first & inside),
            ended.eq((kept & sink.last) | both),
            final.eq(taken & sink.last),
            whole.eq(taken & ~sink.last),
            If(~both,
                cut.eq(self.broken),
                word.eq(place),
                *[lane[bit].eq(Reduce("OR", [edge[n] for n in range(lanes) if n >> bit & 1]))
                    for bit in range(self.word_bits)],
            ),
            # One cycle late, as the ends are.
            self.filled.eq(Cat(Replicate(0, self.word_bits), place)),
        ]

    # Reports --------------------------------------------------------------------------------------

    def add_reports(self, reports):
        storage = Memory(REPORT_BITS, reports)
        write   = storage.get_port(write_capable=True)
        read    = storage.get_port(async_read=True)
        self.specials += storage, write, read
        self.comb += [
            write.adr.eq(self.report_at),
            write.dat_w.eq(self.report),
            write.we.eq(self.put),
            read.adr.eq(self.memory.command.address),
            self.ram.sink.report.eq(read.dat_r),
        ]
        self.sync += If(self.put, self.report_at.eq(self.report_at + 1))

    # To the writer --------------------------------------------------------------------------------

    def add_memory(self):
        ram, command = self.ram, self.memory.command
        self.fifo    = fifo = WordFIFO([("dat", self.memory.data_width)])
        taken        = Signal()
        self.comb += [
            command.ready.eq(fifo.go),
            taken.eq(command.valid & command.ready),
            ram.sink.valid.eq(taken),
            ram.sink.address.eq(command.address),
            ram.sink.is_report.eq(command.address[-1]),
            fifo.sink.valid.eq(ram.source.valid),
            fifo.sink.dat.eq(Mux(ram.source.is_report, ram.source.report, ram.source.dat)),
            fifo.source.connect(self.memory.data),
        ]
        self.sync += If(taken & ~command.address[-1], self.front.eq(command.address))
