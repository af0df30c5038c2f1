#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Splitter of a stream's writer: gateware/stream_dma/splitter.py."""

from types import SimpleNamespace

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common import abi
from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.stream_dma import splitter

from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

OFFSET_BITS = 9     # Of a RAM of 512 bytes.
WORD_BITS   = 3

# Properties ---------------------------------------------------------------------------------------


class BufferSplitterCovers(Harness):
    """Requests carry consecutive bytes of a packet into consecutive bytes of a descriptor; none crosses the boundary.

    They never reach past the descriptor, the packet's end or the bytes that are in the RAM; a descriptor is left only
    when it is full, the packet has ended or the buffer was flushed. For any packets, descriptors, boundaries, flushes
    and back-pressure. Assumed: the boundary is constant and set two cycles before `run`; the input keeps to the
    docstring of `PacketInput`; `flush` follows `pending` by a cycle at most.
    """
    def __init__(self):
        Harness.__init__(self)
        self.packets_in = inner = SimpleNamespace(
            memory    = SimpleNamespace(size=4 << OFFSET_BITS),
            word_bits = WORD_BITS,
            end       = stream.Endpoint([("offset", OFFSET_BITS)]),
            filled    = Signal(OFFSET_BITS),
            report    = Signal(25),
            put       = Signal(),
            report_at = Signal(5),
        )
        self.dut = dut = splitter.BufferSplitter(inner)
        sink, source   = dut.sink, dut.source
        self.free(sink, source.ready, dut.run, inner.end.valid, inner.end.offset, inner.filled, inner.report_at,
            dut.flush)
        self.constant(dut.boundary, dut.status_address, dut.ring_log2)
        self.tied(source.first, "end_first", "end_last")
        most = 1 << OFFSET_BITS - 1
        self.assume("boundary", Reduce("OR", [dut.boundary == 1 << n for n in range(7, 13)]))
        self.assume("set_before_run", ~dut.run | self.previous(~self.first_cycle))
        self.assume("descriptor", (sink.length != 0) & (Cat(sink.host, Constant(0, 1)) + sink.length <= 1 << 64))

        self.assume("flush", ~dut.flush | dut.pending | self.previous(dut.pending))

        # The input: whole words enter; an end is offered until it is taken, and lies in the words that are there ----
        before = self.previous(inner.filled)
        grown  = Signal(OFFSET_BITS)
        level  = Signal(OFFSET_BITS)    # Bytes that entered and were not sent.
        part   = Signal(OFFSET_BITS)    # Bytes of the packet that were not sent.
        taken  = self.previous(dut.fsm.ongoing("REQUEST") & source.valid & source.ready & dut.final)
        self.comb += [
            grown.eq(inner.filled - before),
            level.eq(inner.filled - dut.front),
            part.eq(inner.end.offset - dut.front),
        ]
        full = self.previous(level) >= (1 << OFFSET_BITS) - 16
        self.assume("words", (grown == 0) | ((grown == 8) & ~full))
        waits = self.previous(inner.end.valid & ~inner.end.ready)
        self.assume("end_waits", ~waits | (inner.end.valid & (inner.end.offset == self.previous(inner.end.offset))))
        self.assume("end_is_there", ~inner.end.valid | inner.end.ready | taken | ((part != 0) & (part <= level)))
        # An end that did not wait behind another one comes with the last word of its packet.
        comes = inner.end.valid & ~self.previous(inner.end.valid)
        self.assume("end_comes_with_its_word", ~comes | ((grown == 8) & (part + 8 > level)))

        # What is left of the descriptor -----------------------------------------------------------
        host  = Signal(64)
        left  = Signal(24)
        place = Signal(OFFSET_BITS)
        ended = Signal()
        data  = Signal()
        final = Signal()
        flush = Signal()
        size  = Signal(14)
        offset = Signal(13)
        self.comb += [
            size.eq(Mux(dut.boundary > most, most, dut.boundary)),
            offset.eq(source.host & (size - 1)),
            flush.eq(dut.fsm.ongoing("FLUSH") & source.valid),
            data.eq((dut.fsm.ongoing("REQUEST") & source.valid) | flush),
            final.eq(dut.final & ~flush),
        ]
        self.sync += [
            If(sink.valid & sink.ready, host.eq(sink.host), left.eq(sink.length)),
            If(data & source.ready, host.eq(host + source.length), left.eq(left - source.length),
                place.eq(Mux(final, Cat(Constant(0, WORD_BITS),
                    inner.end.offset[WORD_BITS:] + (inner.end.offset[:WORD_BITS] != 0)), place + source.length)),
                ended.eq(final)),
        ]
        self.implies("not_empty", data, source.length != 0)
        self.implies("covers_host", data, source.host == host)
        self.implies("covers_packet", data, source.endpoint == place)
        self.implies("within_descriptor", data, source.length <= left)
        self.implies("within_boundary", data, offset + source.length <= size)
        self.implies("within_4_kib", data, source.host[:12] + source.length <= 4096)
        self.implies("within_ram", data, source.length <= level)
        self.implies("within_packet", data & inner.end.valid, source.length <= part)
        self.implies("final_ends_packet", data & final, inner.end.valid & (source.length == part))
        self.implies("left_when_full", data & dut.full & ~final & ~flush, source.length == left)
        self.implies("flush_keeps_the_end", flush & inner.end.valid, source.length < part)
        self.implies("flush_waits", self.previous(flush & ~source.ready),
            flush & (source.length == self.previous(source.length)))
        report = dut.fsm.ongoing("REPORT")
        self.implies("report", report, source.valid & source.slot_last & (source.length == abi.REPORT_BYTES))
        self.implies("report_after_data", report, (left == 0) | ended | dut.packet_end | dut.flushed)
        self.implies("reason", dut.fsm.ongoing("REASON"), source.reason != REASON_NONE)

# Proofs -------------------------------------------------------------------------------------------

PROOFS = [
    Proof("stream splitter", BufferSplitterCovers, depth=12),
    Proof("stream splitter, longer", BufferSplitterCovers, depth=18, deep=True),
]

MUTANTS = [
    Mutant("rest_without_offset", PROOFS[0], splitter, "sink.length + (sink.host[:12] & self.mask)", "sink.length"),
    Mutant("ignores_the_end", PROOFS[0], splitter, "self.length.eq(Mux(ends & (available <= want), available, want))",
        "self.length.eq(want)"),
    Mutant("sends_what_is_not_there", PROOFS[0], splitter, "ends | (available >= want)", "ends | (available != 0)"),
    Mutant("flush_of_a_whole_request", PROOFS[0], splitter, "& (self.available < self.want)", ""),
    Mutant("flush_sends_what_came_later", PROOFS[0], splitter, "source.length.eq(self.part)",
        "source.length.eq(self.available)"),
]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
