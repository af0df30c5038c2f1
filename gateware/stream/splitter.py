#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Cuts buffers into the packets of a stream that fill them."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common import REASON_NONE
from litepcie_soc.dma.descriptor import descriptor_layout, request_layout
from litepcie_soc.soc import abi

# Buffer Splitter ----------------------------------------------------------------------------------


class BufferSplitter(LiteXModule):
    """Fills buffers with what is in a ``PacketInput``, and says of each what it holds.

    A slot of the ring is a buffer: one descriptor, or those of its table. It is complete when full
    or at the end of a packet; what is left of its table then is passed over. Its report goes behind
    its data, as a request of four bytes with ``slot_last``, which no other request has.

    A request is for as much as goes in one TLP: up to ``boundary``, to the end of the descriptor or
    of the packet. It is made when all of that is in the RAM. One takes two cycles or more.

    Parameters
    ----------
    source_of : PacketInput.

    Attributes
    ----------
    sink, source, boundary, run, busy : as ``Splitter``. Requests are for half of the RAM at most.
    status_address : 64, in, sys, host address of the status block; the array of the reports is
        behind it.
    ring_log2      : 4, in, sys, log2 of the descriptors of the ring.
    """
    def __init__(self, source_of):
        endpoint_width      = bits_for(source_of.memory.size - 1)
        self.sink           = stream.Endpoint(descriptor_layout(endpoint_width))
        self.source         = stream.Endpoint(request_layout(endpoint_width))
        self.boundary       = Signal(16)
        self.run            = Signal()
        self.busy           = Signal()
        self.status_address = Signal(64)
        self.ring_log2      = Signal(4)

        # # #

        self.input = source_of
        self.host       = Signal(64)  # Of what is not requested yet,
        self.left       = Signal(24)  # and its bytes.
        self.interrupt  = Signal()    # Of the slot.
        self.slot_last  = Signal()
        self.reason     = Signal(4)
        self.bytes      = Signal(24)  # In the buffer,
        self.packet_end = Signal()    # whose last byte is the packet's.
        self.add_measure()
        self.add_slot()
        self.add_requests()

    # What there is --------------------------------------------------------------------------------

    def add_measure(self):
        """``want`` of ``there`` bytes, as of the cycle before: one cycle to look, one to ask."""
        end, filled = self.input.end, self.input.filled
        most        = 1 << len(filled) - 1
        boundary    = Signal(13)
        mask        = Signal(12)
        room        = Signal(13)
        self.mask   = mask
        self.front  = front = Signal(len(filled))  # Byte offset of the next byte.
        self.want   = Signal(13)
        self.full   = Signal()                     # They fill the descriptor.
        self.there  = Signal(len(filled))
        self.ends   = Signal()                     # No more come: the packet ends behind them.
        self.comb += [
            boundary.eq(self.boundary if most >= 4096 else
                Mux(self.boundary > most, most, self.boundary)),
            mask.eq(boundary - 1),
            room.eq(boundary - (self.host & mask)),
        ]
        self.sync += [
            self.want.eq(Mux(self.left <= room, self.left, room)),
            self.full.eq(self.left <= room),
            self.there.eq(Mux(end.valid, end.offset, filled) - front),
            self.ends.eq(end.valid),
        ]

    # Slots and their reports ----------------------------------------------------------------------

    def add_slot(self):
        self.slot           = slot = Signal(12)
        self.report_address = Signal(64)
        following           = Signal(13)
        self.comb += [
            following.eq(slot + 1),
            self.input.report.eq(Cat(self.bytes, self.packet_end)),
        ]
        self.sync += [
            # Well before it is used: a report is several cycles behind the one before.
            self.report_address.eq(self.status_address + abi.REPORT_OFFSET
                + (slot << log2_int(abi.REPORT_BYTES))),
            If(self.input.put,
                slot.eq(following),
                If((following >> self.ring_log2)[0], slot.eq(0)),
                self.bytes.eq(0),
                self.packet_end.eq(0),
                self.interrupt.eq(0)
            )
        ]

    # Requests -------------------------------------------------------------------------------------

    def add_requests(self):
        sink, source, inner = self.sink, self.source, self.input
        word_bits = log2_int(inner.memory.data_width // 8)
        final     = Signal()   # The packet ends with this request.
        self.fsm  = fsm = FSM(reset_state="IDLE")
        self.comb += [
            final.eq(self.ends & (self.there <= self.want)),
            self.busy.eq(~fsm.ongoing("IDLE")),
            source.reason.eq(self.reason),
            source.interrupt.eq(self.interrupt),
        ]
        fsm.act("IDLE",
            sink.ready.eq(self.run),
            If(sink.valid & sink.ready,
                NextValue(self.host, sink.host),
                NextValue(self.left, sink.length),
                NextValue(self.interrupt, self.interrupt | sink.interrupt),
                NextValue(self.slot_last, sink.slot_last),
                NextValue(self.reason, sink.reason),
                NextState("MEASURE"),
                If(sink.reason != REASON_NONE,
                    NextState("REASON")
                ).Elif(self.packet_end,
                    # Passed over.
                    NextState("IDLE"),
                    If(sink.slot_last, NextState("REPORT"))
                )
            )
        )
        fsm.act("MEASURE", NextState("REQUEST"))
        fsm.act("REQUEST",
            source.valid.eq(self.ends | (self.there >= self.want)),
            source.host.eq(self.host),
            source.endpoint.eq(self.front),
            source.length.eq(Mux(final, self.there, self.want)),
            # The last one of a slot is its report.
            source.last.eq((final | self.full) & ~self.slot_last),
            If(source.valid & source.ready,
                # Only what follows a boundary needs an address: no carry from the length.
                NextValue(self.host, (self.host | self.mask) + 1),
                NextValue(self.left, self.left - self.want),
                NextValue(self.bytes, self.bytes + source.length),
                NextValue(self.front, self.front + self.want),
                NextState("MEASURE"),
                If(final,
                    inner.end.ready.eq(1),
                    NextValue(self.packet_end, 1),
                    # The next packet begins with a word.
                    NextValue(self.front, Cat(Replicate(0, word_bits),
                        inner.end.offset[word_bits:] + (inner.end.offset[:word_bits] != 0)))
                ),
                If(final | self.full,
                    NextState("IDLE"),
                    If(self.slot_last, NextState("REPORT"))
                )
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
            If(source.ready,
                inner.put.eq(1),
                NextState("IDLE")
            )
        )
        fsm.act("REASON",
            source.valid.eq(1),
            If(source.ready, NextState("IDLE"))
        )
