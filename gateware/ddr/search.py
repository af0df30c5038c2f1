#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Search for the widest run of passing settings."""

from migen import *

from litex.gen import *

# Widest Run ---------------------------------------------------------------------------------------


class WidestRun(LiteXModule):
    """Finds the longest run of consecutive positions that passed, and its middle.

    Positions are judged in increasing order, in one or more rows; a run never extends from one row to the next.

    Parameters
    ----------
    positions : most positions in a row.

    Attributes
    ----------
    judge    : 1, **in**, ``passed``, ``first`` and ``position`` are valid.
    passed   : 1, **in**, this position passed.
    first    : 1, **in**, this position begins a row.
    position : log2(positions), **in**, one more than the previous one, except at the beginning of a row.
    wider    : 1, **out**, with ``judge``: this position makes its run the longest so far.
    length   : log2(positions + 1), **out**, length of the longest run; 0 when nothing passed.
    middle   : log2(positions), **out**, its middle; the lower one of two.
    """
    def __init__(self, positions):
        self.judge    = Signal()
        self.passed   = Signal()
        self.first    = Signal()
        self.position = Signal(max=max(positions, 2))
        self.wider    = Signal()
        self.length   = Signal(max=positions + 1)
        self.middle   = Signal(max=max(positions, 2))

        # # #

        run   = Signal(max=positions + 1)
        grown = Signal(max=positions + 2)
        self.comb += [
            grown.eq(Mux(self.first, 0, run) + 1),
            self.wider.eq(self.judge & self.passed & (grown > self.length)),
        ]
        self.sync += [
            If(self.judge, run.eq(Mux(self.passed, grown, 0))),
            If(self.wider, self.length.eq(grown), self.middle.eq(self.position - grown[1:])),
        ]
