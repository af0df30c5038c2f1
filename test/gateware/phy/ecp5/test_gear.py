#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Gearing in the fabric: nothing is lost or doubled, whatever the phase of the two clocks."""

import pytest

from migen import *

from litex.gen import *

from litepcie_soc.phy.ecp5.gear import ReceiveGear, TransmitGear

REST = 0x800


class Sender(LiteXModule):
    """The gear and its reset, which both clock domains have."""
    def __init__(self):
        self.reset     = Signal()
        self.cd_pcie   = ClockDomain()
        self.cd_symbol = ClockDomain()
        self.gear      = TransmitGear(12, REST)

        # # #

        self.comb += [self.cd_pcie.rst.eq(self.reset), self.cd_symbol.rst.eq(self.reset)]


@pytest.mark.parametrize("phase", range(0, 40, 2))
def test_every_half_leaves_once_and_in_order(phase):
    dut, got = Sender(), []

    def feed():
        for n in range(200):
            yield dut.reset.eq(n < 4 or 100 <= n < 108)
            yield dut.gear.sink.eq(2*n & 0x3ff | (2*n + 1 & 0x3ff) << 12)
            yield

    def watch():
        for _ in range(390):
            got.append((yield dut.gear.source))
            yield
    run_simulation(dut, {"pcie": feed(), "symbol": watch()}, clocks={"pcie": (80, phase), "symbol": 40})
    # Two stretches, before and after the second reset, each without a gap.
    runs = [[]]
    for half in got:
        if half == REST:
            runs += [[]] if runs[-1] else []
        else:
            runs[-1].append(half)
    runs = [run for run in runs if run]
    assert len(runs) == 2 and min(map(len, runs)) > 150
    for run in runs:
        assert run[0] % 2 == 0 and run == list(range(run[0], run[0] + len(run)))


def test_two_halves_are_a_word_in_every_second_cycle():
    dut, got = ReceiveGear(12), []

    def drive():
        for n in range(100):
            yield dut.sink.eq(n)
            yield
            if (yield dut.valid):
                got.append((yield dut.source))
    run_simulation(dut, {"pcie_rx": drive()}, clocks={"pcie_rx": 10})
    halves = [half for word in got[2:] for half in (word & 0xfff, word >> 12)]
    assert len(got) == 50 and halves == list(range(halves[0], halves[0] + len(halves)))
