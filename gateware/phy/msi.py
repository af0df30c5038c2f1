#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""MSI behind the writes they tell of."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

# Ordered MSI --------------------------------------------------------------------------------------

IN_FLIGHT_BITS = 7  # More TLPs than fit between the PHY's stream and its hard block: a FIFO of 16 beats and registers.


class OrderedMSI(LiteXModule):
    """Holds an MSI back until the TLPs accepted before it are with the hard block.

    LitePCIe's PHYs take TLPs through a FIFO into the clock of the hard block and MSI through another: an MSI would
    overtake the status block it tells of whenever the link makes TLPs wait.

    Attributes
    ----------
    sink    : stream of `dat[8]` (vector), **in**, `sys`.
    source  : stream of `dat[8]`, **out**, `sys`.
    entered : Signal(), **in**, a TLP was accepted by the PHY.
    left    : Signal(), **in**, one was accepted by the hard block; some cycles late.
    reset   : Signal(), **in**, nothing is in between: the link is down.
    """
    def __init__(self):
        self.sink    = sink   = stream.Endpoint([("dat", 8)])
        self.source  = source = stream.Endpoint([("dat", 8)])
        self.entered = Signal()
        self.left    = Signal()
        self.reset   = Signal()

        # # #

        between = Signal(IN_FLIGHT_BITS)
        leaves  = Signal()
        ahead   = Signal(IN_FLIGHT_BITS)  # Of the MSI that waits.
        waiting = Signal()
        passes  = Signal()
        self.comb += [
            leaves.eq(self.left & (between != 0)),
            passes.eq(waiting & (ahead == 0)),
            source.valid.eq(sink.valid & passes),
            source.dat.eq(sink.dat),
            sink.ready.eq(source.ready & passes),
        ]
        self.sync += [
            between.eq(between + self.entered - leaves),
            If(~waiting,
                waiting.eq(sink.valid),
                ahead.eq(between + self.entered - leaves),
            ).Elif(leaves & (ahead != 0),
                ahead.eq(ahead - 1),
            ),
            If(sink.valid & sink.ready, waiting.eq(0)),
            If(self.reset, between.eq(0), ahead.eq(0)),
        ]
