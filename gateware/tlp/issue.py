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
from litepcie_soc.common.pcie import REASON_BUS_MASTER, REASON_TIMEOUT, read_request_layout
from litepcie_soc.tlp.budget import Budget, blocks_of
from litepcie_soc.tlp.context import BLOCKS_BITS, REASON_KEPT_BITS
from litepcie_soc.tlp.request import ATTRIBUTE_BITS, request_layout
from litepcie_soc.tlp.tags import event_layout

# Layouts ------------------------------------------------------------------------------------------

REQUEST_FIELDS = ("address", "length", "destination")


def held_layout(contexts):
    """An accepted request, with its tag and the blocks of the completion buffer that it needs."""
    return [(name, bits) for name, bits, *_ in read_request_layout().payload_layout] + [
        ("attributes", ATTRIBUTE_BITS), ("blocks", BLOCKS_BITS), ("half", 1), ("client", len(contexts.issue.client)),
        ("tag", contexts.tag_bits), ("generation", 1),
    ]

# A completion of so many bytes takes one beat from 256 bit on, with the bytes before it in its first dword. One of an
# RCB takes two beats or more: half a block is enough for the short one.
HALF_BYTES = 16

# Held Request -------------------------------------------------------------------------------------

HELD = 4    # Requests that are accepted and wait for room, with `per_cycle`.


class HeldRequest(LiteXModule):
    """A register for one word. It accepts the next one after `source` was accepted, so at most every second cycle.

    Attributes
    ----------
    sink, source : streams of `layout`, **in**, **out**.
    level        : Signal(), **out**, words inside.
    """
    def __init__(self, layout):
        self.sink   = sink   = stream.Endpoint(layout)
        self.source = source = stream.Endpoint(layout)
        self.level  = source.valid

        # # #

        self.comb += sink.ready.eq(~source.valid)
        self.sync += [
            If(source.ready, source.valid.eq(0)),
            If(sink.valid & sink.ready,
                source.valid.eq(1),
                source.payload.eq(sink.payload),
            ),
        ]

# Read Issue ---------------------------------------------------------------------------------------

