# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Lock of the transmit PLL and measurement of its reference, with right, wrong, spread, wandering, stopped clocks."""

import functools
import tempfile
from pathlib import Path

import pytest
from migen import ClockDomain, Signal
from litex.gen import LiteXModule
from litex.gen.fhdl.verilog import convert

from litepcie_soc.endpoint.serdes.ecp5.lock import STEADY_WINDOW, ReferenceClock, TransmitLock, limits, margin
from test.gateware.verilate import run as execute

HERE      = Path(__file__).parent
SHORT     = 4096   # Cycles of a window in most tests: 41 us.
WINDOW_NS = 10 * SHORT

full = pytest.mark.full


class Top(LiteXModule):
    def __init__(self, sys_clk_freq, window):
        self.cd_sys       = ClockDomain(reset_less=True)
        self.cd_refclk    = ClockDomain(reset_less=True)
        self.cd_pcie_free = ClockDomain(reset_less=True)
        self.lock         = lock = TransmitLock(sys_clk_freq, window)
        self.reference    = reference = ReferenceClock(sys_clk_freq, (100e6, 200e6), window)
        self.ios          = {domain.clk for domain in (self.cd_sys, self.cd_refclk, self.cd_pcie_free)}
        for name, signal in (("locked", lock.locked), ("refclk_ok", reference.ok), ("refclk_cycles", reference.cycles)):
            port       = Signal(len(signal), name_override=name)
            self.comb += port.eq(signal)
            self.ios.add(port)


@functools.cache
def compiled(window, sys_clk_freq):
    """Returns the folder with the compiled simulation."""
    top    = Top(sys_clk_freq, window)
    folder = tempfile.TemporaryDirectory(prefix="lock")
    path   = Path(folder.name)
    (path / "top.v").write_text(convert(top, ios=top.ios, name="top").main_source, encoding="utf-8")
    execute(["iverilog", "-g2009", "-s", "bench", "-o", "bench", HERE / "lock.v", "top.v"], path)
    return folder


def run(*flags, window=SHORT, sys_clk_freq=100e6, **values):
    """Returns {name: number} of what ``lock.v`` saw."""
    options = [f"+{flag}" for flag in flags] + [f"+{name}={value}" for name, value in values.items()]
    text    = execute(["vvp", "-n", "bench", *options], compiled(window, sys_clk_freq).name)
    return {name: int(value) for name, value in (word.split("=") for word in text.split() if "=" in word)}


@pytest.mark.one_at_a_time
@pytest.mark.parametrize("ppm", [-2900, *[pytest.param(ppm, marks=full) for ppm in (300, 4500)]])
def test_locks_to_any_reference_clock_that_a_slot_may_give(ppm):
    seen = run("FOLLOW", PPM=ppm, END_NS=20*WINDOW_NS)
    assert (seen["locked"], seen["locks"], seen["losses"], seen["refclk_ok"]) == (1, 1, 0, 1)
    assert abs(seen["refclk_cycles"] - SHORT*(1 - ppm/1e6)) < 2


@full
def test_another_clock_of_the_card():
    seen = run("FOLLOW", sys_clk_freq=62.5e6, SYS_PS=16000, END_NS=30*WINDOW_NS)
    assert (seen["locked"], seen["locks"], seen["losses"], seen["refclk_ok"]) == (1, 1, 0, 1)


@full
@pytest.mark.parametrize("ppm", [-6000, 6000, -500000])
def test_does_not_lock_to_another_frequency(ppm):
    """The transmit clock is steady, and the reference clock as it should be."""
    seen = run(PPM=ppm, END_NS=20*WINDOW_NS)
    assert (seen["locked"], seen["locks"], seen["refclk_ok"]) == (0, 0, 1)


@full
def test_does_not_lock_while_the_transmit_clock_wanders():
    """It stays within the limits of the count, on average it is right, and it changes in each window."""
    seen = run(WANDER_PPM=4500, WANDER_CYCLES=SHORT*5//4, END_NS=30*WINDOW_NS)
    assert (seen["locked"], seen["locks"]) == (0, 0)


@full
def test_locks_when_the_transmit_clock_no_longer_wanders():
    seen = run(WANDER_PPM=4500, WANDER_CYCLES=SHORT*5//4, CALM_NS=20*WINDOW_NS, END_NS=40*WINDOW_NS)
    assert (seen["locked"], seen["locks"], seen["losses"]) == (1, 1, 0)


@pytest.mark.parametrize("what", [{"STOP_NS": 20*WINDOW_NS},
    pytest.param({"WANDER_PPM": 200000, "WANDER_CYCLES": 500, "WANDER_NS": 20*WINDOW_NS}, marks=full)])
def test_loses_the_lock(what):
    seen = run(**what, END_NS=26*WINDOW_NS)
    assert (seen["locked"], seen["locks"], seen["losses"]) == (0, 1, 1)


@full
def test_a_spread_clock_is_steady():
    """With the window of the card: 5000 ppm down in a triangle of 31 kHz, and 300 ppm off."""
    seen = run("FOLLOW", PPM=-300, SPREAD_PPM=5000, window=STEADY_WINDOW, END_NS=10*STEADY_WINDOW*8)
    assert (seen["locked"], seen["locks"], seen["losses"], seen["refclk_ok"]) == (1, 1, 0, 1)


def test_limits():
    assert limits(81920, 300) == (81895, 81945) and limits(81920, 2000) == (81756, 82084)
    assert margin(320, 300) == 2
