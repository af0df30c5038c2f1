#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""DMA reader: host memory to endpoint memory."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import LENGTH_BITS, REASON_NONE, word_bits
from litepcie_soc.dma.descriptor import QUICK_BITS, descriptor_layout, done_layout, piece_layout, splitter_for

START_BYTES = 1024  # An idle reader requests about this much without pacing.

# Reader -------------------------------------------------------------------------------------------


class Reader(LiteXModule):
    """Requests the data of descriptors, writes it to endpoint memory and reports completion.

    Data goes from the transaction layer straight to its address in the endpoint memory, in any
    order. Requests retire in issue order, each after the memory accepted its last byte.

    After the first ``START_BYTES``, the reader issues requests slightly slower than the data path moves data.
    Faster requests would only queue more completions at the host, and descriptor fetches would wait in that queue.

    Parameters
    ----------
    port     : MemoryReadPort of the data.
    memory   : MemoryWriteStream of the endpoint memory.
    splitter : cuts descriptors into requests, with the ports of ``Splitter``; ``splitter_for`` makes it if None.

    Attributes
    ----------
    sink     : Endpoint(descriptor_layout), **in**.
    boundary : 16, **in**, MRRS in bytes.
    run      : 1, **in**, a new descriptor may begin.
    issue    : 1, **in**, requests may be issued; without it, outstanding requests only drain.
    done     : Record(done_layout), **out**.
    idle     : 1, **out**, nothing is in flight.
    tlp      : 1, **out**, a request was accepted by the transaction layer.
    moved    : 1, **out**, the memory accepts data in this cycle.
    wait_tag, wait_link, wait_data : 1, **out**, what the reader waits for; at most one, and none with ``moved``.
    """
    def __init__(self, port, memory, splitter=None):
        endpoint_width = bits_for(memory.size - 1)
        self.sink      = stream.Endpoint(descriptor_layout(endpoint_width))
        self.boundary  = Signal(16)
        self.run       = Signal()
        self.issue     = Signal()
        self.done      = done = Record(done_layout())
        self.idle      = Signal()
        self.tlp       = Signal()
        self.moved     = Signal()
        self.wait_tag  = Signal()
        self.wait_link = Signal()
        self.wait_data = Signal()

        # # #

        # Requests. One that is valid stays so until it is accepted, even if the engine stops.
        self.splitter = splitter = splitter or splitter_for(port.data_width, endpoint_width)
        self.issued   = issued   = stream.SyncFIFO(
            [("last_request", 1), ("slot_last", 1), ("interrupt", 1), ("reason", 4)],
            depth = port.tags + 2)  # Two more than the tags: one request waits in the port, one here.
        piece   = splitter.source
        request = stream.Endpoint(piece_layout(endpoint_width))
        blocked = Signal()          # A reason was issued: nothing follows it.
        load    = Signal()
        words   = word_bits(port.data_width)
        # Pacing, as a leaky bucket: it fills by 33/32 of the beats of each request and leaks a beat per
        # cycle, down to about -START_BYTES. Requests may be issued while it is negative.
        bucket  = Signal((LENGTH_BITS - words + 2, True))
        step    = Signal.like(bucket)
        leak    = Signal()
        small   = Signal((LENGTH_BITS - words - 5 + 1, True))  # Of `step`: 1/32 of the beats, and `leak`.
        issued_one = Signal()       # A request was issued in the last cycle.
        self.comb += [
            leak.eq(~bucket[-1] | bucket[log2_int(START_BYTES) - words]),
            small.eq(Mux(issued_one, request.length[words + 5:], 0) - leak),
            self.sink.connect(splitter.sink),
            splitter.boundary.eq(self.boundary),
            splitter.run.eq(self.run),
            piece.ready.eq(self.issue & ~blocked & issued.sink.ready & bucket[-1]
                & (~request.valid | port.request.ready)),
            load.eq(piece.valid & piece.ready),
            issued.sink.valid.eq(load),
            issued.sink.last_request.eq(piece.last),
            issued.sink.slot_last.eq(piece.slot_last),
            issued.sink.interrupt.eq(piece.interrupt),
            issued.sink.reason.eq(piece.reason),
            port.request.valid.eq(request.valid),
            port.request.address.eq(request.host),
            port.request.length.eq(request.length),
            port.request.destination.eq(request.endpoint),
            self.tlp.eq(port.request.valid & port.request.ready),
        ]
        if port.data_width >= QUICK_BITS:
            self.comb += port.soon.eq(load & ~request.valid & (piece.reason == REASON_NONE))
        self.sync += [
            issued_one.eq(load & (piece.reason == REASON_NONE)),
            step.eq(Mux(issued_one, request.length[words:], 0) + small),
            bucket.eq(bucket + step),
            If(port.request.ready, request.valid.eq(0)),
            If(load,
                request.valid.eq(piece.reason == REASON_NONE),
                request.host.eq(piece.host),
                request.length.eq(piece.length),
                request.endpoint.eq(piece.endpoint),
                If(piece.reason != REASON_NONE, blocked.eq(1))
            )
        ]

        # Data.
        self.comb += [
            memory.valid.eq(port.data.valid),
            memory.address.eq(port.data.address),
            memory.dat.eq(port.data.dat),
            memory.be.eq(port.data.be),
            port.data.ready.eq(memory.ready),
        ]

        # Completion: a request is done when it retires, a reason when everything before it has retired.
        oldest = issued.source
        failed = Signal()
        self.comb += [
            port.retire.ready.eq(1),
            failed.eq(oldest.valid & (oldest.reason != REASON_NONE)),
            oldest.ready.eq(port.retire.valid | failed),
            self.idle.eq(~oldest.valid & ~request.valid & ~done.valid),
        ]
        done.bytes.reset_less = True
        self.sync += [
            done.valid.eq(oldest.ready),
            done.bytes.eq(Mux(failed, 0, port.retire.bytes)),   # By the reset input of the flip-flops.
            done.last.eq(oldest.last_request),
            done.slot_last.eq(oldest.slot_last),
            done.interrupt.eq(oldest.interrupt),
            done.reason.eq(Mux(failed, oldest.reason, port.retire.reason)),
        ]

        # Events of this cycle, for the counters.
        self.comb += [
            self.moved.eq(memory.valid & memory.ready),
            If(~self.moved,
                If(request.valid & port.no_tag,
                    self.wait_tag.eq(1)
                ).Elif(request.valid & ~port.request.ready,
                    self.wait_link.eq(1)
                ).Elif(oldest.valid,
                    self.wait_data.eq(1)
                )
            )
        ]
