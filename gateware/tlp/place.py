#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Checked completions to their place in a client's space."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common import HEADER_3DW, LENGTH_BITS, TAG_BITS, word_bits
from litepcie_soc.tlp.check import checked_layout
from litepcie_soc.tlp.context import COST_BITS, REASON_KEPT_BITS
from litepcie_soc.tlp.realign import Realigner

# Placement ----------------------------------------------------------------------------------------

class Placement(LiteXModule):
    """Rotates the bytes of completions and hands them to the client of their tag, in the order they came.

    Beside the realigner runs a queue with one entry for each completion: whose it is, where it goes and
    what ends with it. The end of a request takes effect when its last byte was accepted.

    Parameters
    ----------
    data_width : int, bits.
    ports      : list of MemoryReadPort.
    contexts   : TagContexts, told of requests that are over.

    Attributes
    ----------
    sink         : stream of `checked_layout`, **in**, `sys`.
    release      : Signal(), **out**, all completions of a request came,
    release_cost : Signal(7), **out**, and it had this cost.
    """
    def __init__(self, data_width, ports, contexts):
        client_bits       = len(contexts.context.client)
        self.sink         = sink = stream.Endpoint(checked_layout(data_width, client_bits))
        self.release      = Signal()
        self.release_cost = Signal(COST_BITS)

        # # #

        offset_bits = word_bits(data_width)

        self.realigner = realigner = Realigner(data_width)
        self.queue     = queue     = stream.SyncFIFO([
            ("empty", 1), ("client", client_bits), ("address", 32 - offset_bits), ("done", 1), ("tag", TAG_BITS),
            ("lap", 1), ("reason", REASON_KEPT_BITS), ("bytes", LENGTH_BITS), ("cost", COST_BITS),
        ], depth=4)

        # In ---------------------------------------------------------------------------------------
        self.comb += [
            sink.ready.eq((sink.empty | realigner.sink.ready) & (~sink.first | queue.sink.ready)),
            realigner.sink.valid.eq(sink.valid & ~sink.empty & (~sink.first | queue.sink.ready)),
            realigner.sink.first.eq(sink.first),
            realigner.sink.last.eq(sink.last),
            realigner.sink.dat.eq(sink.dat),
            realigner.sink.in_offset.eq(HEADER_3DW + sink.lower),
            realigner.sink.out_offset.eq(sink.destination[:offset_bits]),
            realigner.sink.length.eq(sink.chunk),
            queue.sink.valid.eq(sink.valid & sink.first & (sink.empty | realigner.sink.ready)),
            queue.sink.address.eq(sink.destination[offset_bits:]),
            *[getattr(queue.sink, name).eq(getattr(sink, name))
                for name in ("empty", "client", "done", "tag", "lap", "reason", "bytes", "cost")],
        ]

        # Out --------------------------------------------------------------------------------------
        head    = queue.source
        placed  = realigner.source
        ready   = Signal()
        next_address = Signal(32 - offset_bits)
        address      = Signal(32 - offset_bits)
        self.comb += [
            address.eq(Mux(placed.first, head.address, next_address)),
            Case(head.client, {n: ready.eq(port.data.ready) for n, port in enumerate(ports)}),
            placed.ready.eq(ready & head.valid & ~head.empty),
            head.ready.eq(head.empty | (placed.valid & placed.ready & placed.last)),
        ]
        for n, port in enumerate(ports):
            self.comb += [
                port.data.valid.eq(placed.valid & head.valid & ~head.empty & (head.client == n)),
                port.data.first.eq(placed.first),
                port.data.last.eq(placed.last),
                port.data.address.eq(address),
                port.data.dat.eq(placed.dat),
                port.data.be.eq(placed.be),
            ]
        self.sync += If(placed.valid & placed.ready, next_address.eq(address + 1))

        # End of a request -------------------------------------------------------------------------
        finish = contexts.finish
        over   = Signal()
        self.comb += over.eq(head.valid & head.ready & head.done)
        self.sync += [
            finish.write.eq(over),
            finish.tag.eq(head.tag),
            finish.lap.eq(head.lap),
            finish.reason.eq(head.reason),
            finish.bytes.eq(head.bytes),
            self.release.eq(over),
            self.release_cost.eq(head.cost),
        ]
