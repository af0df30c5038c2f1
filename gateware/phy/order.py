#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Order of posted requests and what comes after them, in both directions (PCIe 4.0 2.4.1).

MSI and completions of the card stay after the posted writes that precede them. A hard block takes requests,
completions and MSI through separate interfaces, and each crosses from `sys` on its own. A completion or an MSI could
therefore overtake the status block that it announces whenever the link makes TLPs wait. Two counts prevent this: the
posted requests that entered the PHY, and those that nothing can overtake any more ("committed").

In the other direction, a completion of the host says that the posted requests of the host before it have arrived, not
that the card has executed them. `RequestOrder` counts both.
"""

from migen import *
from migen.genlib.cdc import BusSynchronizer, MultiReg

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import is_non_posted

# Posted Requests ----------------------------------------------------------------------------------

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

    Parameters
    ----------
    accepted_bits : int, bits of `accepted`.

    Attributes
    ----------
    accepted  : Signal(accepted_bits), **in**, posted requests that the PHY accepts in this cycle.
    committed : Signal(COUNT_BITS), **in**, count of committed requests, see `CommittedCounter`.
    reset     : Signal(), **in**, treats every request so far as committed.
    """
    def __init__(self, accepted_bits=1):
        self.accepted  = Signal(accepted_bits)
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

# Bits of the count of requests that a hard block hands over, and so of those in one cycle of `sys`.
HANDED_BITS = 4


class HandedCounter(LiteXModule):
    """Tells `sys` how many posted requests the hard block has handed over.

    The count crosses as a Gray code through two registers, like the pointers of the FIFOs of `LinkCrossing`. A
    completion that the hard block hands over after a request passes such a FIFO, then the checks of the transaction
    layer. So the request is counted in `sys` before a client has the data of that completion, as long as there are
    fewer than 2**HANDED_BITS requests in a cycle of `sys`.

    Parameters
    ----------
    strobe : Signal(), `pcie`, the hard block hands a posted request over.

    Attributes
    ----------
    handed : Signal(HANDED_BITS), **out**, requests since the cycle before.
    """
    def __init__(self, strobe):
        self.handed = Signal(HANDED_BITS)

        # # #

        count   = Signal(HANDED_BITS, reset_less=True)
        gray    = Signal(HANDED_BITS, reset_less=True)
        after   = Signal(HANDED_BITS)
        arrived = Signal(HANDED_BITS)
        binary  = Signal(HANDED_BITS)
        before  = Signal(HANDED_BITS)
        self.specials  += MultiReg(gray, arrived)
        self.sync.pcie += [count.eq(after), gray.eq(after ^ after[1:])]
        self.sync      += before.eq(binary)
        self.comb      += [
            after.eq(count + strobe),
            *[binary[n].eq(Reduce("XOR", list(arrived[n:]))) for n in range(HANDED_BITS)],
            self.handed.eq(binary - before),
        ]


class RequestOrder(PostedOrder):
    """Tells a client when the posted requests of the host before the data that it has read are executed.

    The client keeps `mark` when its data has landed, and goes on when that is `reached`.

    Attributes
    ----------
    accepted : Signal(HANDED_BITS), **in**, posted requests that the PHY hands over in this cycle.
    executed : Signal(), **in**, one of them has been executed.
    reset    : Signal(), **in**, requests so far are lost.
    mark     : Signal(COUNT_BITS), **out**, stands for the requests so far.
    settled  : Signal(), **out**, they are executed: `mark` is reached.
    """
    def __init__(self):
        PostedOrder.__init__(self, HANDED_BITS)
        self.executed = Signal()
        self.mark     = self.count
        self.settled  = Signal()

        # # #

        self.comb += self.settled.eq(self.count == self.committed)
        self.sync += self.committed.eq(self.committed + self.executed)

    def reached(self, mark):
        """Expression: the requests that `mark` stands for are executed.

        A mark that is kept while more than half of a count passes is reached later than need be, at the latest when no
        request waits. So is one of before a reset.
        """
        return ~(self.committed - mark)[COUNT_BITS - 1] | self.settled      # Not [-1]: a difference has a bit more.

# Non-Posted Requests ------------------------------------------------------------------------------
# Limits the non-posted requests that a hard block hands over, so that posted requests and completions pass the others.
#
# The block's interface is in order. The transaction layer queues a few non-posted requests whose completions cannot
# leave yet; one more blocks all that the host sends behind it. The block holds non-posted requests back on demand, and
# hands over what follows them (PCIe 4.0 2.4.1).

# Non-posted requests that the block is asked for. Those that are on their way when it is told to stop come on top: the
# transaction layer has room for twice as many (NON_POSTED of gateware/tlp/completer_reads.py).
LIMIT = 8

HELD_BITS = 6


class NonPostedLimit(LiteXModule):
    """Counts the non-posted requests that the block has handed over and the transaction layer has not completed.

    Parameters
    ----------
    beat : stream of `phy_layout`, `pcie`, TLPs of the host; `first` is valid.

    Attributes
    ----------
    taken : Signal(), **in**, one cycle: the transaction layer has completed one.
    reset : Signal(), **in**, `pcie`, the link is down: all are lost.
    held  : Signal(HELD_BITS), **out**, `pcie`.
    room  : Signal(), **out**, `pcie`, fewer than LIMIT.
    """
    def __init__(self, beat):
        self.taken = Signal()
        self.reset = Signal()
        self.held  = held = Signal(HELD_BITS)
        self.room  = Signal()

        # # #

        count      = Signal(HELD_BITS)     # Completed requests, modulo its range.
        before     = Signal(HELD_BITS)     # The same, of the cycle before in `pcie`.
        ended      = Signal(HELD_BITS)     # Requests that were completed in the last cycle of `pcie`.
        arrived    = Signal()
        self.cross = cross = BusSynchronizer(HELD_BITS, "sys", "pcie")
        self.comb += cross.i.eq(count)
        self.sync += count.eq(count + self.taken)
        self.sync.pcie += [
            before.eq(cross.o),
            ended.eq(cross.o - before),
            arrived.eq(beat.valid & beat.ready & beat.first & is_non_posted(beat.dat)),
            self.room.eq(held < LIMIT),
            # Requests of before a loss of the link may end after it.
            If(self.reset | (ended > held),
                held.eq(arrived & ~self.reset),
            ).Else(
                held.eq(held + arrived - ended),
            ),
        ]


class NonPostedCredits(LiteXModule):
    """Gives UltraScale's block credits for non-posted requests; written in `sys` for `pcie`.

    The block has a counter of such credits, which starts at 0 (PG156, PG213, "Selective Flow Control for Non-Posted
    Requests"). It shows a new credit some cycles late, so that credits have a distance of PERIOD cycles.

    Attributes
    ----------
    held   : Signal(HELD_BITS), **in**, requests that the block has handed over.
    count  : Signal(6), **in**, credits that the block has.
    credit : Signal(), **out**, one cycle: one more.
    """
    PERIOD = 16

    def __init__(self):
        self.held   = Signal(HELD_BITS)
        self.count  = Signal(6)
        self.credit = Signal()

        # # #

        cycle = Signal(max=self.PERIOD)
        used  = Signal(HELD_BITS + 1)
        self.sync += [
            cycle.eq(cycle + 1),
            used.eq(self.held + self.count),
            self.credit.eq((cycle == 0) & (used < LIMIT)),
        ]
