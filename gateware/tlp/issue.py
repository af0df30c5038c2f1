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
from litepcie_soc.common.pcie import REASON_BUS_MASTER, REASON_TIMEOUT, RCB_BYTES, read_request_layout
from litepcie_soc.tlp.context import BLOCKS_BITS, REASON_KEPT_BITS
from litepcie_soc.tlp.request import ATTRIBUTE_BITS, request_layout
from litepcie_soc.tlp.timeout import event_layout

# Layouts ------------------------------------------------------------------------------------------

# Bytes that a completion of one RCB of 64 bytes takes in the PHY's buffer, 16 of them for its header (PCIe 4.0 2.6.1).
BLOCK_BYTES = RCB_BYTES + 16

REQUEST_FIELDS = ("address", "length", "destination")

# Budget -------------------------------------------------------------------------------------------

class Budget(LiteXModule):
    """Counts the free blocks of the completion buffer.

    A host may split a read into completions that end at multiples of the Read Completion Boundary (RCB, PCIe 4.0
    2.3.1.1). A block is the room for one such completion, with its header. A request takes a block for each RCB-sized
    piece of host memory that it touches, and gives them back as its completions are taken out of the buffer, see
    `BlockReturn`.

    A request in quarantine keeps the blocks of the completions that are missing. They may come at any time, also while
    a client applies back-pressure, and then they wait in the buffer among those of other requests.

    The count is negative while a request larger than the buffer is outstanding.

    Parameters
    ----------
    completion_blocks : (int, int), blocks that fit in the buffer with an RCB of 64 and of 128 bytes.
    strict_blocks     : (int, int), the same without Relaxed Ordering, see `completion_buffer.py`; None: no difference.

    Attributes
    ----------
    rcb_128 : Signal(), **in**, the host's RCB is 128 bytes; may change at any time.
    relaxed : Signal(), **in**, the host enables Relaxed Ordering; may change at any time. `strict_blocks` stay in force
        until every request without the attribute has ended.
    settled : Signal(), **in**, no request is outstanding or waits for room.
    hold    : Signal(), **out**, no further request may be accepted, because a change of the RCB waits.
    large   : Signal(), **out**, blocks have 128 bytes, for requests and for completions.
    blocks  : Signal(7), **in**, blocks of the request that waits.
    fits    : Signal(), **out**, there is room for `blocks`, or the buffer is empty.
    take    : Signal(), **in**, take `blocks`. The count follows in the next cycle but one.
    give    : Signal(), **in**, `given` blocks are free again.
    given   : Signal(7), **in**.
    """
    def __init__(self, completion_blocks, strict_blocks=None):
        if min(completion_blocks) < 1:
            raise ValueError(f"completion_blocks {completion_blocks!r} are too few; give 1 or more for each RCB")
        self.rcb_128 = Signal()
        self.relaxed = Signal()
        self.settled = Signal()
        self.hold    = Signal()
        self.large   = Signal()
        self.blocks  = Signal(BLOCKS_BITS)
        self.fits    = Signal()
        self.take    = Signal()
        self.give    = Signal()
        self.given   = Signal(BLOCKS_BITS)

        # # #

        small, large = completion_blocks
        self.free = free = Signal((max(bits_for(max(completion_blocks)), BLOCKS_BITS) + 1, True), reset=small)
        taken = Signal(BLOCKS_BITS)
        given = Signal(BLOCKS_BITS)
        empty = Signal()
        differ = Signal()
        usable = free
        if strict_blocks is not None:
            strict, wide = Signal.like(free, reset=strict_blocks[0]), Signal()
            usable = Mux(wide, free, strict)
            self.sync += [
                strict.eq(strict + given - taken),
                If(differ & self.settled & empty, strict.eq(Mux(self.rcb_128, strict_blocks[1], strict_blocks[0]))),
                If(~self.relaxed, wide.eq(0)).Elif(empty, wide.eq(1)),
            ]
        self.comb += [
            If(self.give, given.eq(self.given)),
            empty.eq(free == (small if small == large else Mux(self.large, large, small))),
            self.fits.eq((self.blocks <= usable) | empty),
            # A change waits for the blocks in quarantine too, but meanwhile requests are not held up for them.
            differ.eq(self.rcb_128 != self.large),
            self.hold.eq(differ & (~self.settled | empty)),
        ]
        self.sync += [
            taken.eq(0),
            If(self.take, taken.eq(self.blocks)),
            free.eq(free + given - taken),
            If(differ & self.settled & empty,
                self.large.eq(self.rcb_128),
                free.eq(Mux(self.rcb_128, large, small)),
            ),
        ]


def blocks_of(address, length, last, large):
    """Number of block boundaries that `length` bytes from `address` reach.

    Without `last`, blocks that end within these bytes. With `last`, also the block in which the last byte is. The sum
    over the completions of a request, of which only the last one has `last`, is the number for the request itself.
    """
    start = Cat(address[:log2_int(RCB_BYTES)], address[log2_int(RCB_BYTES)] & large)
    end   = start + length
    part  = (end & Mux(large, 2*RCB_BYTES - 1, RCB_BYTES - 1)) != 0     # Of the block in which the last byte is.
    return Mux(large, end >> log2_int(2*RCB_BYTES), end >> log2_int(RCB_BYTES)) + (part & last)

