#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Limit of the time for which a stream writer's buffer waits for more data."""

from math import ceil

from migen import *

from litex.gen import *

# Flush Timer --------------------------------------------------------------------------------------


class FlushTimer(LiteXModule):
    """Tells when a buffer has held data for too long.

    Parameters
    ----------
    clk_freq : Hz of ``sys``.

    Attributes
    ----------
    us   : 16, **in**, limit in microseconds; 0: none.
    wait : 1, **in**, the buffer holds data.
    due  : 1, **out**, ``wait`` has been set for at least ``us`` - 1 and at most ``us`` microseconds; until it clears.
    """
    def __init__(self, clk_freq):
        self.us   = Signal(16)
        self.wait = Signal()
        self.due  = Signal()

        # # #

        cycles_per_us = max(1, ceil(clk_freq/1e6))
        cycle  = Signal(max=max(2, cycles_per_us))
        waited = Signal(16)
        self.sync += [
            # Runs freely: the first microsecond may be shorter.
            cycle.eq(cycle + 1),
            If(cycle == cycles_per_us - 1,
                cycle.eq(0),
                If(waited != 2**16 - 1, waited.eq(waited + 1))
            ),
            self.due.eq(self.wait & (self.us != 0) & (waited >= self.us)),
            If(~self.wait, waited.eq(0), self.due.eq(0)),
        ]
