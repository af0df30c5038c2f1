#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Many packet streams into one."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

# Round Robin --------------------------------------------------------------------------------------

def round_robin(requests, latest, grant):
    """Statements: `grant` is the first of `requests` behind `latest`, or `latest` if none requests."""
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
    """Joins packet streams, round robin, changing over at packet boundaries only.

    The next stream is chosen while the last beat of a packet passes, so that between the packets of streams
    that wait there is no idle beat. Out of rest a stream other than the latest waits one cycle. Combinatorial
    from sinks to source, with the choice in a register.

    Parameters
    ----------
    layout : layout of every sink and of the source.
    count  : int, number of sinks.

    Attributes
    ----------
    sinks  : list of streams, **in**, `sys`.
    source : stream, **out**, `sys`.
    grant  : Signal(), **out**, the sink whose beat is at the source.
    """
    def __init__(self, layout, count):
        if count < 1:
            raise ValueError(f"count must be 1 or more, not {count!r}")
        self.sinks  = [stream.Endpoint(layout, name=f"sink{n}") for n in range(count)]
        self.source = source = stream.Endpoint(layout)

        # # #

        self.grant = grant = Signal(max=max(count, 2))
        choice = Signal.like(grant)
        inside = Signal()  # Of a packet begun and not ended.
        choose = Signal()
        self.comb += [
            Case(grant, {n: sink.connect(source) for n, sink in enumerate(self.sinks)}),
            round_robin([sink.valid for sink in self.sinks], grant, choice),
            choose.eq(Mux(source.valid, source.ready & source.last, ~inside)),
        ]
        self.sync += [
            If(choose, grant.eq(choice)),
            If(source.valid & source.ready, inside.eq(~source.last)),
        ]
