#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Cuts buffers into the packets of a stream that fill them."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common import abi
from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.dma.descriptor import descriptor_layout, piece_layout

# Buffer Splitter ----------------------------------------------------------------------------------


class BufferSplitter(LiteXModule):
    """Fills buffers with what is in a ``PacketInput``, and says of each what it holds.

    A slot of the ring is a buffer: one descriptor, or those of its table. It is complete when full
    or at the end of a packet; what is left of its table then is passed over. Its report goes behind
    its data, as a request of four bytes with ``slot_last``, which no other request has.

    A request is for as much as goes in one TLP: up to ``boundary``, to the end of the descriptor or
    of the packet. It is made when all of that is in the RAM. One takes three cycles or more.

    Parameters
    ----------
    packet_input : PacketInput, where the packets are.

    Attributes
    ----------
    sink, source, boundary, run, busy : as ``Splitter``. Requests are for half of the RAM at most.
    status_address : 64, in, sys, host address of the status block; the array of the reports is
        behind it.
    ring_log2      : 4, in, sys, log2 of the descriptors of the ring.
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

        # # #

        self.input = packet_input
        self.host       = Signal(64)  # Of what is not requested yet,
        self.rest       = Signal(25)  # its bytes and those before it in its block.
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
        """How long the next request is, in two steps: what fits, and how much of it is there.

        Both go on all the time: what is there grows while a request waits for it.
        """
        end, filled = self.input.end, self.input.filled
        most        = 1 << len(filled) - 1
        self.size   = size  = Signal(13)                 # Of a block: TLPs end at its multiples.
        self.mask   = mask  = Signal(12)
        self.front  = front = Signal(len(filled))        # Byte offset of the next byte.
        self.want   = want  = Signal(13)                 # What fits,
        self.full   = Signal()                           # and fills the descriptor.
        self.length = Signal(13)
        self.enough = Signal()                           # A request can be made,
        self.final  = Signal()                           # and the packet ends with it.
        outer = Signal(len(self.rest) - 7)               # Whole blocks of ``rest``, by 128 bytes.
        full  = Signal()
        there = Signal(len(filled))
        ends  = Signal()                                 # No more come: behind them the packet ends.
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
            there.eq(Mux(end.valid, end.offset, filled) - front),
            ends.eq(end.valid),
            self.enough.eq(ends | (there >= want)),
            self.final.eq(ends & (there <= want)),
            self.length.eq(Mux(ends & (there <= want), there, want)),
        ]

    # Slots and their reports ----------------------------------------------------------------------

    def add_slot(self):
        self.slot           = slot = Signal(12)
        self.report_address = Signal(64)
        following           = Signal(13)
        dword               = Signal(13)   # From the status block.
        self.comb += [
            following.eq(slot + 1),
            self.input.report.eq(Cat(self.bytes, self.packet_end)),
        ]
        self.sync += [
            # Well before they are used: a report is several cycles behind the one before.
            dword.eq(slot + abi.REPORT_OFFSET // abi.REPORT_BYTES),
            self.report_address.eq(self.status_address + (dword << log2_int(abi.REPORT_BYTES))),
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
        word_bits = inner.word_bits
        self.fsm  = fsm = FSM(reset_state="IDLE")
        self.comb += [
            self.busy.eq(~fsm.ongoing("IDLE")),
            source.reason.eq(self.reason),
        ]
        # Gone before the next request is measured.
        self.sync += inner.end.ready.eq(
            fsm.ongoing("REQUEST") & source.valid & source.ready & self.final)
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
                ).Elif(self.packet_end,
                    # Passed over.
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
            # The last one of a slot is its report.
            source.last.eq((self.final | self.full) & ~self.slot_last),
            If(source.valid & source.ready,
                # Only what follows a boundary needs an address: no carry from the length.
                NextValue(self.host, (self.host | self.mask) + 1),
                NextValue(self.rest, self.rest - self.size),
                NextValue(self.bytes, self.bytes + self.length),
                NextValue(self.front, self.front + self.want),
                NextState("FIT"),
                If(self.final,
                    NextValue(self.packet_end, 1),
                    # The next packet begins with a word.
                    NextValue(self.front, Cat(Replicate(0, word_bits),
                        inner.end.offset[word_bits:] + (inner.end.offset[:word_bits] != 0)))
                ),
                If(self.final | self.full,
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
