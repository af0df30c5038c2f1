# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""examples/verilog/axi_stream_top.v: packets of any length to the user's AXI4-Stream logic and back, inverted."""

import subprocess

import pytest

from test.gateware.standalone.bench import BUFFER, Bench
from test.gateware.standalone.model import ROOT, generate
from test.gateware.standalone.test_gen import MIGEN_HABITS

VERILOG = ROOT / "examples" / "verilog"
TOP     = "axi_stream_top"
LENGTHS = (1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 128, 129, 1000, 4095, 4096, 4097)
BACK    = 0x8000_0000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The generated core, and the example beside it."""
    made   = tmp_path_factory.mktemp("axi_stream")
    result = generate(VERILOG / "core.yml", made)
    assert (result.returncode, result.stderr) == (0, "")
    return made


@pytest.mark.full
def test_lint(folder):
    """The example itself is without warnings; the core has those that Migen's Verilog always has."""
    (folder / "core.vlt").write_text("`verilator_config\n" + "".join(
        f'lint_off -rule {habit} -file "*litepcie_core.v"\n' for habit in MIGEN_HABITS))
    # Two modules in one file: DECLFILENAME.
    lint = subprocess.run(["verilator", "--lint-only", "-Wall", "-Wno-DECLFILENAME", "--top-module", TOP,
        folder / "core.vlt", VERILOG / f"{TOP}.v", folder / "litepcie_core.v"], capture_output=True, text=True,
        timeout=120)
    assert (lint.returncode, lint.stderr) == (0, "")


class StreamBench(Bench):
    """A core whose memory and streams have no ports."""
    def client(self, stall):
        return None


@pytest.mark.full
@pytest.mark.parametrize("stall", [0.0, 0.3])
def test_packets(folder, stall):
    """Each packet comes back with its length and its end, whatever the stalls of the link are."""
    files = [VERILOG / f"{TOP}.v", folder / "litepcie_core.v"]
    (folder / f"{TOP}.v").write_text("".join(file.read_text() for file in files))
    (folder / f"{TOP}.md").write_text((folder / "litepcie_core.md").read_text())
    bench   = StreamBench(folder, TOP, stall=stall)
    reader  = bench.engine("reader", bench.channels)
    writer  = bench.engine("writer", bench.channels)
    packets = [bench.bytes(length) for length in bench.random.sample(LENGTHS, len(LENGTHS))]
    source, at = [], BUFFER
    for packet in packets:
        bench.host.put(at, packet)
        source.append((at, 0, len(packet), bench.regs["DESCRIPTOR_LAST"]))
        at += len(packet) + bench.random.randint(1, 300)
    writer.submit([(BACK + 0x2000 * n, 0, 0x1800, 0) for n in range(len(packets))])
    reader.submit(source)
    reader.wait()
    writer.wait()
    for n, packet in enumerate(packets):
        report = bench.host.get32(writer.status + 64 + 4 * n)
        assert report == len(packet) | bench.regs["REPORT_LAST"]
        assert bench.host.get(BACK + 0x2000 * n, len(packet)) == bytes(255 - byte for byte in packet)
    bench.core.close()
