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
from litepcie_soc.dma.descriptor import Splitter, descriptor_layout, done_layout, request_layout

START_BYTES = 1024  # What a reader at rest may ask for at once.

# Reader -------------------------------------------------------------------------------------------


class Reader(LiteXModule):
    """Asks for the data of descriptors, and says when they are complete.

    Data goes from the transaction layer straight to its place in the endpoint memory, in any
    order. Requests retire in the order of issue, after their last byte was accepted there.

    Parameters
    ----------
    port   : MemoryReadPort of the data.
    memory : MemoryWriteStream of the endpoint memory.

    Attributes
    ----------
    sink     : Endpoint(descriptor_layout), in, sys.
    boundary : 16, in, sys, MRRS in bytes.
    run      : 1, in, sys, a new descriptor may begin.
    issue    : 1, in, sys, requests may be made; without, those made are only drained.
    done     : Record(done_layout), out, sys.
    idle     : 1, out, sys, nothing is under way.
    tlp      : 1, out, sys, a request left.
    moved    : 1, out, sys, data reached the memory in this cycle; else, at most one of
    wait_tag, wait_link, wait_data : 1, out, sys, for what the reader waits.
    """
    def __init__(self, port, memory):
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

        # Requests: held until accepted, whatever happens to the engine.
        self.splitter = splitter = Splitter(endpoint_width)
        self.issued   = issued   = stream.SyncFIFO(
            [("last_request", 1), ("slot_last", 1), ("interrupt", 1), ("reason", 4)],
            depth = port.tags + 2)  # The two that wait: in the port, and here.
        piece   = splitter.source
        request = stream.Endpoint(request_layout(endpoint_width))
        blocked = Signal()          # A reason was issued: nothing follows it.
        load    = Signal()
        words   = word_bits(port.data_width)
        ahead   = Signal((LENGTH_BITS - words + 2, True))  # Beats asked for too early,
        step    = Signal.like(ahead)                       # and what comes to them.
        early   = Signal()                                 # Not at rest: less with every cycle.
        asked   = Signal()                                 # In the last cycle.
        self.comb += [
            early.eq(~ahead[-1] | ahead[log2_int(START_BYTES) - words]),
            self.sink.connect(splitter.sink),
            splitter.boundary.eq(self.boundary),
            splitter.run.eq(self.run),
            piece.ready.eq(self.issue & ~blocked & issued.sink.ready & ahead[-1]
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
        self.sync += [
            asked.eq(load & (piece.reason == REASON_NONE)),
            step.eq(Mux(asked, request.length[words:] + request.length[words + 5:], 0) - early),
            ahead.eq(ahead + step),
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

        # Ends: a request with its retirement, a reason when everything before it has retired.
        over   = issued.source
        failed = Signal()
        self.comb += [
            port.retire.ready.eq(1),
            failed.eq(over.valid & (over.reason != REASON_NONE)),
            over.ready.eq(port.retire.valid | failed),
            self.idle.eq(~over.valid & ~request.valid & ~done.valid),
        ]
        self.sync += [
            done.valid.eq(over.ready),
            done.bytes.eq(Mux(failed, 0, port.retire.bytes)),
            done.last.eq(over.last_request),
            done.slot_last.eq(over.slot_last),
            done.interrupt.eq(over.interrupt),
            done.reason.eq(Mux(failed, over.reason, port.retire.reason)),
        ]

        # What happens in this cycle.
        self.comb += [
            self.moved.eq(memory.valid & memory.ready),
            If(~self.moved,
                If(request.valid & port.no_tag,
                    self.wait_tag.eq(1)
                ).Elif(request.valid & ~port.request.ready,
                    self.wait_link.eq(1)
                ).Elif(over.valid,
                    self.wait_data.eq(1)
                )
            )
        ]
