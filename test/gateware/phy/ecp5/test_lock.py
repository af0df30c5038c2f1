#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Both locks of the transmit PLL with clocks that are right, wrong, spread, wandering and stopped."""

import functools
import tempfile

from pathlib import Path

import pytest

from migen import ClockDomain, Signal

from litex.gen import LiteXModule
from litex.gen.fhdl.verilog import convert

from litepcie_soc.phy.ecp5.lock import STEADY_WINDOW, WINDOW, ReferenceLock, SystemLock, limits, margin

from test.gateware.verilate import run as execute

HERE      = Path(__file__).parent
SHORT     = 4096   # Cycles of a window in most tests: 41 us.
WINDOW_NS = 10 * SHORT

full = pytest.mark.full

# Helpers ------------------------------------------------------------------------------------------


class Top(LiteXModule):
    def __init__(self, make):
        self.cd_sys       = ClockDomain(reset_less=True)
        self.cd_refclk    = ClockDomain(reset_less=True)
        self.cd_pcie_free = ClockDomain(reset_less=True)
        self.lock         = lock = make()
        self.ios          = {domain.clk for domain in (self.cd_sys, self.cd_refclk, self.cd_pcie_free)}
        for name in ("locked", "refclk_ok", "refclk_cycles"):
            port       = Signal(len(getattr(lock, name)), name_override=name)
            self.comb += port.eq(getattr(lock, name))
            self.ios.add(port)


@functools.cache
def compiled(kind, window, sys_clk_freq):
    """Returns the folder with the compiled simulation of a lock."""
    top    = Top(lambda: ReferenceLock(sys_clk_freq, 100e6, window) if kind == "reference" else
        SystemLock(sys_clk_freq, window))
    folder = tempfile.TemporaryDirectory(prefix="lock")
    path   = Path(folder.name)
    (path / "top.v").write_text(convert(top, ios=top.ios, name="top").main_source, encoding="utf-8")
    execute(["iverilog", "-g2009", "-s", "bench", "-o", "bench", HERE / "lock.v", "top.v"], path)
    return folder


def run(kind, *flags, window=SHORT, sys_clk_freq=100e6, **values):
    """Returns {name: number} of what ``lock.v`` saw."""
    options = [f"+{flag}" for flag in flags] + [f"+{name}={value}" for name, value in values.items()]
    text    = execute(["vvp", "-n", "bench", *options], compiled(kind, window, sys_clk_freq).name)
    return {name: int(value) for name, value in (word.split("=") for word in text.split() if "=" in word)}

# Tests --------------------------------------------------------------------------------------------


@pytest.mark.one_at_a_time
@pytest.mark.parametrize("kind", ["reference", "system"])
@pytest.mark.parametrize("ppm", [-2900, *[pytest.param(ppm, marks=full) for ppm in (0, 300, -300, 4500, -4500)]])
def test_locks_to_any_reference_clock_that_a_slot_may_give(kind, ppm):
    seen = run(kind, "FOLLOW", PPM=ppm, END_NS=20*WINDOW_NS)
    assert (seen["locked"], seen["locks"], seen["losses"], seen["refclk_ok"]) == (1, 1, 0, 1)
    if kind == "reference":
        assert abs(seen["refclk_cycles"] - SHORT*(1 - ppm/1e6)) < 2
    else:
        assert seen["refclk_cycles"] == 0


@full
@pytest.mark.parametrize("kind", ["reference", "system"])
def test_another_clock_of_the_card(kind):
    seen = run(kind, "FOLLOW", sys_clk_freq=62.5e6, SYS_PS=16000, END_NS=30*WINDOW_NS)
    assert (seen["locked"], seen["locks"], seen["losses"], seen["refclk_ok"]) == (1, 1, 0, 1)
    assert run("system", sys_clk_freq=100e6, SYS_PS=16000, END_NS=30*WINDOW_NS)["locks"] == 0


@pytest.mark.parametrize("kind, ppm", [
    ("system", -6000),
    # A short window has steps of 200 ppm.
    *(pytest.param("reference", ppm, marks=full) for ppm in (1500, -1500, 30000)),
    *(pytest.param("system", ppm, marks=full) for ppm in (6000, 30000, -500000)),
])
def test_does_not_lock_to_another_frequency(kind, ppm):
    """The transmit clock is steady, and the reference clock as it should be."""
    seen = run(kind, PPM=ppm, END_NS=20*WINDOW_NS)
    assert (seen["locked"], seen["locks"]) == (0, 0)
    assert seen["refclk_ok"] == (kind == "reference")


@full
def test_does_not_lock_while_the_transmit_clock_wanders():
    """It stays within the limits of a count with ``sys``, on average it is right, and it changes in each window."""
    seen = run("system", WANDER_PPM=4500, WANDER_CYCLES=SHORT*5//4, END_NS=60*WINDOW_NS)
    assert (seen["locked"], seen["locks"]) == (0, 0)


@full
def test_locks_when_the_transmit_clock_no_longer_wanders():
    seen = run("system", WANDER_PPM=4500, WANDER_CYCLES=SHORT*5//4, CALM_NS=20*WINDOW_NS, END_NS=40*WINDOW_NS)
    assert (seen["locked"], seen["locks"], seen["losses"]) == (1, 1, 0)


@pytest.mark.parametrize("kind, what", [
    ("reference", {"STOP_NS": 20*WINDOW_NS}),
    pytest.param("system", {"STOP_NS": 20*WINDOW_NS}, marks=full),
    *(pytest.param(kind, {"WANDER_PPM": 200000, "WANDER_CYCLES": 500, "WANDER_NS": 20*WINDOW_NS}, marks=full)
        for kind in ("reference", "system")),
])
def test_loses_the_lock(kind, what):
    seen = run(kind, **what, END_NS=26*WINDOW_NS)
    assert (seen["locked"], seen["locks"], seen["losses"]) == (0, 1, 1)


@full
@pytest.mark.parametrize("kind", ["reference", "system"])
def test_a_spread_clock_is_steady(kind):
    """With the window of the card: 5000 ppm down in a triangle of 31 kHz, and 300 ppm off."""
    window = WINDOW if kind == "reference" else STEADY_WINDOW
    seen   = run(kind, "FOLLOW", PPM=-300, SPREAD_PPM=5000, window=window, END_NS=10*window*15)
    assert (seen["locked"], seen["locks"], seen["losses"], seen["refclk_ok"]) == (1, 1, 0, 1)


def test_limits():
    assert limits(81920, 300) == (81895, 81945) and limits(81920, 2000) == (81756, 82084)
    assert margin(320, 300) == 2
