#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The widest run of settings that passed."""

from migen import *

from litex.gen import *

# Widest Run ---------------------------------------------------------------------------------------


class WidestRun(LiteXModule):
    """Of positions that are judged one behind the other, the middle of the most that passed in a row.

    positions : how many there are, at most, in one row.

    Attributes
    ----------
    judge    : 1, **in**: the four below are there.
    passed   : 1, **in**.
    first    : 1, **in**: a row begins; no run goes on from the position before.
    position : log2, **in**: one more than the last, but where a row begins.
    wider    : 1, **out**, with judge: this position makes its run the widest.
    length   : log2, **out**: of the widest run; 0 when nothing passed.
    middle   : log2, **out**: its position; the lower one of two.
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
