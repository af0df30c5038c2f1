#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""PartialWrites: alone, and in DRAMMemory over LiteDRAM's controller and a model of DDR3 without data masks."""

import pytest

from test.gateware.memory.dram_bench import WRITERS, build, counts

pytestmark = pytest.mark.unit

# Word and module, bits; LiteDRAM moves eight times the module's at once.
SHAPES = {
    "two words a line":     dict(width=64,  data_bits=16),
    "a word a line":        dict(width=256, data_bits=32),
    "wide":                 dict(width=512, data_bits=64),
    "four accesses a word": dict(width=512, data_bits=16),
}
CHIPS  = dict(crossing=True, clk_freq=156.25e6, byte_mask=False)
# Halves of the periods of sys, at 125, 166.7 and 250 MHz, and of the controller's clock.
CLOCKS = [(5, 4), (15, 16), (5, 8)]


@pytest.fixture(scope="module", params=SHAPES)
def bench(request, tmp_path_factory):
    """Function that runs the bench of a shape: (seed, cycles, mode, clocks) to the counts it prints."""
    program = build(tmp_path_factory.mktemp("partial"), **SHAPES[request.param], **CHIPS)

    def run(seed, cycles, mode, clocks):
        status, lines = program(seed, cycles, mode, clocks)
        assert (status, len(lines)) == (0, 1), lines
        return counts(lines)
    run.shape = request.param
    return run

# In the memory ------------------------------------------------------------------------------------


@pytest.mark.parametrize("clocks", CLOCKS)
@pytest.mark.parametrize("mode", ["busy", "calm", "pieces", "stop"])
def test_what_a_write_leaves_out_stays(bench, mode, clocks):
    """As with masks, whatever is read while parts of the same lines are written."""
    for seed in range(3):
        _, *accesses = bench(seed, 20000, mode, clocks)
        assert sum(accesses[:WRITERS]) > 300
        assert min(accesses) > 100


def test_left_out_it_is_noticed(tmp_path):
    """What a memory that believes in masks does to chips that have none."""
    program = build(tmp_path, **SHAPES["two words a line"], **CHIPS, merged=False)
    for mode in ("busy", "calm", "pieces"):
        status, lines = program(1, 20000, mode, CLOCKS[0])
        assert status == 1
        assert "is not what was written" in lines[-1]
