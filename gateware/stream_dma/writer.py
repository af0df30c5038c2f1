#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Writer of a stream: the user's ``sink`` to host memory."""

from math import ceil

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.memory_ports import MemoryReadStream
from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.dma.descriptor import descriptor_layout, done_layout
from litepcie_soc.dma.writer import Writer
from litepcie_soc.stream_dma.ram import StreamRAM, WordFIFO, user_layout
from litepcie_soc.stream_dma.splitter import BufferSplitter
from litepcie_soc.stream_dma.stream import WORDS

# Flush --------------------------------------------------------------------------------------------
# Limit of the time for which a stream writer's buffer waits for more data.


class FlushTimer(LiteXModule):
    """Tells when a buffer has held data for too long.

    Parameters
    ----------
    clk_freq : Hz of ``sys``.

    Attributes
    ----------
    us   : 16, **in**, limit in microseconds; 0: none.
    wait : 1, **in**, the buffer holds data.
    due  : 1, **out**, ``wait`` has been set for at least ``us`` - 1 and at most ``us`` microseconds; until it clears.
    """
    def __init__(self, clk_freq):
        self.us   = Signal(16)
        self.wait = Signal()
        self.due  = Signal()

        # # #

        cycles_per_us = max(1, ceil(clk_freq/1e6))
        cycle  = Signal(max=max(2, cycles_per_us))
        waited = Signal(16)
        self.sync += [
            # Runs freely: the first microsecond may be shorter.
            cycle.eq(cycle + 1),
            If(cycle == cycles_per_us - 1,
                cycle.eq(0),
                If(waited != 2**16 - 1, waited.eq(waited + 1))
            ),
            self.due.eq(self.wait & (self.us != 0) & (waited >= self.us)),
            If(~self.wait, waited.eq(0), self.due.eq(0)),
        ]

# Input --------------------------------------------------------------------------------------------
# Buffers user packets; presents data and reports to the writer as memory.

REPORT_BITS = 26  # [23:0] bytes in a buffer, [24] it ends a packet, [25] the packet before it was cut.


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

# Writer -------------------------------------------------------------------------------------------


class StreamWriter(LiteXModule):
    """Moves user packets through a RAM into the buffers of descriptors, one beat per cycle.

    A TLP is as long as MPS allows; it waits until all its bytes are in the RAM. The end of a packet
    sends the remaining bytes as a shorter TLP. Without it, they wait for more bytes.

    Complete means sent: first the data of a buffer, then its report dword.

    Parameters
    ----------
    port  : MemoryWritePort of the data.
    words : words of the RAM, a power of two.

    Attributes
    ----------
    As ``Writer``, and:

    user           : Endpoint(user_layout), **in**; not ready while the engine is off.
    passed         : **out**, number of bytes that came from the user in the last cycle.
    status_address : 64, **in**, host address of the status block; the array of reports follows the block.
    ring_log2      : 4, **in**, log2 of the descriptors in the ring.
    """
    def __init__(self, port, words=WORDS):
        packets             = 32
        self.input          = PacketInput(port.data_width, words, reports=packets)
        self.writer         = writer = Writer(port, self.input.memory, packets,
            splitter=BufferSplitter(self.input))
        self.user           = self.input.sink
        self.passed         = self.input.passed
        self.status_address = self.splitter.status_address
        self.ring_log2      = self.splitter.ring_log2
        self.sink           = stream.Endpoint(descriptor_layout(None))
        self.boundary       = writer.boundary
        self.run            = writer.run
        self.issue          = writer.issue
        self.done           = done = Record(done_layout())
        self.idle           = writer.idle
        self.tlp            = Signal()
        self.moved          = writer.moved
        self.wait_tag       = writer.wait_tag
        self.wait_link      = writer.wait_link
        self.wait_data      = Signal()

        # # #

        report = Signal()
        self.comb += [
            self.sink.connect(writer.sink, omit={"packet_end"}),
            # The bytes of reports do not count as stream data.
            report.eq(writer.done.slot_last),
            done.eq(writer.done),
            If(report, done.bytes.eq(0)),
            self.tlp.eq(writer.done.valid & ~report & (writer.done.reason == REASON_NONE)),
            self.wait_data.eq(writer.wait_data
                | (self.splitter.busy & ~self.moved & ~self.wait_link)),
        ]
        # During a pause, the buffer that has begun may still fill.
        self.sync += self.input.enable.eq(self.issue & (self.run | self.splitter.busy))

    @property
    def splitter(self):
        return self.writer.splitter
