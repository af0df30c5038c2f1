#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""DRAMMemory over LiteDRAM's controller and its model of DDR3, in Verilator: order, room, and speed."""

import subprocess

from pathlib import Path

import pytest

from migen import ClockDomain, ClockDomainsRenamer, Module

from litex.gen.fhdl.verilog import convert

from litepcie_soc.memory.dram import DRAMMemory
from litepcie_soc.memory.sim import SimDRAM

pytestmark = pytest.mark.unit

BENCH   = Path(__file__).with_name("dram_bench.cpp")
WRITERS = 2
READERS = 2

# Word and module, bits; whether LiteDRAM's controller has a clock of its own, and whether the model checks the timing
# of its commands.
SHAPES = {
    "four words a line":   dict(width=64,  data_bits=32, crossing=True),
    "two accesses a word": dict(width=128, data_bits=8,  checked=True),
}
CLOCKS = [(8, 5), (5, 8)]  # Halves of the periods of sys and of the controller's clock, where that is another.

# Board --------------------------------------------------------------------------------------------


class Dut(Module):
    """The memory with its clients' ports at the top; ``ports``: their signals."""
    def __init__(self, width, data_bits, crossing=False, checked=False):
        self.clock_domains.cd_sys = ClockDomain("sys")
        self.ports = {self.cd_sys.clk, self.cd_sys.rst}
        domain     = "sys"
        sdram      = SimDRAM(size := data_bits << 12, data_bits, verbosity=int(checked))
        if crossing:
            domain = "dram"
            self.clock_domains.cd_dram = ClockDomain("dram")
            self.ports |= {self.cd_dram.clk, self.cd_dram.rst}
        self.submodules.sdram  = ClockDomainsRenamer(domain)(sdram)
        self.submodules.memory = memory = DRAMMemory(size, width, sdram.crossbar, domain)
        self.words      = size * 8 // width
        self.line_words = memory.line_width // width
        for n in range(WRITERS):
            self.add_ports(f"write{n}", memory.add_write_port())
        for n in range(READERS):
            read = memory.add_read_port()
            self.add_ports(f"read{n}_command", read.command)
            self.add_ports(f"read{n}_data", read.data)

    def add_ports(self, name, endpoint):
        fields  = [field for field, *_ in endpoint.description.payload_layout]
        signals = {field: getattr(endpoint, field) for field in ["valid", "ready", *fields]}
        for field, signal in signals.items():
            signal.backtrace     = [(f"{name}_{field}", None)]
            signal.name_override = f"{name}_{field}"
        self.ports |= {*signals.values()}


def header(dut, width, crossing=False):
    each = lambda count: " ".join(f"EACH({n})" for n in range(count))
    return "\n".join([
        f"#define WORD_BYTES {width // 8}u", f"#define WORDS {dut.words}u", f"#define LINE_WORDS {dut.line_words}u",
        f"#define WRITERS {WRITERS}u", f"#define READERS {READERS}u", f"#define CROSSING {int(crossing)}",
        f"#define FOR_EACH_WRITE(EACH) {each(WRITERS)}", f"#define FOR_EACH_READ(EACH) {each(READERS)}", ""])


@pytest.fixture(scope="module", params=SHAPES)
def bench(request, tmp_path_factory):
    """Function that runs the bench of a shape: (seed, cycles, mode, clocks) to the counts it prints."""
    shape  = SHAPES[request.param]
    folder = tmp_path_factory.mktemp("dram")
    dut    = Dut(**shape)
    convert(dut, dut.ports, name="top").write(str(folder / "top.v"))
    (folder / "dut.h").write_text(header(dut, shape["width"], "crossing" in shape))
    (folder / "main.cpp").write_text(BENCH.read_text())
    build = subprocess.run(["verilator", "--cc", "--exe", "--build", "-O3", "-CFLAGS", "-O0", "-Wno-fatal", "-Wno-lint",
        "-Wno-style", "--no-timing", "--x-initial", "0", "--top-module", "top", "top.v", "main.cpp"],
        cwd=folder, capture_output=True, text=True)
    assert build.returncode == 0, build.stdout + build.stderr

    def run(seed, cycles, mode, clocks=CLOCKS[0]):
        result = subprocess.run([folder / "obj_dir" / "Vtop", *map(str, (seed, cycles, mode, *clocks))],
            capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, result.stdout
        # That a refresh may close a row too early is LiteDRAM's.
        *checks, counts = result.stdout.splitlines()
        assert [line for line in checks if "ACT->PRE violation" not in line] == []
        return [int(count) for count in counts.split()[1:]]
    run.shape = request.param
    return run

# Tests --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clocks", CLOCKS)
@pytest.mark.parametrize("mode", ["busy", "calm"])
def test_reads_see_every_write_before_them(bench, mode, clocks):
    for seed in range(3):
        _, *counts = bench(seed, 40000, mode, clocks)
        assert min(counts) > 500


def test_a_stopped_client_stops_nobody(bench):
    _, first, second, stopped, reads = bench(1, 20000, "stop")
    assert stopped <= DRAMMemory.PLACES + 2
    assert min(first, second, reads) > 1000


def test_streams_reach_the_rate_of_the_ports_or_of_the_memory(bench):
    """Every client asks in every cycle, each direction half of what can be had: the bus turns seldom."""
    cycles, *counts = bench(1, 40000, "stream")
    writes, reads   = sum(counts[:WRITERS]) / cycles, sum(counts[WRITERS:]) / cycles
    # A word a cycle each way; or two accesses for each word, with refresh, turns and rows in between.
    most = {"four words a line": 2, "two accesses a word": 0.5}[bench.shape]
    assert writes + reads > 0.85 * most
    assert 0.9 < writes / reads < 1.1


def test_more_than_the_dram_has():
    sdram = SimDRAM(1 << 18, 64)
    with pytest.raises(ValueError, match="at most the DRAM's 262144 bytes, not 524288"):
        DRAMMemory(1 << 19, 128, sdram.crossbar)


@pytest.mark.parametrize("size, clk_freq, message", [
    (1 << 20, 250e6, "needs from 75e6 to 200e6 Hz, a quarter of its own clock, not 250e6"),
    (1 << 31, 200e6, "must be up to 1073741824 bytes, not 2147483648"),
])
def test_modules_that_cannot_be(size, clk_freq, message):
    with pytest.raises(ValueError, match=message):
        SimDRAM(size, 64, clk_freq)
