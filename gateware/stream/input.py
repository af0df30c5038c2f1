#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What the user of a stream gives, and what is told of it, as a memory that a writer reads."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.memory.ports import MemoryReadStream
from litepcie_soc.stream.ram import WORDS, StreamRAM, user_layout

# Constants ----------------------------------------------------------------------------------------

REPORT_BITS = 25  # [23:0] bytes of a buffer, [24] a packet ends with it.

# Packet Input -------------------------------------------------------------------------------------


class PacketInput(LiteXModule):
    """Takes packets into a RAM, each from a word on, and knows where they end.

    The memory a writer reads has this RAM twice as its lower half, for what goes on at the front
    of the RAM. Every word of its upper half is a report: what a buffer holds, for the host.

    Parameters
    ----------
    data_width, words : of the RAM, bits and a power of two.
    reports           : reports that can wait to be read, a power of two.
    packets           : ends that can wait.

    Attributes
    ----------
    sink      : Endpoint(user_layout), in, sys. ``be`` counts with ``last`` only, ``first`` never.
    enable    : 1, in, sys, without, nothing is taken.
    filled    : log2(bytes of the RAM), out, sys, byte offset behind the last word taken.
    end       : Endpoint (``offset``, behind the last byte of the oldest packet whose end is here),
        out, sys.
    report    : 25, in, sys, with ``put``: 1, becomes a report at
    report_at : log2(reports), out, sys.
    memory    : MemoryReadStream of four times the RAM's size; words before the one that was read
        last are free again.
    """
    def __init__(self, data_width, words=WORDS, reports=32, packets=16):
        lanes          = data_width // 8
        word_bits      = log2_int(lanes)
        self.sink      = sink = stream.Endpoint(user_layout(data_width))
        self.enable    = Signal()
        self.filled    = Signal(word_bits + log2_int(words))
        self.report    = Signal(REPORT_BITS)
        self.put       = Signal()
        self.report_at = Signal(max=reports)
        self.memory    = memory = MemoryReadStream(data_width, 4 * words * lanes)
        self.ends      = ends = stream.SyncFIFO([("offset", len(self.filled))], packets)
        self.end       = ends.source
        self.ram       = ram = StreamRAM(data_width, words,
            params=[("is_report", 1), ("report", REPORT_BITS)])

        # # #

        # User to RAM. One word stays free, so that full and empty differ.
        place = Signal(max=words)
        front = Signal(max=words)   # The word read last.
        ahead = Signal(max=words)
        taken = Signal()
        lane  = Signal(word_bits)   # Of the last byte: where ``be`` ends.
        edge  = Signal(lanes)
        self.comb += [
            ahead.eq(place + 1),
            sink.ready.eq(self.enable & (ahead != front) & ends.sink.ready),
            taken.eq(sink.valid & sink.ready),
            ram.write_address.eq(place),
            ram.write_data.eq(sink.dat),
            ram.write_enable.eq(taken),
            self.filled.eq(Cat(Replicate(0, word_bits), place)),
            edge.eq(sink.be & ~Cat(sink.be[1:], 0)),
            *[lane[bit].eq(Reduce("OR", [edge[n] for n in range(lanes) if n >> bit & 1]))
                for bit in range(word_bits)],
            ends.sink.valid.eq(taken & sink.last),
            ends.sink.offset.eq(Cat(lane, place) + 1),
        ]
        self.sync += If(taken, place.eq(ahead))

        # Reports.
        storage = Memory(REPORT_BITS, reports)
        write   = storage.get_port(write_capable=True)
        read    = storage.get_port(async_read=True)
        self.specials += storage, write, read
        self.comb += [
            write.adr.eq(self.report_at),
            write.dat_w.eq(self.report),
            write.we.eq(self.put),
        ]
        self.sync += If(self.put, self.report_at.eq(self.report_at + 1))

        # Both to the writer.
        command = memory.command
        self.comb += [
            command.connect(ram.sink, omit={"address"}),
            ram.sink.address.eq(command.address),
            ram.sink.is_report.eq(command.address[-1]),
            read.adr.eq(command.address),
            ram.sink.report.eq(read.dat_r),
            ram.source.connect(memory.data, omit={"dat", "is_report", "report"}),
            memory.data.dat.eq(Mux(ram.source.is_report, ram.source.report, ram.source.dat)),
        ]
        self.sync += If(command.valid & command.ready & ~command.address[-1],
            front.eq(command.address)
        )
