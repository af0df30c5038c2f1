#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Keeps MSI and completions after the posted writes that precede them (PCIe 4.0 2.4.1).

A hard block takes requests, completions and MSI through separate interfaces, and each crosses from `sys` on its own. A
completion or an MSI could therefore overtake the status block that it announces whenever the link makes TLPs wait. Two
counts prevent this: the posted requests that entered the PHY, and those that nothing can overtake any more
("committed").
"""

from migen import *
from migen.genlib.cdc import BusSynchronizer

from litex.gen import *

from litex.soc.interconnect import stream

# Posted Order -------------------------------------------------------------------------------------

# Bits of the counts, which wrap. Far fewer than 2**(COUNT_BITS - 1) TLPs fit between a PHY's stream and its link.
COUNT_BITS = 10


class CommittedCounter(LiteXModule):
    """Counts committed posted requests in the clock of the hard block, and transfers the count to `sys`.

    Parameters
    ----------
    strobes : list of Signal(), `pcie`, each signals one committed request per cycle.

    Attributes
    ----------
    count : Signal(COUNT_BITS), **out**, some cycles late; a reset of the link does not clear it.
    """
    def __init__(self, strobes):
        count      = Signal(COUNT_BITS, reset_less=True)
        self.cross = cross = BusSynchronizer(COUNT_BITS, "pcie", "sys")
        self.count = cross.o
        self.comb      += cross.i.eq(count)
        self.sync.pcie += count.eq(count + sum(strobes[1:], strobes[0]))


class PostedOrder(LiteXModule):
    """Holds packets back until every posted request accepted before them is committed.

    A request can be lost with the link, when the host disables bus mastering, or in a function level reset: `reset`
    covers these cases. Nothing else ends the wait. A host may withhold credits for any time, and a completion or an
    MSI that passed a posted write then would announce data that is not in memory (PCIe 4.0 2.4.1).

    Attributes
    ----------
    accepted  : Signal(), **in**, the PHY accepts a posted request.
    committed : Signal(COUNT_BITS), **in**, count of committed requests, see `CommittedCounter`.
    reset     : Signal(), **in**, treats every request so far as committed.
    """
    def __init__(self):
        self.accepted  = Signal()
        self.committed = Signal(COUNT_BITS)
        self.reset     = Signal()

        # # #

        self.count  = count  = Signal(COUNT_BITS)  # Accepted requests.
        self.forget = forget = Signal()            # Treat all accepted requests as committed.
        ahead    = Signal(COUNT_BITS)              # Requests accepted and not committed.
        self.comb += [
            ahead.eq(count - self.committed),
            # A negative difference: a request was committed after it had been counted as lost.
            forget.eq(self.reset | ahead[-1]),
        ]
        self.sync += count.eq(Mux(forget, self.committed, count) + self.accepted)

    def after_posted(self, sink, packets):
        """Returns a stream that feeds `sink` and holds each packet until the requests before it are committed.

        Parameters
        ----------
        sink    : stream endpoint.
        packets : bool, packets end with `last`; if False, each beat is a packet.
        """
        gate = _OrderGate(self, sink, packets)
        self.submodules += gate
        return gate.sink


class _OrderGate(LiteXModule):
    def __init__(self, order, source, packets):
        self.sink = sink = stream.Endpoint(source.description)

        # # #

        mark    = Signal(COUNT_BITS)  # The packet may pass when `order.committed` has reached this count.
        left    = Signal(COUNT_BITS)  # Requests that still have to be committed; zero or negative if none.
        waiting = Signal()            # `mark` is valid for the packet on `sink`.
        inside  = Signal()            # The first beat of a packet passed, its last beat did not yet.
        reached = Signal()            # None is left.
        passes  = Signal()
        self.mark, self.waiting, self.inside = mark, waiting, inside  # Proofs read them.
        self.comb += [
            left.eq(mark - order.committed),
            reached.eq((left == 0) | left[-1]),
            passes.eq(inside | (waiting & reached)),
            sink.connect(source),
            If(~passes, source.valid.eq(0), sink.ready.eq(0)),
        ]
        self.sync += [
            If(~waiting,
                waiting.eq(sink.valid & ~inside),
                mark.eq(order.count + order.accepted),
            ).Elif(reached,
                # The packet may wait for `source` while the count wraps: `left` must not become positive again.
                mark.eq(order.committed),
            ),
            If(sink.valid & sink.ready, inside.eq(~sink.last if packets else 0), waiting.eq(0)),
            # An MSI may be taken back and offered again later, after other requests.
            If(~sink.valid, waiting.eq(0)),
            If(order.forget, mark.eq(order.committed)),
        ]
