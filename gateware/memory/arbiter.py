#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Round-robin choice of one stream among several, a beat a cycle."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

# Beat Arbiter -------------------------------------------------------------------------------------


class BeatArbiter(LiteXModule):
    """Merges streams beat by beat.

    The grant is combinational: a client that starts or stops costs no cycle, so the merged stream
    has a beat in every cycle in which a client has one. The client behind the one served last comes
    first, so none waits for more than one beat of every other.

    Migen's ``RoundRobin`` holds its grant in a register and idles a cycle when a client leaves.

    Parameters
    ----------
    sinks       : streams of one layout, in; at least one.
    description : layout of the streams.

    Attributes
    ----------
    source : Endpoint, out, sys.
    grant  : max(1, log2(clients)), out, which sink ``source`` shows; valid with ``source.valid``.
    """
    def __init__(self, sinks, description):
        if not sinks:
            raise ValueError("an arbiter needs at least one stream")
        clients     = len(sinks)
        self.source = source = stream.Endpoint(description)
        self.grant  = grant  = Signal(max=max(clients, 2))

        # # #

        served = Signal(max=max(clients, 2))  # Client served last.
        self.sync += If(source.valid & source.ready, served.eq(grant))

        self.comb += Case(served, {
            last: [*self.choose(sinks, grant, last)] for last in range(clients)
        } | {"default": grant.eq(0)})
        self.comb += Case(grant, {
            n: sink.connect(source) for n, sink in enumerate(sinks)
        } | {"default": source.valid.eq(0)})

    @staticmethod
    def choose(sinks, grant, last):
        """Statements that point ``grant`` at the first valid sink behind ``last``.

        Later statements win, so the order is from the least to the most preferred.
        """
        yield grant.eq(last)
        for step in range(len(sinks) - 1, 0, -1):
            n = (last + step) % len(sinks)
            yield If(sinks[n].valid, grant.eq(n))
