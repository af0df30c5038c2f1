#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Lock of the transmit PLL by counting clocks, and a measurement of the reference clock.

The block's own lock bit is unreliable. The transmit clock is counted with ``sys``, because the reference clock does not
reach the fabric of every device, and on some perhaps only in nextpnr's view of it.
"""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

WINDOW  = 65536  # Cycles of the reference clock in its measurement.
PCIE_HZ = 125e6

# Limits in parts per million between two windows: those of the word PLL_LOL_SET.
LOCK_PPM = 300
LOST_PPM = 2000

# The count compares with another oscillator: a slot's clock is off by 300 ppm, on average by 2500 ppm more while it is
# spread, and an oscillator of a board by 100 ppm.
NEAR_PPM = 5000
FAR_PPM  = 10000

# As many windows in a row must be steady. At 100 MHz a window is as long as ten periods of a spread clock,
# so that it is steady, too; all together take a third of the time that the PLL has to lock.
STEADY        = 4
STEADY_WINDOW = 32768  # Cycles of ``sys``.

# What a wrong reference clock exceeds. A slot may spread its clock by 5000 ppm.
REFCLK_PPM = 20000

# Windows without a sign of life after which a clock counts as stopped.
DEAD_WINDOWS = 4

# Limits -------------------------------------------------------------------------------------------


def margin(expected, ppm):
    """Returns a number of cycles. The two clocks are asynchronous, so a count can be off by 2."""
    return max(2, round(expected * ppm / 1e6))


def limits(expected, ppm):
    """Returns (lowest, highest) number of cycles."""
    return round(expected) - margin(expected, ppm), round(expected) + margin(expected, ppm)


def within(value, bounds):
    """Returns 1 bit: the value is in (lowest, highest)."""
    return (value >= bounds[0]) & (value <= bounds[1])

# Parts --------------------------------------------------------------------------------------------


class Window(LiteXModule):
    """Changes a signal every ``cycles`` cycles of a clock domain.

    Attributes
    ----------
    toggle : 1, **out**, of that domain.
    """
    def __init__(self, domain, cycles):
        self.toggle = toggle = Signal()

        # # #

        left  = Signal(max=cycles, reset=cycles - 1)
        sync  = getattr(self.sync, domain)
        sync += [
            left.eq(left - 1),
            If(left == 0, left.eq(cycles - 1), toggle.eq(~toggle)),
        ]


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


class TransmitCount(LiteXModule):
    """Counts the transmit clock, domain ``pcie_free``, between the changes of a signal.

    Parameters
    ----------
    toggle : Signal of another clock domain.
    most   : cycles at which the count stays.

    Attributes
    ----------
    cycles : up to ``most``, **out**, pcie_free; in the last window.
    ended  : 1, **out**, pcie_free; a pulse: a window has ended, and ``cycles`` is of it.
    """
    def __init__(self, toggle, most):
        self.cycles = Signal(max=most + 1)
        self.ended  = Signal()

        # # #

        seen, before, count  = Signal(), Signal(), Signal(max=most + 1)
        self.specials       += MultiReg(toggle, seen, "pcie_free")
        self.sync.pcie_free += [
            before.eq(seen),
            self.ended.eq(seen != before),
            If(count != most, count.eq(count + 1)),
            If(seen != before, count.eq(1), self.cycles.eq(count)),
        ]

# Lock ---------------------------------------------------------------------------------------------


class TransmitLock(LiteXModule):
    """Counts the transmit clock during a window of ``sys``.

    The count alone cannot prove the lock, because the limits must allow for two oscillators and a spread clock. So the
    count must be steady as well: a PLL without lock wanders. The transmit PLL is locked when the count is within 5000
    ppm of its nominal value and 300 ppm of the window before, in four windows in a row. The lock is lost beyond 10000
    ppm or 2000 ppm, or when the transmit clock stops.

    Needs the clock domain ``pcie_free``, the transmit clock without reset.

    Parameters
    ----------
    sys_clk_freq : Hz of ``sys``, from an oscillator of the board.
    window       : cycles of ``sys`` in a window.

    Attributes
    ----------
    locked : 1, **out**; the transmit PLL is locked.
    """
    def __init__(self, sys_clk_freq, window=STEADY_WINDOW):
        self.locked = Signal()

        # # #

        expected            = window * PCIE_HZ / sys_clk_freq
        near, far           = limits(expected, NEAR_PPM), limits(expected, FAR_PPM)
        self.timer          = timer = Window("sys", window)
        self.count          = count = TransmitCount(timer.toggle, 2*far[1] - 1)
        before, more, less  = [Signal.like(count.cycles) for _ in range(3)]
        check, beat, good   = Signal(), Signal(), Signal()
        steady              = Signal(max=STEADY)
        # One of the two differences has wrapped, and is large.
        changed             = lambda ppm: (more > margin(expected, ppm)) & (less > margin(expected, ppm))
        self.sync.pcie_free += [
            check.eq(count.ended),
            If(count.ended,
                before.eq(count.cycles),
                more.eq(count.cycles - before),
                less.eq(before - count.cycles),
            ),
            If(check,
                beat.eq(~beat),
                If(~within(count.cycles, near) | changed(LOCK_PPM),
                    steady.eq(0),
                ).Elif(steady == STEADY - 1,
                    good.eq(1),
                ).Else(
                    steady.eq(steady + 1),
                ),
                If(~within(count.cycles, far) | changed(LOST_PPM), good.eq(0)),
            ),
        ]

        # Result in sys.
        good_sys       = Signal()
        self.beats     = beats = Alive(beat, DEAD_WINDOWS * window)
        self.specials += MultiReg(good, good_sys)
        self.sync     += self.locked.eq(good_sys & beats.alive)

# Reference Clock ----------------------------------------------------------------------------------


class ReferenceClock(LiteXModule):
    """Measures the reference clock with ``sys``.

    Needs the clock domain ``refclk``.

    Parameters
    ----------
    sys_clk_freq : Hz of ``sys``.
    freqs        : Hz that the reference clock may have.
    window       : cycles of the reference clock in a window.

    Attributes
    ----------
    ok     : 1, **out**; the reference clock has one of these frequencies within 2 % (2.4 % may pass).
    cycles : 24, **out**; cycles of ``sys`` in the last window: Hz are ``window * sys_clk_freq`` divided by this.
        0: the reference clock does not run, or does not reach the fabric.
    window : the parameter.
    """
    def __init__(self, sys_clk_freq, freqs, window=WINDOW):
        self.ok     = Signal()
        self.cycles = Signal(24)
        self.window = window

        # # #

        in_sys     = [window * sys_clk_freq / freq for freq in freqs]
        coarse     = max(0, log2_int(window) - 9)  # Fewer bits to compare; the limit is 0.4 % further out, at most.
        cycles     = Signal(24)
        self.timer = timer = Window("refclk", window)
        self.edges = edges = Alive(timer.toggle, round(DEAD_WINDOWS * max(in_sys)))
        self.sync += [
            self.ok.eq(edges.alive & Reduce("OR", [within(self.cycles[coarse:], [limit >> coarse
                for limit in limits(n, REFCLK_PPM)]) for n in in_sys])),
            If(edges.edge,
                cycles.eq(1),
                If(edges.alive, self.cycles.eq(cycles)),
            ).Else(
                cycles.eq(cycles + 1),
                If(~edges.alive, self.cycles.eq(0)),
            ),
        ]
