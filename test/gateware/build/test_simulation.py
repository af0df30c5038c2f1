#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tests of the names of simulated boards' build folders."""

import pytest

from litepcie_soc.build.simulation import build_name


@pytest.mark.parametrize("options, name", [
    ({},                                                           "sim_gen2_x4_128"),
    ({"gen": 3, "lanes": 8, "data_width": 512, "tags": 256},       "sim_gen3_x8_512_tags256"),
    ({"phy": "split", "endianness": "little", "with_ddr": True},   "sim_gen2_x4_128_split_little_ddr"),
    ({"streams": 2, "patterns": 1},                                "sim_gen2_x4_128_streams2_patterns1"),
    ({"streams": 2, "memory_size": 1 << 20},                       "sim_gen2_x4_128_streams2_memory_size1048576"),
])
def test_name_says_what_is_not_default(options, name):
    assert build_name(**options) == name
