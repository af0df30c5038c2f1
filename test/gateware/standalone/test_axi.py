# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""AXI ports of generated cores, checked by the models of cocotbext-axi in Icarus Verilog."""

import contextlib
import os
import re
import subprocess

import pytest
from cocotb_tools.runner import get_results, get_runner

from test.gateware.standalone.model import ROOT, generate
from test.gateware.standalone.test_gen import MIGEN_HABITS

SLICE = r"(?:\[[^\]]*\])?"

CORE = """\
name: axi_core
data_width: {data}
streams: {streams}
pcie: {{gen: 1, lanes: 1}}
stream_port: {{face: axi{stream_options}}}
user_bus: {{face: axi-lite, origin: 0x40000000, size: 64 KiB, timeout_us: 2, clock: {clock}}}
host_buffers: {{count: 2, size: 16 KiB, descriptors: true}}
memory: {{kind: {memory}, size: 64 KiB{memory_options}}}
"""


def settled(verilog):
    """Verilog in which a combinational block assigns each of its targets once, at its end.

    Migen's blocks first assign the default to a target, and then its value. Icarus Verilog takes that for two changes.
    If two blocks depend on targets of each other, although no signal depends on itself, then they never come to rest.
    """
    def block(match):
        text    = match[0]
        targets = sorted(set(re.findall(rf"^ +(\w+){SLICE} <= ", text, re.M)))
        text    = re.sub(rf"^( +)(\w+)({SLICE}) <= ", r"\1next_\2\3 = ", text, flags=re.M)
        ends    = "".join(f"    {target} <= next_{target};\n" for target in targets)
        return "".join(next_of[target] for target in targets) + text.removesuffix("end\n") + ends + "end\n"
    next_of = {name: f"reg {bits} next_{name};\n" for bits, name in
        re.findall(r"^ *(?:output +)?reg +((?:\[\d+:0\])?) +(\w+)", verilog, re.M)}
    return re.sub(r"^always @\(\*\) begin\n.*?^end\n", block, verilog, flags=re.M | re.S)


def simulate(folder, data, width, clock, modules, memory="axi", listed=False, **options):
    """Generates a core, and runs the tests of some of the modules `cocotb_*.py` on it.

    `listed`: the stream has the options of its port, not all streams together.
    """
    stream = f", width: {width}, clock: {clock}"
    (folder / "core.yml").write_text(CORE.format(data=data, clock=clock, memory=memory,
        streams=f"[{{name: data, depth: 32 KiB{stream}}}]" if listed else 1, stream_options="" if listed else stream,
        memory_options=f", clock: {clock}, timeout_us: 20" * (memory == "axi")))
    result = generate(folder / "core.yml", folder)
    assert (result.returncode, result.stderr) == (0, "")
    verilog = folder / "axi_core.v"
    (folder / "settled.v").write_text(settled(verilog.read_text()))
    runner = get_runner("icarus")
    runner.build(sources=[folder / "settled.v"], hdl_toplevel="axi_core", build_dir=folder / "build",
        timescale=("1ns", "1ps"), log_file=folder / "build.log")
    log = folder / "test.log"
    result = folder / "result.xml"
    environment = {
        "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "CORE_FOLDER": str(folder), "CLOCK": clock,
        # Bytes of a partial beat that are not in `tkeep` may be unknown.
        "COCOTB_RESOLVE_X": "ZEROS", "COCOTB_LOG_LEVEL": "WARNING", "LENGTHS": "", "ACCESSES": "0",
        **{name.upper(): str(value) for name, value in options.items()}}
    with contextlib.suppress(SystemExit):  # A test failed.
        runner.test(hdl_toplevel="axi_core",
            test_module=[f"test.gateware.standalone.cocotb_{module}" for module in modules], build_dir=folder / "build",
            test_dir=folder, results_xml=result, log_file=log, extra_env=environment)
    tests, failed = get_results(result)
    assert tests and not failed, log.read_text()[-6000:]


FEW  = "1 4 7 9 65 300"
MANY = "1 2 3 4 5 7 8 9 63 64 65 127 128 129 1000 4095 4096 4097"


@pytest.mark.full
def test_all_ports(tmp_path):
    """Streams, registers and memory, each in a clock of its own, and buffers in host memory.

    The core has no warnings but those that all cores have.
    """
    simulate(tmp_path, 64, 32, "own", ("streams", "registers", "host", "memory"), stream_ps=6434,
        lengths="1 65", accesses=4)
    habits = [f"-Wno-{habit}" for habit in MIGEN_HABITS]
    lint   = subprocess.run(["verilator", "--lint-only", "-Wall", *habits, "--top-module", "axi_core",
        tmp_path / "axi_core.v"], capture_output=True, text=True, timeout=120)
    assert (lint.returncode, lint.stderr) == (0, "")
    verilog   = (tmp_path / "axi_core.v").read_text()
    registers = re.findall(r'(ASYNC_REG = "TRUE" \*\)\s+)?reg +(?:\[\d+:0\])? +\w*_regs[01] ', verilog)
    assert registers and all(registers), "a synchroniser without ASYNC_REG"


@pytest.mark.full
@pytest.mark.parametrize("data, width, clock, stream_ps, listed", [
    (64, 128, "own", 17912, True), (128, 8, "own", 3218, False), (256, 256, "sys", 8000, False)])
def test_streams(tmp_path, data, width, clock, stream_ps, listed):
    simulate(tmp_path, data, width, clock, ("streams",), listed=listed, stream_ps=stream_ps, lengths=MANY)


@pytest.mark.full
@pytest.mark.parametrize("data, clock", [(64, "sys"), (256, "own")])
def test_registers(tmp_path, data, clock):
    simulate(tmp_path, data, data, clock, ("registers",), accesses=200)


@pytest.mark.full
def test_host_buffers(tmp_path):
    simulate(tmp_path, 256, 256, "sys", ("host",), accesses=30, lengths=FEW)


@pytest.mark.full
@pytest.mark.parametrize("data, clock, memory_ps", [(64, "own", 3334), (128, "own", 17912), (512, "sys", 8000)])
def test_memory(tmp_path, data, clock, memory_ps):
    simulate(tmp_path, data, 64, clock, ("memory",), lengths=MANY, memory_ps=memory_ps)
