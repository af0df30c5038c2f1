#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Lock of the transmit PLL by counting clocks, and a measurement of the reference clock."""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

# Limits in parts per million: those of the word PLL_LOL_SET, and what a wrong reference clock exceeds.
LOCK_PPM    = 300
LOST_PPM    = 2000
REFCLK_PPM  = 20000  # A slot may spread its clock by 5000 ppm.
WINDOW      = 65536  # Cycles of the reference clock.
PCIE_HZ     = 125e6

# Windows without a sign of life after which a clock counts as stopped.
DEAD_WINDOWS = 4


def limits(expected, ppm):
    """Returns (lowest, highest) number of cycles. The two clocks are asynchronous, so a count can be off by 2."""
    margin = max(2, round(expected * ppm / 1e6))
    return round(expected) - margin, round(expected) + margin


class Alive(LiteXModule):
    """Sees that a signal of another clock domain toggles at least every ``cycles`` cycles of ``sys``.

    Parameters
    ----------
    toggle : Signal of another clock domain.
    cycles : cycles of ``sys``.

    Attributes
    ----------
    edge  : 1, **out**; a change of the signal.
    alive : 1, **out**; the last change is at most ``cycles`` cycles ago.
    """
    def __init__(self, toggle, cycles):
        self.edge  = Signal()
        self.alive = Signal()

        # # #

        seen, before = Signal(), Signal()
        left         = Signal(max=cycles + 1)
        self.specials += MultiReg(toggle, seen)
        self.comb += [self.edge.eq(seen ^ before), self.alive.eq(left != 0)]
        self.sync += [
            before.eq(seen),
            If(self.edge, left.eq(cycles)).Elif(left != 0, left.eq(left - 1)),
        ]


class SoftLock(LiteXModule):
    """Counts the transmit clock during a window of the reference clock, because the block's own lock bit is unreliable.

    The transmit PLL is locked when the count is within 300 ppm of its nominal value. The lock is lost when the count
    differs by more than 2000 ppm, or when the transmit clock stops.

    Needs the clock domains ``refclk`` and ``pcie_free``, the transmit clock without reset.

    Parameters
    ----------
    sys_clk_freq : Hz of ``sys``.
    refclk_freq  : nominal Hz of the reference clock.
    window       : cycles of the reference clock in a window.

    Attributes
    ----------
    locked        : 1, **out**; the transmit PLL is locked.
    refclk_ok     : 1, **out**; the reference clock has its nominal frequency within 2 %, measured with ``sys``.
    refclk_cycles : 24, **out**; cycles of ``sys`` in the last window: Hz are ``window * sys_clk_freq`` divided by this.
        0: the reference clock does not run.
    """
    def __init__(self, sys_clk_freq, refclk_freq, window=WINDOW):
        self.locked        = Signal()
        self.refclk_ok     = Signal()
        self.refclk_cycles = Signal(24)

        # # #

        # Window.
        left, toggle      = Signal(max=window, reset=window - 1), Signal()
        self.sync.refclk += [
            left.eq(left - 1),
            If(left == 0, left.eq(window - 1), toggle.eq(~toggle)),
        ]

        # Transmit clock.
        expected          = window * PCIE_HZ / refclk_freq
        near, far         = limits(expected, LOCK_PPM), limits(expected, LOST_PPM)
        seen, before      = Signal(), Signal()
        cycles, taken     = Signal(max=2 * far[1]), Signal(max=2 * far[1])
        check, beat, good = Signal(), Signal(), Signal()
        self.specials       += MultiReg(toggle, seen, "pcie_free")
        self.sync.pcie_free += [
            before.eq(seen),
            check.eq(seen != before),
            If(cycles != 2 * far[1] - 1, cycles.eq(cycles + 1)),
            If(seen != before, cycles.eq(1), taken.eq(cycles)),
            If(check,
                beat.eq(~beat),
                If((taken >= near[0]) & (taken <= near[1]), good.eq(1)),
                If((taken < far[0]) | (taken > far[1]), good.eq(0)),
            ),
        ]

        # Result in sys.
        in_sys     = window * sys_clk_freq / refclk_freq
        dead       = round(DEAD_WINDOWS * in_sys)
        good_sys   = Signal()
        count      = Signal(24)
        self.beats = beats = Alive(beat, dead)
        self.edges = edges = Alive(toggle, dead)
        low, high  = limits(in_sys, REFCLK_PPM)
        self.specials += MultiReg(good, good_sys)
        self.sync += [
            self.locked.eq(good_sys & beats.alive),
            self.refclk_ok.eq(edges.alive & (self.refclk_cycles >= low) & (self.refclk_cycles <= high)),
            If(edges.edge,
                count.eq(1),
                If(edges.alive, self.refclk_cycles.eq(count)),
            ).Else(
                count.eq(count + 1),
                If(~edges.alive, self.refclk_cycles.eq(0)),
            ),
        ]
