#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Splitter of a stream's writer: fills buffers with user packets, and makes their requests."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common import abi
from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.dma.descriptor import descriptor_layout, piece_layout

# Buffer Splitter ----------------------------------------------------------------------------------


class BufferSplitter(LiteXModule):
    """Fills buffers with the packets of a ``PacketInput``, and reports what each buffer holds.

    A ring slot is a buffer: one descriptor, or all descriptors of its table. A buffer is complete when it is full or
    a packet ends in it; the rest of its table is then skipped. A report follows the data of each buffer. It is
    a request of four bytes with ``slot_last``; no other request has that flag.

    A request is the payload of one TLP: it ends at a multiple of ``boundary``, at the end of the descriptor or at the
    end of the packet. It is issued when all its bytes are in the RAM. A request takes three cycles or more.

    With ``flush``, a buffer that holds data, or for which data waits in the RAM, does not wait for more: a request
    sends what is in the RAM, and the buffer is complete. Its report says that the packet goes on.

    A packet that was cut has its own buffers too, and none of them ends it. The report of the buffer after them says
    that this buffer begins another packet. Thus the host learns of the cut also if it has all bytes of the packet.

    Parameters
    ----------
    packet_input : PacketInput that holds the packets.

    Attributes
    ----------
    sink, source, boundary, run, busy : as in ``Splitter``. A request is at most half of the RAM.
    status_address : 64, **in**, host address of the status block; the array of reports follows the block.
    ring_log2      : 4, **in**, log2 of the descriptors in the ring.
    pending        : 1, **out**, there is a buffer, and data in it or for it.
    flush          : 1, **in**, completes the buffer; valid with ``pending``.
    """
    def __init__(self, packet_input):
        endpoint_width      = bits_for(packet_input.memory.size - 1)
        self.sink           = stream.Endpoint(descriptor_layout(endpoint_width))
        self.source         = stream.Endpoint(piece_layout(endpoint_width))
        self.boundary       = Signal(16)
        self.run            = Signal()
        self.busy           = Signal()
        self.status_address = Signal(64)
        self.ring_log2      = Signal(4)
        self.pending        = Signal()
        self.flush          = Signal()

        # # #

        self.input = packet_input
        self.host       = Signal(64)  # Host address of the next request.
        self.rest       = Signal(25)  # Bytes left in the descriptor, plus the offset of ``host`` in its block.
        self.interrupt  = Signal()    # A descriptor of the slot had INTERRUPT.
        self.slot_last  = Signal()
        self.reason     = Signal(4)
        self.bytes      = Signal(24)  # Bytes in the buffer so far.
        self.packet_end = Signal()    # A packet ended in the buffer.
        self.flushed    = Signal()    # The buffer is complete, and no packet ended in it.
        self.begins     = Signal()    # The packet before the buffer was cut.
        self.cut        = Signal()    # The packet in the buffer was cut.
        self.add_measure()
        self.add_slot()
        self.add_requests()

    # Length of a request --------------------------------------------------------------------------

    def add_measure(self):
        """Computes the length of the next request in two steps: what fits, and how much of it is available.

        Both steps run in every cycle, as bytes become available while a request waits for them.
        """
        end, filled = self.input.end, self.input.filled
        most        = 1 << len(filled) - 1
        self.size   = size  = Signal(13)                 # Bytes of a block: TLPs end at its multiples.
        self.mask   = mask  = Signal(12)
        self.front  = front = Signal(len(filled))        # Offset in the RAM of the next byte to send.
        self.want   = want  = Signal(13)                 # Bytes that fit in the request.
        self.full   = Signal()                           # These fill the descriptor.
        self.length = Signal(13)
        self.enough = Signal()                           # A request can be issued.
        self.final  = Signal()                           # The packet ends with this request.
        self.void   = Signal()                           # The packet was cut, and all its bytes were sent before.
        outer = Signal(len(self.rest) - 7)               # Whole blocks of ``rest``, in units of 128 bytes.
        full  = Signal()
        self.available = available = Signal(len(filled)) # Bytes of the packet in the RAM.
        self.ends      = ends      = Signal()            # The packet ends after these bytes.
        limit = Mux(self.boundary > most, most, self.boundary)
        self.comb += [
            outer.eq(self.rest[7:] & ~mask[7:]),
            full.eq((outer == 0) | ((outer == size[7:]) & (self.rest & mask == 0))),
        ]
        self.sync += [
            size.eq(limit),
            mask.eq(limit - 1),
            want.eq(Mux(full, self.rest[:13], size) - (self.host & mask)),
            self.full.eq(full),
            available.eq(Mux(end.valid, end.offset, filled) - front),
            ends.eq(end.valid),
            self.void.eq(ends & (available == 0)),
            self.enough.eq(Mux(ends, available != 0, available >= want)),
            self.final.eq(ends & (available <= want)),
            self.length.eq(Mux(ends & (available <= want), available, want)),
        ]

    # Slots and their reports ----------------------------------------------------------------------

    def add_slot(self):
        self.slot           = slot = Signal(12)
        self.report_address = Signal(64)
        following           = Signal(13)
        dword               = Signal(13)   # Dword offset of the report from the status block.
        self.comb += [
            following.eq(slot + 1),
            self.input.report.eq(Cat(self.bytes, self.packet_end, self.begins)),
        ]
        self.sync += [
            # Takes two cycles, which is early enough: reports are several cycles apart.
            dword.eq(slot + abi.REPORT_OFFSET // abi.REPORT_BYTES),
            self.report_address.eq(self.status_address + (dword << log2_int(abi.REPORT_BYTES))),
            If(self.input.put,
                slot.eq(following),
                If((following >> self.ring_log2)[0], slot.eq(0)),
                self.bytes.eq(0),
                self.packet_end.eq(0),
                self.flushed.eq(0),
                self.begins.eq(self.cut),
                self.cut.eq(0),
                self.interrupt.eq(0)
            )
        ]

    # Requests -------------------------------------------------------------------------------------

    def add_requests(self):
        sink, source, inner = self.sink, self.source, self.input
        self.part = Signal(len(self.available))   # Bytes of a request that a flush makes.
        word_bits = inner.word_bits
        self.fsm  = fsm = FSM(reset_state="IDLE")
        self.comb += [
            self.busy.eq(~fsm.ongoing("IDLE")),
            source.reason.eq(self.reason),
            self.pending.eq(~self.flushed & ((self.bytes != 0) | (self.busy & (self.available != 0)))),
        ]
        # The end leaves its queue before the next request is measured.
        self.sync += inner.end.ready.eq(
            fsm.ongoing("REQUEST") & (self.void | (source.valid & source.ready & self.final)))
        fsm.act("IDLE",
            sink.ready.eq(self.run),
            NextValue(self.host, sink.host),
            NextValue(self.rest, sink.length + (sink.host[:12] & self.mask)),
            NextValue(self.slot_last, sink.slot_last),
            NextValue(self.reason, sink.reason),
            If(sink.valid & sink.ready,
                NextValue(self.interrupt, self.interrupt | sink.interrupt),
                NextState("FIT"),
                If(sink.reason != REASON_NONE,
                    NextState("REASON")
                ).Elif(self.packet_end | self.flushed,
                    # The buffer is complete: skip the rest of its table.
                    NextState("IDLE"),
                    If(sink.slot_last, NextState("REPORT"))
                )
            )
        )
        fsm.act("FIT",   NextState("COUNT"))
        fsm.act("COUNT", NextState("REQUEST"))
        fsm.act("REQUEST",
            source.valid.eq(self.enough),
            source.host.eq(self.host),
            source.endpoint.eq(self.front),
            source.length.eq(self.length),
            # The last request of a slot is its report.
            source.last.eq((self.final | self.full) & ~self.slot_last),
            If(source.valid & source.ready,
                # The next request begins at a boundary, so its address needs no carry from the length.
                NextValue(self.host, (self.host | self.mask) + 1),
                NextValue(self.rest, self.rest - self.size),
                NextValue(self.bytes, self.bytes + self.length),
                NextValue(self.front, self.front + self.want),
                NextState("FIT"),
                If(self.final,
                    NextValue(self.packet_end, ~inner.end.cut),
                    NextValue(self.flushed, inner.end.cut),
                    NextValue(self.cut, inner.end.cut),
                    # The next packet begins with a word.
                    NextValue(self.front, Cat(Replicate(0, word_bits),
                        inner.end.offset[word_bits:] + (inner.end.offset[:word_bits] != 0)))
                ),
                If(self.final | self.full,
                    NextState("IDLE"),
                    If(self.slot_last, NextState("REPORT"))
                )
            ).Elif(self.void,
                If(self.bytes == 0,
                    # The next packet takes the buffer. Its end can be at the head of the queue after two cycles.
                    NextValue(self.begins, 1),
                    NextState("SKIP")
                ).Else(
                    NextValue(self.flushed, 1),
                    NextValue(self.cut, 1),
                    NextState("IDLE"),
                    If(self.slot_last, NextState("REPORT"))
                )
            ).Elif(self.flush & ~self.enough & ~self.ends & (self.available < self.want),
                # ``length`` of the request must not grow while it waits for the port.
                NextValue(self.part, self.available),
                NextValue(self.flushed, 1),
                NextState("FLUSH")
            )
        )
        fsm.act("SKIP", NextState("FIT"))
        fsm.act("FLUSH",
            source.valid.eq(self.part != 0),
            source.host.eq(self.host),
            source.endpoint.eq(self.front),
            source.length.eq(self.part),
            source.last.eq(~self.slot_last),
            If(source.ready | ~source.valid,
                NextValue(self.bytes, self.bytes + self.part),
                NextValue(self.front, self.front + self.part),
                NextState("IDLE"),
                If(self.slot_last, NextState("REPORT"))
            )
        )
        fsm.act("REPORT",
            source.valid.eq(1),
            source.host.eq(self.report_address),
            source.endpoint.eq(Cat(Replicate(0, word_bits), inner.report_at)),
            source.endpoint[-1].eq(1),
            source.length.eq(abi.REPORT_BYTES),
            source.last.eq(1),
            source.slot_last.eq(1),
            source.interrupt.eq(self.interrupt),
            If(source.ready,
                inner.put.eq(1),
                NextState("IDLE")
            )
        )
        fsm.act("REASON",
            source.valid.eq(1),
            If(source.ready, NextState("IDLE"))
        )
