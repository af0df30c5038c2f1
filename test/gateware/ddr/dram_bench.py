# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""DRAMMemory with LiteDRAM's controller and its model of DDR3, in Verilator, driven by dram_bench.cpp."""

import subprocess

from pathlib import Path

from migen import ClockDomain, ClockDomainsRenamer, Module

from litex.gen.fhdl.verilog import convert

from litepcie_soc.build.numbering import numbered_alike
from litepcie_soc.ddr.dram import DRAMMemory
from litepcie_soc.ddr.sim import CLOCK_HZ, SimDRAM

from test.gateware.verilate import verilate

BENCH   = Path(__file__).with_suffix(".cpp")
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
    controller's clock. The function returns the exit status and the lines printed.
    """
    with numbered_alike():
        dut     = Dut(**shape)
        verilog = convert(dut, dut.ports, name="top")
    verilog.write(str(folder / "top.v"))  # With the contents of memories, which the model reads.
    model = verilate({"top.v": verilog.main_source, "dut.h": header(dut, **shape), "main.cpp": BENCH.read_text()})
    def run(seed, cycles, mode, clocks):
        result = subprocess.run([model.path, *map(str, (seed, cycles, mode, *clocks))], cwd=folder,
            capture_output=True, text=True, timeout=120)
        return result.returncode, result.stdout.splitlines()
    return run


def counts(lines):
    """Numbers in the last line of a run: cycles, then the accesses of each client."""
    return [int(count) for count in lines[-1].split()[1:]]