class ReadIssue(LiteXModule):
    """Issues read requests of the clients round robin, at most one every two cycles, or one per cycle.

    The pipeline has three steps: choose a client; accept its request with a tag and count its blocks; write its
    context and offer it to the PHY as soon as the completion buffer has room. A request that is larger than the buffer
    is issued alone.

    With `per_cycle`, the next client is chosen while the request of the one before is accepted, and is assumed to have
    another request if it is the same. If it has none, it loses its turn.

    A request ends at once, without being sent, in these cases:

    - Bus mastering is off or the link is down: REASON_BUS_MASTER.
    - No request is outstanding, and quarantine leaves no tag or not enough room: REASON_TIMEOUT. The client would wait
      for as long as the quarantine otherwise.

    Parameters
    ----------
    data_width        : int, bits.
    ports             : list of MemoryReadPort.
    pool              : TagPool.
    contexts          : TagContexts.
    completion_blocks, strict_blocks : (int, int), see `Budget`.
    per_cycle         : bool, one request per cycle.
    halves            : bool, see `Budget`.

    Attributes
    ----------
    source  : stream of `request_layout`, **out**, read requests.
    soon    : Signal(), **out**, `source` is not valid, but may be in the next cycle.
    event   : stream of `event_layout`, **out**, requests that are not sent.
    enable  : Signal(), **in**, bus mastering is on and the link is up.
    hold    : Signal(), **in**, choose no further client.
    pause   : Signal(), **in**, as `hold`, and the requests in the pipeline wait.
    idle    : Signal(), **out**, no request is in the pipeline.
    entered : Signal(), **out**, the request of `contexts.issue` is outstanding from now on.
    refused : Record, **out**, `valid`, for one cycle: a request of `client` ended with `reason` before it got a tag.
    """
    def __init__(self, data_width, ports, pool, contexts, completion_blocks, strict_blocks=None, *,
        per_cycle=False, halves=False):
        issue        = contexts.issue
        self.source  = source = stream.Endpoint(request_layout(data_width))
        self.soon    = Signal()
        self.event   = event  = stream.Endpoint(event_layout())
        self.enable  = Signal()
        self.hold    = Signal()
        self.pause   = Signal()
        self.idle    = Signal()
        self.entered = Signal()
        self.refused = Record([("valid", 1), ("client", len(issue.client)), ("reason", REASON_KEPT_BITS)])
        self.budget  = budget = Budget(completion_blocks, strict_blocks, per_cycle, halves)
        layout       = held_layout(contexts)
        self.held    = stream.SyncFIFO(layout, HELD) if per_cycle else HeldRequest(layout)

        # # #

        client   = Signal(len(issue.client))
        chosen   = Signal()     # `client` is valid: it has a request in this cycle, and may take the tag.
        starved  = Signal()     # Nothing is outstanding, but no tag is free.
        refuse   = Signal()     # `client` was chosen because of that.
        request  = self.held.sink
        held     = self.held.source
        present  = Signal()     # `client` has a request.
        accept   = Signal()
        write    = Signal()

        # Choose -----------------------------------------------------------------------------------
        grant    = Signal.like(client)
        may_take = Signal(len(ports))
        eligible = Signal(len(ports))
        choose   = Signal()
        allowed  = Mux(chosen, pool.allowed_again, pool.allowed) if per_cycle else pool.allowed
        self.comb += [
            *[eligible[n].eq((port.request.valid | port.soon) & (may_take[n] | starved))
                for n, port in enumerate(ports)],
            may_take.eq(allowed),
            round_robin([eligible[n] for n in range(len(ports))], client, grant),
            choose.eq(~chosen | accept | ~present if per_cycle else ~chosen),
        ]
        self.sync += [
            starved.eq(pool.empty & (pool.live == 0) & ~pool.filling & ~chosen),
            If(choose,
                chosen.eq((eligible != 0) & ~self.hold & ~self.pause & ~budget.hold),
                client.eq(grant),
                refuse.eq(starved),
            ).Elif(accept,
                chosen.eq(0),
            ),
        ]

        # Accept; count the blocks from the first to the last byte ---------------------------------
        self.comb += [
            accept.eq(chosen & request.ready & (present if per_cycle else 1)),
            Case(client, {n: [
                present.eq(port.request.valid),
                *[getattr(request, name).eq(getattr(port.request, name)) for name in REQUEST_FIELDS],
                request.attributes.eq(port.attributes),
                port.request.ready.eq(accept),
            ] for n, port in enumerate(ports)}),
            request.valid.eq(accept & ~refuse),
            request.blocks.eq(blocks_of(request.address, request.length, 1, budget.large)),
            request.half.eq((request.length <= HALF_BYTES) & (request.blocks == 1) if halves else 0),
            request.client.eq(client),
            request.tag.eq(pool.tag),
            request.generation.eq(pool.generation),
            pool.take.eq(request.valid),
            pool.take_client.eq(client),
            self.refused.valid.eq(accept & refuse),
            self.refused.client.eq(client),
            self.refused.reason.eq(Mux(self.enable, REASON_TIMEOUT, REASON_BUS_MASTER)),
            budget.settled.eq((pool.live == 0) & ~chosen),
            budget.blocks.eq(held.blocks),
            budget.half.eq(held.half),
        ]

        # From the cycle in which such a request can be in `held`.
        ordered = [n for n, port in enumerate(ports) if port.order is not None]
        if ordered:
            self.sync += budget.ordered.eq(Reduce("OR",
                [(pool.outstanding[n] != 0) | (pool.take & (client == n)) for n in ordered]))

        # Context, when there is room --------------------------------------------------------------
        send = Signal()
        busy = Signal()     # The previous request is still offered to the PHY.
        # No request is outstanding but those that are held.
        alone = (pool.live == self.held.level) if per_cycle else (pool.live == 1)
        self.comb += [
            send.eq(self.enable & budget.fits),
            issue.write.eq(held.valid & ~busy & ~self.pause & (budget.fits | ~self.enable | alone)),
            write.eq(issue.write & issue.ready),
            held.ready.eq(write),
            *[getattr(issue, name).eq(getattr(held, name)) for name in ("client", "tag", "generation")],
            *([issue.half.eq(held.half)] if halves else []),
            budget.take.eq(write & send),
            self.entered.eq(write),
            issue.end.eq(held.destination + held.length),
            issue.lower_end.eq(held.address[:7] + held.length),
            issue.length.eq(held.length),
        ]
        for n, port in enumerate(ports):
            waits = held.valid & ~budget.fits & (issue.client == n)
            self.comb += port.no_tag.eq((port.request.valid & ~pool.allowed[n]) | waits)

        # Send -------------------------------------------------------------------------------------
        self.comb += [
            self.soon.eq(held.valid & ~source.valid),
            source.first.eq(1),
            source.last.eq(1),
            source.read.eq(1),
            event.end.eq(1),
            event.free.eq(1),
            event.unsent.eq(1),
            busy.eq((source.valid & ~(source.ready if per_cycle else 0)) | event.valid),
            self.idle.eq(~chosen & ~held.valid & ~source.valid & ~event.valid),
        ]
        self.sync += [
            If(source.ready, source.valid.eq(0)),
            If(event.ready, event.valid.eq(0)),
            If(write,
                source.valid.eq(send),
                event.valid.eq(~send),
                *[getattr(source, name).eq(getattr(held, name)) for name in ("address", "length", "attributes")],
                *[getattr(endpoint, name).eq(getattr(issue, name))
                    for endpoint in (source, event) for name in ("tag", "generation")],
                event.reason.eq(Mux(self.enable, REASON_TIMEOUT, REASON_BUS_MASTER)),
            ),
        ]
