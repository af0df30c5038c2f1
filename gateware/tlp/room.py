#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Gives the room of completions in the PHY's buffer back."""

from migen import *

from litex.gen import *

from litepcie_soc.tlp.context import BLOCKS_BITS
from litepcie_soc.tlp.budget import blocks_of

# Block Return -------------------------------------------------------------------------------------

# Completions whose last beat came, less those whose entry came: -1 to one for each lookup in the pipeline of the check.
AHEAD_BITS = 4


class BlockReturn(LiteXModule):
    """Gives the blocks of a completion back when its last beat has left the PHY and its check is over.

    The result of a check (the entry) comes in the order of the completions, after the first beat and before the entry
    of the next completion or event. So at most one entry waits for the last beat. A client that applies back-pressure
    does not delay the return: beats that have left the PHY take no room there.

    Attributes
    ----------
    entry : Record of `valid` and `entry_layout`, **in**, results of the check; each is valid for one cycle.
    last  : Signal(), **in**, the last beat of a completion has left the PHY.
    large : Signal(), **in**, blocks have 128 bytes.
    give  : Signal(), **out**, `given` blocks are free; asserted for one cycle.
    given : Signal(7), **out**.
    half  : Signal(), **out**, with `give`: only half a block is free, and `given` is 1.
    """
    def __init__(self, entry):
        self.entry = entry
        self.last  = Signal()
        self.large = Signal()
        self.give  = Signal()
        self.given = Signal(BLOCKS_BITS)
        self.half  = Signal()

        # # #

        held  = Signal()                        # `given` is to be given back.
        ahead = Signal((AHEAD_BITS, True))
        self.held, self.ahead = held, ahead  # Proofs read them.
        self.comb += self.give.eq(held & ~ahead[-1])
        self.sync += [
            ahead.eq(ahead + self.last - (entry.valid & entry.has_beats)),
            If(self.give, held.eq(0)),
            If(entry.valid & entry.live,
                held.eq(1),
                self.given.eq(blocks_of(entry.lower, entry.covered, entry.covers_end, self.large)),
                # Such a request has one completion. One that is wrong covers nothing.
                self.half.eq(entry.half & entry.covers_end),
            ),
        ]