# Read Issue ---------------------------------------------------------------------------------------

class ReadIssue(LiteXModule):
    """Issues read requests of the clients round robin, at most one every two cycles.

    The pipeline has three steps: choose a client; accept its request with a tag and count its blocks; write its
    context and offer it to the PHY as soon as the completion buffer has room. A request that is larger than the buffer
    is issued alone.

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

    Attributes
    ----------
    source  : stream of `request_layout`, **out**, read requests.
    event   : stream of `event_layout`, **out**, requests that are not sent.
    enable  : Signal(), **in**, bus mastering is on and the link is up.
    hold    : Signal(), **in**, choose no further client.
    pause   : Signal(), **in**, as `hold`, and the request in the pipeline waits.
    idle    : Signal(), **out**, no request is in the pipeline.
    entered : Signal(), **out**, the request of `contexts.issue` is outstanding from now on.
    refused : Record, **out**, `valid`, for one cycle: a request of `client` ended with `reason` before it got a tag.
    """
    def __init__(self, data_width, ports, pool, contexts, completion_blocks, strict_blocks=None):
        issue        = contexts.issue
        self.source  = source = stream.Endpoint(request_layout(data_width))
        self.event   = event  = stream.Endpoint(event_layout())
        self.enable  = Signal()
        self.hold    = Signal()
        self.pause   = Signal()
        self.idle    = Signal()
        self.entered = Signal()
        self.refused = Record([("valid", 1), ("client", len(issue.client)), ("reason", REASON_KEPT_BITS)])
        self.budget  = budget = Budget(completion_blocks, strict_blocks)

        # # #

        client   = Signal(len(issue.client))
        chosen   = Signal()     # `client` is valid: it has a request in this cycle, and may take the tag.
        starved  = Signal()     # Nothing is outstanding, but no tag is free.
        refuse   = Signal()     # `client` was chosen because of that.
        held     = Record([("valid", 1), ("attributes", ATTRIBUTE_BITS)] + [
            (name, bits) for name, bits, *_ in read_request_layout().payload_layout])
        accept   = Signal()
        write    = Signal()

        # Choose -----------------------------------------------------------------------------------
        grant    = Signal.like(client)
        eligible = Signal(len(ports))
        self.comb += [
            *[eligible[n].eq((port.request.valid | port.soon) & (pool.allowed[n] | starved))
                for n, port in enumerate(ports)],
            round_robin([eligible[n] for n in range(len(ports))], client, grant),
        ]
        self.sync += [
            starved.eq(pool.empty & (pool.live == 0) & ~pool.filling & ~chosen),
            If(~chosen,
                chosen.eq((eligible != 0) & ~self.hold & ~self.pause & ~budget.hold),
                client.eq(grant),
                refuse.eq(starved),
            ).Elif(accept,
                chosen.eq(0),
            ),
        ]

        # Accept; count the blocks from the first to the last byte ---------------------------------
        request = Record(held.layout)
        blocks  = Signal(BLOCKS_BITS)
        self.comb += [
            accept.eq(chosen & ~held.valid),
            Case(client, {n: [
                *[getattr(request, name).eq(getattr(port.request, name)) for name in REQUEST_FIELDS],
                request.attributes.eq(port.attributes),
                port.request.ready.eq(accept),
            ] for n, port in enumerate(ports)}),
            pool.take.eq(accept & ~refuse),
            pool.take_client.eq(client),
            self.refused.valid.eq(accept & refuse),
            self.refused.client.eq(client),
            self.refused.reason.eq(Mux(self.enable, REASON_TIMEOUT, REASON_BUS_MASTER)),
            budget.settled.eq((pool.live == 0) & ~chosen),
            budget.blocks.eq(blocks),
        ]
        self.sync += [
            If(write, held.valid.eq(0)),
            If(accept,
                held.valid.eq(~refuse),
                *[getattr(held, name).eq(getattr(request, name)) for name in (*REQUEST_FIELDS, "attributes")],
                blocks.eq(blocks_of(request.address, request.length, 1, budget.large)),
                issue.client.eq(client),
                issue.tag.eq(pool.tag),
                issue.generation.eq(pool.generation),
            ),
        ]

        # Context, when there is room --------------------------------------------------------------
        send = Signal()
        busy = Signal()     # The previous request is still offered to the PHY.
        self.comb += [
            send.eq(self.enable & budget.fits),
            issue.write.eq(held.valid & ~busy & ~self.pause & (budget.fits | ~self.enable | (pool.live == 1))),
            write.eq(issue.write & issue.ready),
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
            source.first.eq(1),
            source.last.eq(1),
            source.read.eq(1),
            event.end.eq(1),
            event.free.eq(1),
            event.unsent.eq(1),
            busy.eq(source.valid | event.valid),
            self.idle.eq(~chosen & ~held.valid & ~busy),
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
