# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The fixed cost of a transfer, from rates that are made with a known one."""

import pytest

from litepcie_bench.fit import FixedCost, fit


@pytest.mark.parametrize("t0, rinf", [(35e-9, 1.8e9), (12e-6, 3.6e9), (1e-9, 2.2e8)])
def test_what_was_put_in_comes_out(t0, rinf):
    cost  = FixedCost(t0, rinf)
    found = fit({size: cost.rate(size) for size in (8, 64, 512, 4096, 32768)})
    assert found.t0   == pytest.approx(t0, rel=1e-6)
    assert found.rinf == pytest.approx(rinf, rel=1e-6)


def test_half_peak_size_is_at_half_the_peak():
    cost = FixedCost(35e-9, 1.8e9)
    assert cost.half_peak == pytest.approx(63)
    assert cost.rate(cost.half_peak) == pytest.approx(0.9e9)
