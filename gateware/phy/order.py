#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What must not pass the posted requests before it: MSI, and completions where they have a channel of their own."""

from migen import *
from migen.genlib.cdc import BusSynchronizer

from litex.gen import *
from litex.gen.genlib.misc import WaitTimer

from litex.soc.interconnect import stream

# Posted Order -------------------------------------------------------------------------------------

COUNT_BITS = 10  # Of TLPs, modulo: far more than are between a PHY's stream and its link.

PATIENCE = 2**18  # Cycles without one TLP of those that are waited for: about a millisecond.


class Passed(LiteXModule):
    """Counts, in the clock of the hard block, TLPs that nothing passes any more; the count is told in `sys`.

    Parameters
    ----------
    strobes : list of Signal(), **in**, `pcie`, each one such TLP.

    Attributes
    ----------
    count : Signal(COUNT_BITS), **out**, `sys`, some cycles late. It goes on over a reset of the link.
    """
    def __init__(self, strobes):
        count      = Signal(COUNT_BITS, reset_less=True)
        self.cross = cross = BusSynchronizer(COUNT_BITS, "pcie", "sys")
        self.count = cross.o
        self.comb      += cross.i.eq(count)
        self.sync.pcie += count.eq(count + sum(strobes[1:], strobes[0]))


class PostedOrder(LiteXModule):
    """Holds back what must stay behind posted requests (PCIe 4.0 2.4.1) until those before it have passed.

    A hard block takes each kind through an interface of its own, and between it and `sys` are clock crossings: a
    completion or an MSI would overtake the status block it tells of whenever the link makes TLPs wait.

    A TLP that is lost, with the link or when bus mastering is taken away, is forgotten with `reset`, and else when
    none moved for PATIENCE cycles: late is better than never.

    Attributes
    ----------
    entered : Signal(), **in**, `sys`, a posted request was accepted by the PHY.
    passed  : Signal(COUNT_BITS), **in**, `sys`, count of those nothing passes any more, see `Passed`.
    reset   : Signal(), **in**, `sys`, nothing has to be waited for.
    """
    def __init__(self):
        self.entered = Signal()
        self.passed  = Signal(COUNT_BITS)
        self.reset   = Signal()

        # # #

        self.count  = count  = Signal(COUNT_BITS)  # Of those that entered.
        self.forget = forget = Signal()
        ahead = Signal(COUNT_BITS)
        known = Signal(COUNT_BITS)
        self.patience = patience = WaitTimer(PATIENCE)
        self.comb += [
            ahead.eq(count - self.passed),
            patience.wait.eq((ahead != 0) & (known == self.passed)),
            # More passed than entered: one came that was forgotten.
            forget.eq(self.reset | ahead[-1] | patience.done),
        ]
        self.sync += [
            known.eq(self.passed),
            count.eq(Mux(forget, self.passed, count) + self.entered),
        ]

    def behind(self, sink, packets):
        """A stream before `sink` whose packets (`packets` False: beats) stay behind the TLPs that entered before."""
        gate = _Gate(self, sink, packets)
        self.submodules += gate
        return gate.sink


class _Gate(LiteXModule):
    def __init__(self, order, source, packets):
        self.sink = sink = stream.Endpoint(source.description)

        # # #

        mark    = Signal(COUNT_BITS)  # How many must have passed.
        left    = Signal(COUNT_BITS)
        waiting = Signal()
        inside  = Signal()            # Of a packet that passes.
        passes  = Signal()
        self.comb += [
            left.eq(mark - order.passed),
            passes.eq(inside | (waiting & ((left == 0) | left[-1]))),
            sink.connect(source),
            If(~passes, source.valid.eq(0), sink.ready.eq(0)),
        ]
        self.sync += [
            If(~waiting,
                waiting.eq(sink.valid & ~inside),
                mark.eq(order.count + order.entered),
            ),
            If(sink.valid & sink.ready, inside.eq(~sink.last if packets else 0), waiting.eq(0)),
            If(order.forget, mark.eq(order.passed)),
        ]
