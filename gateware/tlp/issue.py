#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Reads of the clients on their way out: a tag, room for the completions, a context, then the request."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.arbiter import round_robin
from litepcie_soc.common.pcie import REASON_BITS, REASON_BUS_MASTER, RCB_BYTES, TAG_BITS, read_request_layout
from litepcie_soc.tlp.context import COST_BITS
from litepcie_soc.tlp.request import ATTRIBUTE_BITS, request_layout

# Layouts ------------------------------------------------------------------------------------------

# A host may answer in completions of one Read Completion Boundary each. In the PHY's buffer each takes its
# data and a header, in units of 16 bytes (PCIe 4.0 2.6.1).
BLOCK_BYTES = RCB_BYTES + 16

REQUEST_FIELDS = ("address", "length", "destination")


def event_layout():
    """A request ends without a completion of the host; `lap` tells it from another use of its tag."""
    return [("tag", TAG_BITS), ("lap", 1), ("reason", REASON_BITS)]

# Read Issue ---------------------------------------------------------------------------------------

class ReadIssue(LiteXModule):
    """Takes requests of the clients round robin, one in two cycles.

    Three steps, a register between each: a client is chosen; its request is taken with a tag, its cost is counted; when
    there is room its context is written and it is offered to the PHY.

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
    hold   : Signal(), **in**, no client is chosen.
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

        issue    = contexts.issue
        client   = Signal(len(issue.client))
        chosen   = Signal()     # `client` is: its request waits, and it has a tag.
        held     = Record([("valid", 1), ("attributes", ATTRIBUTE_BITS)] + [
            (name, bits) for name, bits, *_ in read_request_layout().payload_layout])
        accept   = Signal()
        write    = Signal()

        # Choose -----------------------------------------------------------------------------------
        grant    = Signal.like(client)
        eligible = Signal(len(ports))
        self.comb += [
            *[eligible[n].eq(port.request.valid & window.free)
                for n, (port, window) in enumerate(zip(ports, windows))],
            round_robin([eligible[n] for n in range(len(ports))], client, grant),
        ]
        self.sync += If(~chosen,
            chosen.eq((eligible != 0) & ~self.hold & ~contexts.clearing),
            client.eq(grant),
        ).Elif(accept,
            chosen.eq(0),
        )

        # Take; the cost are the blocks touched, between the first and the last byte ---------------
        request = Record(held.layout)
        tag     = Signal(TAG_BITS)
        lap     = Signal()
        cost    = Signal(COST_BITS)
        self.comb += [
            accept.eq(chosen & ~held.valid),
            Case(client, {n: [
                *[getattr(request, name).eq(getattr(port.request, name)) for name in REQUEST_FIELDS],
                request.attributes.eq(port.attributes),
                tag.eq(window.head),
                lap.eq(window.head_lap),
                port.request.ready.eq(accept),
                window.take.eq(accept),
            ] for n, (port, window) in enumerate(zip(ports, windows))}),
        ]
        self.sync += [
            If(write, held.valid.eq(0)),
            If(accept,
                held.valid.eq(1),
                *[getattr(held, name).eq(getattr(request, name)) for name in (*REQUEST_FIELDS, "attributes")],
                cost.eq((request.address[:6] + request.length + RCB_BYTES - 1) >> 6),
                issue.client.eq(client),
                issue.tag.eq(tag),
                issue.lap.eq(lap),
            ),
        ]

        # Context, when there is room --------------------------------------------------------------
        free = Signal((max(bits_for(blocks), COST_BITS) + 1, True), reset=blocks)
        fits = Signal()
        busy = Signal()     # A request is on its way out.
        self.comb += [
            fits.eq((cost <= free) | (free == blocks)),
            issue.write.eq(held.valid & fits & ~busy),
            write.eq(issue.write & issue.ready),
            issue.end.eq(held.destination + held.length),
            issue.lower_end.eq(held.address[:7] + held.length),
            issue.length.eq(held.length),
            issue.cost.eq(cost),
        ]
        self.add_budget(free, write, cost)
        for n, (port, window) in enumerate(zip(ports, windows)):
            waits = held.valid & ~fits & (issue.client == n)
            self.comb += port.no_tag.eq((port.request.valid & ~window.free) | waits)

        # Send -------------------------------------------------------------------------------------
        self.comb += [
            source.first.eq(1),
            source.last.eq(1),
            source.read.eq(1),
            event.reason.eq(REASON_BUS_MASTER),
            busy.eq(source.valid | event.valid),
            self.idle.eq(~chosen & ~held.valid & ~busy),
        ]
        self.sync += [
            If(source.ready, source.valid.eq(0)),
            If(event.ready, event.valid.eq(0)),
            If(write,
                source.valid.eq(self.enable),
                event.valid.eq(~self.enable),
                *[getattr(source, name).eq(getattr(held, name)) for name in ("address", "length", "attributes")],
                source.tag.eq(issue.tag),
                event.tag.eq(issue.tag),
                event.lap.eq(issue.lap),
            ),
        ]

    def add_budget(self, free, write, cost):
        """Free blocks, a cycle behind: the next request looks at them two cycles after this one at the earliest. Below
        0 while a request larger than the buffer is outstanding."""
        taken = Signal(COST_BITS)
        given = Signal(COST_BITS)
        self.comb += If(self.release, given.eq(self.release_cost))
        self.sync += [
            taken.eq(0),
            If(write, taken.eq(cost)),
            free.eq(free + given - taken),
        ]
