#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Limits the non-posted requests that a hard block hands over, so that posted requests and completions pass the others.

The block's interface is in order. The transaction layer queues a few non-posted requests whose completions cannot leave
yet; one more blocks all that the host sends behind it. The block holds non-posted requests back on demand, and hands
over what follows them (PCIe 4.0 2.4.1).
"""

from migen import *
from migen.genlib.cdc import BusSynchronizer

from litex.gen import *

from litepcie_soc.common.pcie import is_non_posted

# Constants ----------------------------------------------------------------------------------------

# Non-posted requests that the block is asked for. Those that are on their way when it is told to stop come on top: the
# transaction layer has room for twice as many (NON_POSTED of gateware/tlp/completer_reads.py).
LIMIT = 8

COUNT_BITS = 6

# Non-Posted Limit ---------------------------------------------------------------------------------


class NonPostedLimit(LiteXModule):
    """Counts the non-posted requests that the block has handed over and the transaction layer has not completed.

    Parameters
    ----------
    beat : stream of `phy_layout`, `pcie`, TLPs of the host; `first` is valid.

    Attributes
    ----------
    taken : Signal(), **in**, one cycle: the transaction layer has completed one.
    reset : Signal(), **in**, `pcie`, the link is down: all are lost.
    held  : Signal(COUNT_BITS), **out**, `pcie`.
    room  : Signal(), **out**, `pcie`, fewer than LIMIT.
    """
    def __init__(self, beat):
        self.taken = Signal()
        self.reset = Signal()
        self.held  = held = Signal(COUNT_BITS)
        self.room  = Signal()

        # # #

        count      = Signal(COUNT_BITS)     # Completed requests, modulo its range.
        before     = Signal(COUNT_BITS)     # The same, of the cycle before in `pcie`.
        ended      = Signal(COUNT_BITS)     # Requests that were completed in the last cycle of `pcie`.
        arrived    = Signal()
        self.cross = cross = BusSynchronizer(COUNT_BITS, "sys", "pcie")
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
    held   : Signal(COUNT_BITS), **in**, requests that the block has handed over.
    count  : Signal(6), **in**, credits that the block has.
    credit : Signal(), **out**, one cycle: one more.
    """
    PERIOD = 16

    def __init__(self):
        self.held   = Signal(COUNT_BITS)
        self.count  = Signal(6)
        self.credit = Signal()

        # # #

        cycle = Signal(max=self.PERIOD)
        used  = Signal(COUNT_BITS + 1)
        self.sync += [
            cycle.eq(cycle + 1),
            used.eq(self.held + self.count),
            self.credit.eq((cycle == 0) & (used < LIMIT)),
        ]
