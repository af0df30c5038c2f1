# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""DDR designs of boards, with only the clocks, and a port of LiteDRAM's crossbar. Builds them with Verilator and models
of cells and chips, and runs training and traffic."""

import json
import subprocess
from pathlib import Path

from migen import ClockDomain, Module, ResetSignal, Signal
from litex.gen.fhdl.verilog import convert
from litex.soc.cores.clock import S7MMCM

from litepcie_soc.ddr.ddr3 import DDRClocks, Series7DDR3
from litepcie_soc.ddr.ddr4 import DDR_CLK_FREQ, UltraScaleDDR4, UltraScaleDDRClocks
from test.gateware.ddr.phy.cells import Cells
from test.gateware.verilate import verilate

class DDR(Module):
    """Base of the designs below. The ports are in the clock domain of the memory controller.

    Ports, of the top
    -----------------
    done        : 1, **out**, the training is done, and the controller is out of reset.
    failed      : one bit per byte of the bus, **out**.
    command_*   : ``valid``, ``ready``, ``we``, ``addr``; a command accesses a line, eight beats of the bus.
    write_*     : ``valid``, ``ready``, ``data``, ``we`` (one bit per byte), in the order of the commands.
    read_*      : ``valid``, ``data``, in the order of the commands.
    """
    def add_ports(self, crossbar, domain, trained, failed):
        port, done = crossbar.get_port(), Signal()
        self.line  = port.data_width
        self.words = port.address_width
        ports = {"done": done, "failed": failed}
        for name, stream in (("command", port.cmd), ("write", port.wdata), ("read", port.rdata)):
            for field, *_ in stream.description.payload_layout:
                ports[f"{name}_{field}"] = getattr(stream, field)
            ports[f"{name}_valid"] = stream.valid
            if name != "read":
                ports[f"{name}_ready"] = stream.ready
        for name, signal in ports.items():
            signal.name_override = name
        self.comb += [done.eq(trained & ~ResetSignal(domain)), port.rdata.ready.eq(1)]
        self.ports = set(ports.values())


class Series7(DDR):
    """DDR3 of a board: its platform, module, sys_clk_freq and family."""
    def __init__(self, platform, module, sys_clk_freq, kintex7):
        self.clock_domains.cd_sys = cd_sys = ClockDomain("sys")
        self.submodules.pll = pll = S7MMCM(speedgrade=-2 if kintex7 else -3)
        pll.register_clkin(Signal(), 200e6)
        self.pads = platform.request("ddram")
        self.submodules.clocks = clocks = DDRClocks(pll, cd_sys, sys_clk_freq, with_dqs=not kintex7)
        chips = module(sys_clk_freq, "1:4")
        self.submodules.ddr    = ddr = Series7DDR3(self.pads, chips, sys_clk_freq, clocks, kintex7)
        self.clk_freq = sys_clk_freq
        self.add_ports(ddr.crossbar, "sys", clocks.trained, ddr.failed)


class UltraScale(DDR):
    """DDR4 of a board: its platform, oscillator, module, family, and whether the module is an RDIMM."""
    def __init__(self, platform, clkin_freq, module, plus, registered=False):
        self.pads = platform.request("ddram", 0)
        self.submodules.clocks = clocks = UltraScaleDDRClocks(Signal(), clkin_freq, plus)
        self.submodules.ddr    = ddr = UltraScaleDDR4(self.pads, module(DDR_CLK_FREQ, "1:4"), clocks, plus, registered)
        self.clk_freq = DDR_CLK_FREQ
        self.clock_domains.cd_sys = cd_sys = ClockDomain("sys", reset_less=True)  # For the CSR ``training``.
        self.comb += cd_sys.clk.eq(clocks.cd_ddr.clk)
        self.add_ports(ddr.crossbar, ddr.clock_domain, clocks.trained, ddr.failed)


# Settings of a run; each name ends with its unit.
SETTINGS = {
    "seed": 1,
    "limit": 9000000,        # Most controller cycles of a run.
    "tap_ps": 78.125,        # DS181, DS182: 1/64 of the reference clock's cycle.
    "tap_spread": 0.03,      # Largest relative difference between the taps of two delays.
    "setup_ps": 100,         # Setup and hold time of commands and data at the chips.
    "dqsq_ps": 150,          # A bit that a chip drives is not valid for so long at each end.
    "sample_setup_ps": 50,   # Setup and hold time of a deserializer.
    "skew_ps": 30,           # Most skew of a bit in its byte.
    "masks": 1,              # The chips have data masks.
    "phase_ps": 1e3/56,      # UG472: 1/56 of the VCO's cycle.
    "dqss": 0,               # How far DQS may be from the clock, in cycles of the chips; 0: as the standard says.
    "accesses": 3000,        # Random accesses after the training.
    # JESD79-3, JESD79-4, and the chips' datasheets.
    "reset_us": 200,
    "cke_us": 500,
    "rcd_ns": 13.125,
    "rp_ns": 13.125,
    "rfc_ns": 110,
    "wr_ns": 15,
    "wtr_ns": 7.5}

# Settings of each DQS: a list, or one number for all.
LANES = {
    "clock_ps": 1000,        # Clock and commands, from the FPGA to the chip.
    "data_ps": 700,          # Data, in each direction.
    "access_ps": 0,          # From the chip's clock to its data (tDQSCK).
    "dead": 0,               # The chip never drives.
    "deaf": 0,               # The chip never sees DQS.
}

# Latencies in beats. serializer: from the edge that takes a word to its first bit (UG471, table 3-11: four clocks).
# deserializer: from the sample of a first bit to the edge that shows it. tristate: from the edge that takes a pin's T
# to its effect. Values that are not in the manuals come from the training results of LiteX boards.
SERIES7    = {"serializer_beats": 8, "deserializer_beats": 15, "tristate_beats": -8, "taps": 32, "align_taps": 0,
    "vtc_cycles": 0, "ddr4": 0, "registered": 0}
ULTRASCALE = {"serializer_beats": 6, "deserializer_beats": 8, "tristate_beats": -2, "taps": 512, "align_taps": 54,
    "vtc_cycles": 10, "ddr4": 1, "registered": 0,
    "rcd_ns": 13.32, "rp_ns": 13.32, "rfc_ns": 260, "setup_ps": 80, "dqsq_ps": 100}


def build(folder, dut, **family):
    """Returns a function that runs a board. Arguments replace settings above; it returns the results of bench.cpp."""
    fragment = dut.get_fragment()
    cells    = Cells(fragment)
    verilog  = convert(fragment, {*dut.ports, *cells.ports}, name="top")
    verilog.write(str(folder/"top.v"))  # With the contents of memories, which the model reads.
    constants = "\n".join(["#pragma once",
        f"constexpr unsigned LINE_BYTES = {dut.line//8}, ADDRESS_BITS = {dut.words};", cells.header(dut.pads)])
    here  = Path(__file__).parent
    files = {path.name: path.read_text() for path in [here/"bench.cpp", *sorted(here.glob("*.h"))]}
    model = verilate({"top.v": verilog.main_source, "dut.h": constants, **files}, options=["-O3", "--x-assign", "0"],
        optimise="-O1")
    common = {**SETTINGS, "beat_ps": 1e12/8/dut.clk_freq, **LANES, **family}
    lanes  = len(dut.pads.dqs_p)
    def run(**settings):
        assert settings.keys() <= common.keys(), settings.keys() - common.keys()
        settings = {**common, **settings}
        for name in LANES:
            if not isinstance(settings[name], list):
                settings[name] = [settings[name]]*lanes
        file = folder/"settings"
        file.write_text("".join(f"{name} {' '.join(map(str, value)) if name in LANES else value}\n"
            for name, value in settings.items()))
        result = subprocess.run([model.path, file], cwd=folder, capture_output=True, text=True)
        assert result.returncode == 0, result.stdout
        return json.loads(result.stdout)
    return run


def check(result, **floors):
    """Checks that the memory works."""
    assert result["complaints"] == []
    assert result["failed"] == 0
    assert result["reads"] > 1000 and result["wrong"] == 0
    check_margins(result, **floors)


def check_margins(result, but=(), **floors):
    """Checks margins. floors: smallest allowed value of each margin, ps; but: numbers of DQS that are not checked."""
    print({name: result[name] for name in ("trained", *floors)})
    for name, floor in floors.items():
        assert min(margin for n, margin in enumerate(result[name]) if n not in but) >= floor, (name, result[name])


def wrong_bytes(result, width):
    """Numbers of the bytes with wrong read data, on a bus of ``width`` bytes."""
    return {n % width for n, wrong in enumerate(result["wrong_in"]) if wrong}


def fly_by(first, last, lanes):
    """Clock delays of the lanes in fly-by topology: the clock reaches them one after the other."""
    return [first + (last - first)*n/max(lanes - 1, 1) for n in range(lanes)]
