#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Issues the read requests of the clients: reserves a tag and room for the completions, then sends the request."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.arbiter import round_robin
from litepcie_soc.common.pcie import REASON_BITS, REASON_BUS_MASTER, RCB_BYTES, TAG_BITS, read_request_layout
from litepcie_soc.tlp.context import COST_BITS
from litepcie_soc.tlp.request import ATTRIBUTE_BITS, request_layout

# Layouts ------------------------------------------------------------------------------------------

# The completion buffer is counted in blocks. A host may split a read into completions of one Read Completion Boundary
# each. Such a completion takes its data and 16 bytes for its header in the PHY's buffer (PCIe 4.0 2.6.1).
BLOCK_BYTES = RCB_BYTES + 16

REQUEST_FIELDS = ("address", "length", "destination")


def event_layout():
    """Ends a request without a completion. `generation` distinguishes it from other requests with the same tag."""
    return [("tag", TAG_BITS), ("generation", 1), ("reason", REASON_BITS)]

# Read Issue ---------------------------------------------------------------------------------------

class ReadIssue(LiteXModule):
    """Issues read requests of the clients round robin, at most one every two cycles.

    The pipeline has three steps: choose a client; accept its request with a tag and calculate its cost; write its
    context and offer it to the PHY as soon as the completion buffer has room.

    The cost of a request is the number of blocks that its completions fill if the host splits them as small as it may.
    A request is issued when the costs of all outstanding requests and its own fit in the completion buffer. A request
    that is larger than the buffer is issued alone. While bus mastering is off or the link is down, a request is not
    sent, and ends with REASON_BUS_MASTER.

    Parameters
    ----------
    data_width              : int, bits.
    ports                   : list of MemoryReadPort.
    windows                 : list of TagWindow, one per port.
    contexts                : TagContexts.
    completion_buffer_bytes : int, bytes of the PHY's completion buffer, headers included.

    Attributes
    ----------
    source       : stream of `request_layout`, **out**, read requests.
    event        : stream of `event_layout`, **out**, requests that cannot be sent.
    enable       : Signal(), **in**, bus mastering is on and the link is up.
    hold         : Signal(), **in**, choose no further client.
    release      : Signal(), **in**, a request has ended and its blocks are free.
    release_cost : Signal(7), **in**, cost of that request, in blocks.
    idle         : Signal(), **out**, no request is in the pipeline.
    """
    def __init__(self, data_width, ports, windows, contexts, completion_buffer_bytes):
        blocks = completion_buffer_bytes//BLOCK_BYTES
        if blocks < 1:
            raise ValueError(f"completion_buffer_bytes {completion_buffer_bytes!r} is too small; give {BLOCK_BYTES} or "
                f"more")
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
        chosen   = Signal()     # `client` is valid: it has a request and a free tag.
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

        # Accept; the cost is the number of blocks from the first to the last byte -----------------
        request    = Record(held.layout)
        tag        = Signal(TAG_BITS)
        generation = Signal()
        cost       = Signal(COST_BITS)
        self.comb += [
            accept.eq(chosen & ~held.valid),
            Case(client, {n: [
                *[getattr(request, name).eq(getattr(port.request, name)) for name in REQUEST_FIELDS],
                request.attributes.eq(port.attributes),
                tag.eq(window.head),
                generation.eq(window.head_generation),
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
                issue.generation.eq(generation),
            ),
        ]

        # Context, when there is room --------------------------------------------------------------
        free = Signal((max(bits_for(blocks), COST_BITS) + 1, True), reset=blocks)
        fits = Signal()
        busy = Signal()     # The previous request is still offered to the PHY.
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
                event.generation.eq(issue.generation),
            ),
        ]

    def add_budget(self, free, write, cost):
        """Counts the free blocks, with one cycle of delay: the next request uses them two cycles later at the earliest.

        The count is negative while a request larger than the buffer is outstanding.
        """
        taken = Signal(COST_BITS)
        given = Signal(COST_BITS)
        self.comb += If(self.release, given.eq(self.release_cost))
        self.sync += [
            taken.eq(0),
            If(write, taken.eq(cost)),
            free.eq(free + given - taken),
        ]
