#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

import pytest

from litepcie_soc.common.link_rates import data_path_rate, default_clock, link_rate


@pytest.mark.parametrize("gen, lanes, rate", [
    (1, 1, 250e6), (1, 8, 2e9), (2, 4, 2e9), (2, 8, 4e9), (3, 8, 7876.9e6),
])
def test_link_rate(gen, lanes, rate):
    assert link_rate(gen, lanes) == pytest.approx(rate, rel=1e-4)


@pytest.mark.parametrize("gen, lanes, data_width, clock", [
    (1, 4, 64, 125e6), (1, 8, 64, 250e6), (2, 4, 128, 125e6), (2, 8, 128, 250e6),
    (3, 8, 256, 250e6), (3, 8, 64, 250e6),
])
def test_default_clock(gen, lanes, data_width, clock):
    assert default_clock(gen, lanes, data_width) == clock


def test_data_path_rate():
    assert data_path_rate(128, 125e6) == 2e9
