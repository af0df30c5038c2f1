# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""DRAMMemory with LiteDRAM's controller and its model of DDR3, in Verilator: order, back-pressure and rate."""

import subprocess
from pathlib import Path

import pytest
from migen import ClockDomain, ClockDomainsRenamer, Module
from litex.gen.fhdl.verilog import convert

from litepcie_soc.build.emit import numbered_alike
from litepcie_soc.ddr.dram import DRAMMemory
from litepcie_soc.ddr.sim import CLOCK_HZ, SimDRAM
from test.gateware.simulation import full
from test.gateware.verilate import verilate

BENCH   = Path(__file__).with_name("dram_bench.cpp")
WRITERS = 2
READERS = 2


class Dut(Module):
    """The memory with its clients' ports at the top; ``ports`` has their signals.

    width, data_bits : bits of a word and of the module's data bus.
    crossing         : whether LiteDRAM's controller has its own clock, of ``clk_freq`` Hz.
    checked          : whether the model checks the timing of its commands.
    byte_mask        : whether the chips have data masks.
    """
    def __init__(self, width, data_bits, crossing=False, clk_freq=CLOCK_HZ, checked=False, byte_mask=True):
        self.clock_domains.cd_sys = ClockDomain("sys")
        self.ports = {self.cd_sys.clk, self.cd_sys.rst}
        domain     = "sys"
        sdram      = SimDRAM(size := data_bits << 12, data_bits, clk_freq, verbosity=int(checked), byte_mask=byte_mask)
        if crossing:
            domain = "dram"
            self.clock_domains.cd_dram = ClockDomain("dram")
            self.ports |= {self.cd_dram.clk, self.cd_dram.rst}
        self.submodules.sdram  = ClockDomainsRenamer(domain)(sdram)
        self.submodules.memory = memory = DRAMMemory(size, width, sdram.crossbar, domain, byte_mask=byte_mask)
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


def header(dut, width, crossing=False, **others):
    each = lambda count: " ".join(f"EACH({n})" for n in range(count))
    return "\n".join([
        f"#define WORD_BYTES {width // 8}u", f"#define WORDS {dut.words}u", f"#define LINE_WORDS {dut.line_words}u",
        f"#define WRITERS {WRITERS}u", f"#define READERS {READERS}u", f"#define CROSSING {int(crossing)}",
        f"#define FOR_EACH_WRITE(EACH) {each(WRITERS)}", f"#define FOR_EACH_READ(EACH) {each(READERS)}", ""])


def build(folder, **shape):
    """Builds the bench in a folder; ``shape`` is arguments of ``Dut``.

    Returns a function that runs it, with the arguments seed, cycles, mode, and half the periods of sys and of the
    controller's clock, and returns the lines printed.
    """
    with numbered_alike():
        dut     = Dut(**shape)
        verilog = convert(dut, dut.ports, name="top")
    verilog.write(str(folder / "top.v"))  # With the contents of memories, which the model reads.
    model = verilate({"top.v": verilog.main_source, "dut.h": header(dut, **shape), "main.cpp": BENCH.read_text()})
    def run(seed, cycles, mode, clocks):
        result = subprocess.run([model.path, *map(str, (seed, cycles, mode, *clocks))], cwd=folder,
            capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, result.stdout
        return result.stdout.splitlines()
    return run


# Bits of a word and of the module; LiteDRAM's access is eight times as wide as the module. The first two have chips
# with data masks: one a controller with its own clock, the other a model that checks the timing of its commands.
BARE   = dict(crossing=True, clk_freq=156.25e6, byte_mask=False)
SHAPES = {
    "four words a line":    dict(width=64,  data_bits=32, crossing=True),
    "two accesses a word":  dict(width=128, data_bits=8,  checked=True),
    "two words a line":     dict(width=64,  data_bits=16, **BARE),
    "a word a line":        dict(width=512, data_bits=64, **BARE),
    "four accesses a word": dict(width=512, data_bits=16, **BARE)}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """Function that runs the bench of a shape and returns its cycles, and the accesses of each client."""
    programs = {}
    def run(shape, mode, clocks, seed=0, cycles=8000):
        if shape not in programs:
            programs[shape] = build(tmp_path_factory.mktemp("dram"), **SHAPES[shape])
        *lines, counts = programs[shape](seed, cycles, mode, clocks)
        # LiteDRAM's refresh may close a row too early; that is not checked here.
        assert [line for line in lines if "ACT->PRE violation" not in line] == []
        return [int(count) for count in counts.split()[1:]]
    return run

# Half the periods of sys and of the controller's clock, if it has its own.
@pytest.mark.parametrize("shape, mode, clocks", [("four words a line", "busy", (8, 5)),
    ("two words a line", "pieces", (5, 4)), *full(
        ("four words a line", "calm", (5, 8)), ("two accesses a word", "busy", (8, 5)),
        ("two words a line", "busy", (15, 16)), ("a word a line", "pieces", (5, 4)),
        ("four accesses a word", "pieces", (15, 16)), ("four accesses a word", "calm", (5, 8)))])
def test_reads_see_every_write_before_them(bench, shape, mode, clocks):
    """On chips without masks, bytes that are not written stay, also while parts of the same lines are written."""
    _, *accesses = bench(shape, mode, clocks)
    assert min(accesses) > 100


@pytest.mark.parametrize("shape", ["four words a line", *full("two words a line")])
def test_stopped_client_blocks_no_other(bench, shape):
    _, first, second, stopped, reads = bench(shape, "stop", (8, 5), seed=1)
    assert stopped <= DRAMMemory.PLACES + 2
    assert min(first, second, reads) > 100


@pytest.mark.full
@pytest.mark.parametrize("shape, clocks, share", [("four words a line", (8, 5), 0.85),
    ("two accesses a word", (8, 8), 0.85), ("two words a line", (5, 4), 0.7), ("four accesses a word", (5, 8), 0.7)])
def test_streams_reach_the_rate_of_the_ports_or_of_the_memory(bench, shape, clocks, share):
    """With requests of every client in every cycle, each direction gets half the rate: the bus turns around seldom."""
    cycles, *accesses = bench(shape, "stream", clocks, seed=1, cycles=40000)
    writes, reads     = sum(accesses[:WRITERS]), sum(accesses[WRITERS:])
    # A word per cycle each way; or an access per controller cycle, less refreshes, bus turnarounds and row changes.
    width, dram = SHAPES[shape]["width"], 8*SHAPES[shape]["data_bits"]*clocks[0]/clocks[1]
    assert (writes + reads)*width/cycles > share*min(2*width, dram)
    assert 0.9 < writes/reads < 1.1


def test_size_beyond_the_dram():
    sdram = SimDRAM(1 << 18, 64)
    with pytest.raises(ValueError, match="at most 262144 bytes, the size of the DRAM, not 524288"):
        DRAMMemory(1 << 19, 128, sdram.crossbar)


@pytest.mark.parametrize("size, clk_freq, message", [
    (1 << 20, 250e6, r"must be from 75e6 to 200e6 Hz \(a quarter of the memory clock\), not 250e6"),
    (1 << 31, 200e6, "to 1073741824 bytes, not 2147483648")])
def test_module_errors(size, clk_freq, message):
    with pytest.raises(ValueError, match=message):
        SimDRAM(size, 64, clk_freq)
