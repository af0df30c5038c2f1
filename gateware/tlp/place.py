#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Checked completions to their place in a client's space."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import HEADER_3DW, LENGTH_BITS, REASON_BUS_MASTER, REASON_NONE, TAG_BITS, word_bits
from litepcie_soc.tlp.check import beats_layout, entry_layout
from litepcie_soc.tlp.context import COST_BITS, REASON_KEPT_BITS
from litepcie_soc.tlp.realign import Realigner, placement, placement_layout

# Placement ----------------------------------------------------------------------------------------

DEPTH = 16  # Of the queues: what a RAM of LUTs has. Beats wait for seven cycles until it is known where they go.


class Placement(LiteXModule):
    """Rotates the bytes of completions and hands them to the client of their tag, in the order they came.

    An entry of the check becomes two: in front of the realigner what it does with the next completion's beats,
    behind it whose they are, where they go and what ends with them. The end of a request takes effect when its last
    byte was accepted.

    Parameters
    ----------
    data_width : int, bits.
    ports      : list of MemoryReadPort.
    contexts   : TagContexts, told of requests that are over.

    Attributes
    ----------
    beats        : stream of `beats_layout`, **in**, `sys`.
    entry        : Record: `valid`, and `entry_layout`, **in**.
    room         : Signal(), **out**, for four entries.
    lost         : Signal(), **in**, the link went: requests that end well have not.
    release      : Signal(), **out**, all completions of a request came,
    release_cost : Signal(7), **out**, it had this cost,
    client       : **out**, and it was this client's.
    """
    def __init__(self, data_width, ports, contexts):
        client_bits       = len(contexts.context.client)
        offset_bits       = word_bits(data_width)
        self.beats        = stream.Endpoint(beats_layout(data_width))
        self.entry        = entry = Record([("valid", 1)] + entry_layout(data_width, client_bits))
        self.room         = Signal()
        self.lost         = Signal()
        self.release      = Signal()
        self.release_cost = Signal(COST_BITS)
        self.client       = Signal(client_bits)

        # # #

        self.realigner = realigner = Realigner(data_width)
        self.waiting   = waiting   = stream.SyncFIFO(beats_layout(data_width), depth=DEPTH, buffered=True)
        self.orders    = orders    = stream.SyncFIFO([("good", 1)] + placement_layout(offset_bits),
            depth=DEPTH, buffered=True)
        self.queue     = queue     = stream.SyncFIFO([
            ("empty", 1), ("client", client_bits), ("address", 32 - offset_bits), ("done", 1), ("tag", TAG_BITS),
            ("lap", 1), ("reason", REASON_KEPT_BITS), ("bytes", LENGTH_BITS), ("cost", COST_BITS),
        ], depth=DEPTH, buffered=True)

        # Entries ----------------------------------------------------------------------------------
        self.comb += [
            self.beats.connect(waiting.sink),
            orders.sink.valid.eq(entry.valid & entry.beats),
            orders.sink.good.eq(entry.good),
            *placement(orders.sink, HEADER_3DW + entry.lower, entry.destination[:offset_bits], entry.chunk),
            queue.sink.valid.eq(entry.valid & (entry.good | entry.done)),
            queue.sink.empty.eq(~entry.good),
            queue.sink.address.eq(entry.destination[offset_bits:]),
            *[getattr(queue.sink, name).eq(getattr(entry, name))
                for name in ("client", "done", "tag", "lap", "reason", "bytes", "cost")],
        ]
        # Half of the depth: the levels are a cycle old, and entries on their way.
        self.sync += self.room.eq((orders.level < DEPTH//2) & (queue.level < DEPTH//2))

        # In ---------------------------------------------------------------------------------------
        beat, head = waiting.source, orders.source
        self.comb += [
            realigner.sink.valid.eq(beat.valid & head.valid & head.good),
            realigner.sink.first.eq(beat.first),
            realigner.sink.last.eq(beat.last),
            realigner.sink.dat.eq(beat.dat),
            *[getattr(realigner.sink, name).eq(getattr(head, name)) for name, _ in placement_layout(offset_bits)],
            beat.ready.eq(head.valid & (realigner.sink.ready | ~head.good)),
            head.ready.eq(beat.valid & beat.last & (realigner.sink.ready | ~head.good)),
        ]

        # Out --------------------------------------------------------------------------------------
        end     = queue.source
        placed  = realigner.source
        ready   = Signal()
        next_address = Signal(32 - offset_bits)
        address      = Signal(32 - offset_bits)
        self.comb += [
            address.eq(Mux(placed.first, end.address, next_address)),
            Case(end.client, {n: ready.eq(port.data.ready) for n, port in enumerate(ports)}),
            placed.ready.eq(ready & end.valid & ~end.empty),
            end.ready.eq(end.empty | (placed.valid & placed.ready & placed.last)),
        ]
        for n, port in enumerate(ports):
            self.comb += [
                port.data.valid.eq(placed.valid & end.valid & ~end.empty & (end.client == n)),
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
        self.comb += over.eq(end.valid & end.ready & end.done)
        self.sync += [
            finish.write.eq(over),
            finish.tag.eq(end.tag),
            finish.lap.eq(end.lap),
            finish.reason.eq(end.reason),
            finish.bytes.eq(end.bytes),
            If(self.lost,
                If(end.reason == REASON_NONE, finish.reason.eq(REASON_BUS_MASTER)),
                finish.bytes.eq(0),
            ),
            self.release.eq(over),
            self.release_cost.eq(end.cost),
            self.client.eq(end.client),
        ]
