#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Reads of the clients on their way out: a tag, room for the completions, a context, then the request."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common import REASON_BITS, REASON_BUS_MASTER, RCB_BYTES, TAG_BITS, read_request_layout
from litepcie_soc.tlp.arbiter import round_robin
from litepcie_soc.tlp.context import COST_BITS
from litepcie_soc.tlp.request import request_layout

# Layouts ------------------------------------------------------------------------------------------

# A host may answer in completions of one Read Completion Boundary each. In the PHY's buffer each takes its
# data and a header, in units of 16 bytes (PCIe 4.0 2.6.1).
BLOCK_BYTES = RCB_BYTES + 16


def event_layout():
    """A request ends without a completion of the host; `lap` tells it from another use of its tag."""
    return [("tag", TAG_BITS), ("lap", 1), ("reason", REASON_BITS)]

# Read Issue ---------------------------------------------------------------------------------------

class ReadIssue(LiteXModule):
    """Takes requests of the clients round robin, at most one in three cycles.

    A request is issued when the completions of all outstanding ones, split as small as the host may, fit into
    the completion buffer with its own; a request larger than that is issued alone. While bus mastering is off
    or the link is down, nothing is sent and the request ends with REASON_BUS_MASTER.

    Parameters
    ----------
    data_width : int, bits.
    ports      : list of MemoryReadPort.
    windows    : list of TagWindow, of the same clients.
    contexts   : TagContexts.
    completion_buffer_bytes : int, of the PHY.

    Attributes
    ----------
    source : stream of `request_layout`, **out**, `sys`: reads.
    event  : stream of `event_layout`, **out**, `sys`: requests that cannot be sent.
    enable : Signal(), **in**, bus mastering is on and the link up.
    hold   : Signal(), **in**, no request is accepted.
    release, release_cost : **in**, all completions of a request of that cost came.
    idle   : Signal(), **out**, no request is inside.
    """
    def __init__(self, data_width, ports, windows, contexts, completion_buffer_bytes):
        blocks = completion_buffer_bytes//BLOCK_BYTES
        if blocks < 1:
            raise ValueError(f"completion_buffer_bytes must be at least {BLOCK_BYTES}, not "
                f"{completion_buffer_bytes!r}")
        self.source       = source = stream.Endpoint(request_layout(data_width))
        self.event        = event  = stream.Endpoint(event_layout())
        self.enable       = Signal()
        self.hold         = Signal()
        self.release      = Signal()
        self.release_cost = Signal(COST_BITS)
        self.idle         = Signal()

        # # #

        # Choose -----------------------------------------------------------------------------------
        held    = stream.Endpoint(stream.EndpointDescription(
            read_request_layout().payload_layout + [("client", len(contexts.issue.client))]))
        eligible = Signal(len(ports))
        grant    = Signal.like(held.client)
        accept   = Signal()
        write    = Signal()
        self.comb += [
            accept.eq(~held.valid & ~contexts.clearing & ~self.hold & (eligible != 0)),
            round_robin([eligible[n] for n in range(len(ports))], held.client, grant),
        ]
        chosen = stream.Endpoint(read_request_layout())
        tag    = Signal(TAG_BITS)
        lap    = Signal()
        cases  = {}
        for n, (port, window) in enumerate(zip(ports, windows)):
            cases[n] = [
                *[getattr(chosen, name).eq(getattr(port.request, name))
                    for name in ("address", "length", "destination")],
                tag.eq(window.head),
                lap.eq(window.head_lap),
                port.request.ready.eq(accept),
                window.take.eq(accept),
            ]
            self.comb += eligible[n].eq(port.request.valid & window.free)
        self.comb += Case(grant, cases)
        self.sync += [
            If(write, held.valid.eq(0)),
            If(accept,
                held.valid.eq(1),
                held.client.eq(grant),
                *[getattr(held, name).eq(getattr(chosen, name)) for name in ("address", "length", "destination")],
                contexts.issue.tag.eq(tag),
                contexts.issue.lap.eq(lap),
            ),
        ]

        # Cost: blocks touched, between the first and the last byte --------------------------------
        cost  = Signal(COST_BITS)
        known = Signal()    # The cost is.
        free  = Signal(max=max(blocks, 2**COST_BITS) + 1, reset=blocks)
        fits  = Signal()
        sent  = Signal()
        busy  = Signal()    # A request is on its way out.
        self.sync += [
            cost.eq((held.address[:6] + held.length + RCB_BYTES - 1) >> 6),
            known.eq(held.valid & ~write),
        ]
        self.comb += [
            fits.eq((cost <= free) | (free == blocks)),
            contexts.issue.write.eq(known & fits & ~busy),
            write.eq(contexts.issue.write & contexts.issue.ready),
        ]
        self.add_budget(free, blocks, write, cost)

        # Context ----------------------------------------------------------------------------------
        self.comb += [
            contexts.issue.client.eq(held.client),
            contexts.issue.end.eq(held.destination + held.length),
            contexts.issue.lower_end.eq(held.address[:7] + held.length),
            contexts.issue.length.eq(held.length),
            contexts.issue.cost.eq(cost),
        ]

        # Send -------------------------------------------------------------------------------------
        self.comb += [
            source.first.eq(1),
            source.last.eq(1),
            source.read.eq(1),
            event.reason.eq(REASON_BUS_MASTER),
            busy.eq(source.valid | event.valid),
            sent.eq((source.valid & source.ready) | (event.valid & event.ready)),
            self.idle.eq(~held.valid & ~busy),
        ]
        self.sync += [
            If(sent, source.valid.eq(0), event.valid.eq(0)),
            If(write,
                source.valid.eq(self.enable),
                event.valid.eq(~self.enable),
                source.address.eq(held.address),
                source.length.eq(held.length),
                source.tag.eq(contexts.issue.tag),
                event.tag.eq(contexts.issue.tag),
                event.lap.eq(contexts.issue.lap),
            ),
        ]
        for n, (port, window) in enumerate(zip(ports, windows)):
            waits = known & ~fits & (held.client == n)
            self.comb += port.no_tag.eq((port.request.valid & ~window.free) | waits)

    def add_budget(self, free, blocks, write, cost):
        """Free blocks, a cycle behind: the next request looks at them three cycles after this one at the earliest."""
        over   = Signal()  # The request outstanding is larger than the buffer; it went alone.
        taking = Signal()
        wanted = Signal(COST_BITS)
        taken  = Signal(len(free))
        given  = Signal(len(free))
        self.sync += [taking.eq(write), wanted.eq(cost)]
        self.comb += [
            If(taking, taken.eq(Mux(wanted > free, free, wanted))),
            If(self.release, given.eq(Mux(over, blocks, self.release_cost))),
        ]
        self.sync += [
            free.eq(free + given - taken),
            If(self.release, over.eq(0)),
            If(taking & (wanted > free), over.eq(1)),
        ]
