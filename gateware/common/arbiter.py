#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Round-robin arbitration of packet streams."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

# Round Robin --------------------------------------------------------------------------------------

def round_robin(requests, latest, grant):
    """Statements that set `grant` to the first requester after `latest`, or to `latest` if none requests."""
    count = len(requests)
    def chain(start):
        statement = grant.eq(latest)
        for offset in reversed(range(1, count + 1)):
            index     = (start + offset) % count
            statement = If(requests[index], grant.eq(index)).Else(statement)
        return statement
    return Case(latest, {n: chain(n) for n in range(count)})

# Packet Arbiter -----------------------------------------------------------------------------------

class PacketArbiter(LiteXModule):
    """Merges packet streams round robin; the grant changes at packet boundaries only.

    The arbiter chooses the next stream while the last beat of a packet passes, so waiting streams follow one another
    without an idle beat. From idle, a stream other than the previous one waits one cycle, unless its `soon` was
    asserted. The path from sinks to source is combinatorial, and the grant is a register.

    Parameters
    ----------
    layout : layout of every sink and of the source.
    count  : int, number of sinks.

    Attributes
    ----------
    sinks  : list of streams, **in**.
    soon   : Signal(count), **in**, a bit for each sink: it is expected to have a packet in the next cycle. This only
        matters while no sink has one.
    source : stream, **out**.
    grant  : Signal(), **out**, index of the sink that drives the source.
    """
    def __init__(self, layout, count):
        if count < 1:
            raise ValueError(f"count {count!r} is not supported; give 1 or more")
        self.sinks  = [stream.Endpoint(layout, name=f"sink{n}") for n in range(count)]
        self.soon   = Signal(count)
        self.source = source = stream.Endpoint(layout)

        # # #

        self.grant = grant = Signal(max=max(count, 2))
        choice = Signal.like(grant)
        inside = Signal()  # A packet has begun and not ended.
        choose = Signal()  # `grant` may change.
        valid  = Signal(count)
        self.inside = inside  # Proofs read it.
        self.comb += [
            Case(grant, {n: sink.connect(source) for n, sink in enumerate(self.sinks)}),
            valid.eq(Cat(*[sink.valid for sink in self.sinks])),
            round_robin([valid[n] | (self.soon[n] & (valid == 0)) for n in range(count)], grant, choice),
            choose.eq(Mux(source.valid, source.ready & source.last, ~inside)),
        ]
        self.sync += [
            If(choose, grant.eq(choice)),
            If(source.valid & source.ready, inside.eq(~source.last)),
        ]
