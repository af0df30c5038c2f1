#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Completion of requests on an endpoint memory whose accesses may fail, or end late."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import REASON_MEMORY_ERROR, REASON_NONE
from litepcie_soc.dma.descriptor import done_layout

# Settle -------------------------------------------------------------------------------------------


class Settle(LiteXModule):
    """Passes the finished requests of a reader or a writer on when the endpoint memory has done its part.

    A reader's request waits until the memory has stored all beats that it had accepted when the request finished. The
    first request after an error of the memory gets REASON_MEMORY_ERROR and no bytes. That can be an earlier request
    than the one that met the error, never a later one: what is reported as moved is without an error.

    Parameters
    ----------
    outcome  : ``MemoryOutcome`` of the engine's port.
    requests : most requests that finish after ``room`` has become 0.

    Attributes
    ----------
    sink   : Record(done_layout), **in**.
    source : Record(done_layout), **out**, one cycle after ``sink`` or later.
    room   : Signal(), **out**, further requests may be issued.
    idle   : Signal(), **out**, no request waits here.
    """
    def __init__(self, outcome, requests):
        self.sink   = sink   = Record(done_layout())
        self.source = source = Record(done_layout())
        self.room   = Signal()
        self.idle   = Signal()

        # # #

        failed  = Signal()
        waiting = Record(done_layout())  # The oldest request that waits.
        reached = Signal()
        self.sync += If(outcome.failed, failed.eq(1))
        if outcome.accepted is None:
            self.comb += [
                *[getattr(waiting, name).eq(getattr(sink, name)) for name, *_ in done_layout()],
                reached.eq(1),
                self.room.eq(1),
            ]
        else:
            self.add_queue(outcome, requests, waiting, reached)
        self.comb += self.idle.eq(~waiting.valid & ~source.valid)
        self.sync += [
            *[getattr(source, name).eq(getattr(waiting, name)) for name, *_ in done_layout()],
            source.valid.eq(waiting.valid & reached),
            If(failed,
                source.bytes.eq(0),
                If(waiting.reason == REASON_NONE, source.reason.eq(REASON_MEMORY_ERROR))
            )
        ]

    def add_queue(self, outcome, requests, waiting, reached):
        """A queue of requests, each with the count of beats that must be stored first."""
        sink   = self.sink
        fields = [(f"done_{name}", *width) for name, *width in done_layout()[1:]]
        ticket = Signal.like(outcome.accepted)
        depth  = 2**log2_int(2*requests, need_pow2=False)
        self.queue = queue = stream.SyncFIFO([*fields, ("ticket", len(ticket))], depth, buffered=True)
        behind = Signal.like(ticket)
        self.comb += [
            queue.sink.valid.eq(sink.valid),
            queue.sink.ticket.eq(outcome.accepted),
            waiting.valid.eq(queue.source.valid),
            ticket.eq(queue.source.ticket),
            behind.eq(outcome.stored - ticket),
            reached.eq(~behind[-1]),
            queue.source.ready.eq(reached),
        ]
        for name, *_ in done_layout()[1:]:
            self.comb += [
                getattr(queue.sink, f"done_{name}").eq(getattr(sink, name)),
                getattr(waiting, name).eq(getattr(queue.source, f"done_{name}")),
            ]
        self.sync += self.room.eq(queue.level < depth - requests)

# Settled Mover ------------------------------------------------------------------------------------


class SettledMover(LiteXModule):
    """A ``Reader`` or ``Writer`` whose requests pass ``Settle``; it has the same ports."""
    def __init__(self, mover, outcome):
        self.mover  = mover
        self.settle = settle = Settle(outcome, mover.issued.depth + 2)
        for name in ("sink", "boundary", "run", "tlp", "moved", "wait_tag", "wait_link", "wait_data"):
            setattr(self, name, getattr(mover, name))
        self.issue  = Signal()
        self.idle   = Signal()
        self.done   = settle.source

        # # #

        self.comb += [
            mover.issue.eq(self.issue & settle.room),
            *[getattr(settle.sink, name).eq(getattr(mover.done, name)) for name, *_ in done_layout()],
            self.idle.eq(mover.idle & settle.idle),
        ]

    @property
    def splitter(self):
        return self.mover.splitter


def settled(mover, memory):
    """Returns ``mover``, or a ``SettledMover`` if accesses to ``memory``, its port, may fail."""
    return mover if memory.outcome is None else SettledMover(mover, memory.outcome)
