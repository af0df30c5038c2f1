#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""DRAMMemory with LiteDRAM's controller and its model of DDR3, in Verilator: order, back-pressure and rate."""

import pytest

from litepcie_soc.ddr.dram import DRAMMemory
from litepcie_soc.ddr.sim import SimDRAM

from test.gateware.ddr.dram_bench import WRITERS, build, counts

# Bits of a word and of the module; whether LiteDRAM's controller has its own clock, and whether the model checks the
# timing of its commands.
SHAPES = {
    "four words a line":   dict(width=64,  data_bits=32, crossing=True),
    "two accesses a word": dict(width=128, data_bits=8,  checked=True),
}
CLOCKS = [(8, 5), (5, 8)]  # Half the periods of sys and of the controller's clock, if it has its own.
first, *others = SHAPES


@pytest.fixture(scope="module", params=[first, *[pytest.param(name, marks=pytest.mark.full) for name in others]])
def bench(request, tmp_path_factory):
    """Function that runs the bench of a shape with (seed, cycles, mode, clocks) and returns the counts it prints."""
    program = build(tmp_path_factory.mktemp("dram"), **SHAPES[request.param])

    def run(seed, cycles, mode, clocks=CLOCKS[0]):
        status, lines = program(seed, cycles, mode, clocks)
        assert status == 0, lines
        # LiteDRAM's refresh may close a row too early; that is not checked here.
        assert [line for line in lines[:-1] if "ACT->PRE violation" not in line] == []
        return counts(lines)
    run.shape = request.param
    return run

# Tests --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode, clocks", [("busy", CLOCKS[0]), pytest.param("calm", CLOCKS[1], marks=pytest.mark.full)])
def test_reads_see_every_write_before_them(bench, mode, clocks):
    _, *accesses = bench(CLOCKS.index(clocks), 40000, mode, clocks)
    assert min(accesses) > 500


def test_stopped_client_blocks_no_other(bench):
    _, first, second, stopped, reads = bench(1, 20000, "stop")
    assert stopped <= DRAMMemory.PLACES + 2
    assert min(first, second, reads) > 1000


@pytest.mark.full
def test_streams_reach_the_rate_of_the_ports_or_of_the_memory(bench):
    """With requests of every client in every cycle, each direction gets half the rate: the bus turns around seldom."""
    cycles, *accesses = bench(1, 40000, "stream")
    writes, reads     = sum(accesses[:WRITERS]) / cycles, sum(accesses[WRITERS:]) / cycles
    # A word per cycle each way; or two accesses per word, less refreshes, bus turnarounds and row changes.
    most = {"four words a line": 2, "two accesses a word": 0.5}[bench.shape]
    assert writes + reads > 0.85 * most
    assert 0.9 < writes / reads < 1.1


def test_size_beyond_the_dram():
    sdram = SimDRAM(1 << 18, 64)
    with pytest.raises(ValueError, match="at most 262144 bytes, the size of the DRAM, not 524288"):
        DRAMMemory(1 << 19, 128, sdram.crossbar)


@pytest.mark.parametrize("size, clk_freq, message", [
    (1 << 20, 250e6, r"must be from 75e6 to 200e6 Hz \(a quarter of the memory clock\), not 250e6"),
    (1 << 31, 200e6, "to 1073741824 bytes, not 2147483648"),
])
def test_module_errors(size, clk_freq, message):
    with pytest.raises(ValueError, match=message):
        SimDRAM(size, 64, clk_freq)
