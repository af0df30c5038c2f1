# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Boards that are built by yosys and nextpnr: command line, emitted files, and the bitstream itself."""

import os
import re
import subprocess
import sys

import pytest

from litepcie_bench.synth import bitstreams
from litepcie_bench.synth.table import PATH
from litepcie_soc.board import ecp5
from litepcie_soc.board.identity import pci_id
from litepcie_soc.build.targets import PATHS
from litepcie_soc.endpoint.serdes.ecp5.words import MODES, dcu_words, in_bitstream
from test.targets.boards import MODULES, build_name, emitted, run
from test.targets.checks import check_headers, check_nothing_written

NAME  = "lattice_versa_ecp5"
BOARD = MODULES[NAME].BOARD
BUILD = BOARD.configure().name(BOARD)
NAMES = [board.name for board in bitstreams.open_boards()]


@pytest.mark.parametrize("name", NAMES)
def test_help_has_no_word_of_vivado(name):
    result = subprocess.run([sys.executable, PATHS[name], "--help"], capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stderr) == (0, "")
    for option in ("--build", "--load", "--flash", "--driver", "--device", "--refclk", "--analogue", "--serdes",
        "--seed", "--no-receiver-detect", "--bringup", "--sys-clk-freq", "--dma-channels", "--tags", "--with-litescope",
        "--no-compile", "--cable", "--output-dir", "--streams", "--user-bus", "--host-buffers", "--interrupts"):
        assert option in result.stdout
    for word in ("vivado", "--with-ddr", "--cpu-type"):
        assert word not in result.stdout.lower()
    assert os.access(PATHS[name], os.X_OK)


@pytest.mark.parametrize("args, message", [
    ((),                               "nothing to do; give one of --build, --load, --flash, --driver"),
    (("--build", "--device", "45k"),   "--device 45k: LFE5U-45F-8BG381C has no SerDes; choose an LFE5UM or LFE5UM5G"),
    (("--build", "--device", "um5g-45k-6"),
        "--device um5g-45k-6: LFE5UM5G-45F-6BG381C does not exist: LFE5UM5G has speed grade 8 only"),
    (("--build", "--device", "um-85k"), "--device um-85k is not supported; Lattice Versa ECP5 has um5g-45k or um-45k"),
    (("--build", "--device", "xc7a35t"),
        "--device xc7a35t: no ECP5 has this name; give one such as um5g-45k or um-45k-6"),
    (("--build", "--with-ddr"), "--with-ddr is not supported; the memory of Lattice Versa ECP5 is 64 KiB of block RAM"),
    (("--build", "--streams", 2),      "--streams 2 is not supported with --dma-channels 1; Lattice Versa ECP5 has 2 "
        "channels of both kinds, so choose 0 to 1"),
    (("--build", "--refclk", "125e6"), "--refclk 125e6 is not supported; choose 100e6 or 200e6"),
    (("--build", "--analogue", "old"), "--analogue old is not supported; choose wizard, sample, litesata, luna"),
    (("--build", "--analogue", "luna", "--device", "um-45k"), "--analogue luna is not supported with --device um-45k: "
        "LFE5UM-45F-8BG381C is not an LFE5UM5G, for which these words are"),
    (("--build", "--serdes", "fast"),  f"--serdes fast is not supported; choose {', '.join(MODES)}"),
    (("--build", "--bringup", "--dma-channels", 2), "--bringup builds no card, so it takes no --dma-channels"),
    (("--build", "--bringup", "--driver"), "--bringup builds no card, so there is no --driver for it"),
    (("--build", "--seed", 0),         "--seed 0 is not supported; choose 1 or more"),
    (("--build", "--sys-clk-freq", "126e6"), "--sys-clk-freq 126e6 is not supported; choose 50e6 to 125e6 Hz"),
    (("--build", "--sys-clk-freq", "99.9777e6"), "the board's PLL cannot make this clock; choose another"),
])
def test_bad_input_is_one_line_and_status_2(args, message, tmp_path, capsys):
    assert run(NAME, *args, "--output-dir", tmp_path / "out") == 2
    check_nothing_written(tmp_path / "out", capsys, message)


def test_pads_that_are_not_those_of_the_channel(tmp_path, monkeypatch, capsys):
    """As if the pin table had the lane on channel 1: the tools would not notice."""
    make = ecp5.ECP5BoardSoC.__init__
    monkeypatch.setattr(ecp5.ECP5BoardSoC, "__init__",
        lambda soc, *args, **options: make(soc, *args, **{**options, "channel": 1}))
    assert run(NAME, "--build", "--output-dir", tmp_path / "out") == 2
    check_nothing_written(tmp_path / "out", capsys,
        "pads pcie_x1 are not those of DCU0 channel 1: rx_p is Y5 instead of Y7")

CLOCKS  = {"pcie_clk": "125.0", "pcie_rx_clk": "125.0"}
REFCLKS = {NAME: {"refclk_clk": 100e6}, "trellisboard": {}}  # Of those that reach the fabric.


@pytest.mark.parametrize("name, options, clocks", [
    (NAME, [], {}),
    *(pytest.param(name, options, clocks, marks=pytest.mark.full) for name, options, clocks in (
        (NAME, ["--dma-channels", "2", "--with-litescope", "--device", "um-45k"], {}),
        ("trellisboard", [], {}),
        (NAME, ["--serdes", "ctc"], {"pcie_rx_clk": None}),
        (NAME, ["--serdes", "no-gear", "--streams", "1", "--user-core"],
            {"pcie_rx_clk": "250.0", "symbol_clk": "250.0"}))),
], ids=["default", "most", "trellisboard", "ctc", "no-gear"])
def test_build_without_compile(name, options, clocks, tmp_path, capsys):
    board = MODULES[name].BOARD
    c     = emitted(name, options, tmp_path)
    build = c.name(board)
    assert capsys.readouterr() == ("", "")
    assert {path.name for path in (tmp_path / "gateware").iterdir() if path.suffix != ".init"} == {
        f"{build}.v", f"{build}.lpf"}
    soc_h = check_headers(tmp_path, board, c)
    assert {key: soc_h[f"PCIE_{key.upper()}"] for key in pci_id("ecp5")} == pci_id("ecp5")
    lpf = (tmp_path / "gateware" / f"{build}.lpf").read_text(encoding="utf-8")
    assert dict(re.findall(r'^FREQUENCY NET "(\w+)" ([\d.]+) MHz;$', lpf, flags=re.MULTILINE)) == {
        "pll_clkout0": f"{c.sys_clk_freq / 1e6}", **{net: mhz for net, mhz in (CLOCKS | clocks).items() if mhz},
        **{net: f"{hz / 1e6}" for net, hz in REFCLKS[name].items()}}
    verilog = (tmp_path / "gateware" / f"{build}.v").read_text(encoding="utf-8")
    assert f"module {build} (" in verilog and len(re.findall(r"^DCUA ", verilog, flags=re.MULTILINE)) == 1
    assert ("posedge refclk_clk" in verilog) == ("refclk_clk" in REFCLKS[name])
    assert f"{tmp_path}" not in lpf + verilog


def test_names_say_what_is_not_default():
    assert build_name(NAME, ["--analogue", "sample", "--serdes", "ctc"]) == f"{BUILD}_sample_ctc"
    assert build_name(NAME, ["--device", "um-45k", "--refclk", "200e6", "--seed", "7"]) == (
        f"{BUILD}_um45k_refclk200_seed7")


def test_image_for_bringup_without_compile(tmp_path):
    """It has no registers of a card."""
    c = emitted("trellisboard", ["--bringup", "--serdes", "no-gear", "--no-receiver-detect"], tmp_path)
    assert c.name(MODULES["trellisboard"].BOARD) == "trellisboard_bringup_nogear_nodetect"
    assert (tmp_path / "gateware" / "trellisboard_bringup_nogear_nodetect.v").exists()
    assert not (tmp_path / "software").exists()


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_bitstream_for_bringup(tmp_path, capsys):
    """76 s of processor time, 6076 LUT4 measured. The target itself fails if a clock misses its constraint."""
    assert run(NAME, "--build", "--bringup", "--output-dir", tmp_path) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1].endswith(f"/gateware/{NAME}_bringup.bit")
    assert int(re.search(r"LUT4 +(\d+) of", out)[1]) < 7000


@pytest.mark.full
@pytest.mark.timeout(1800)  # Three minutes alone, several times that beside other tests.
def test_bitstream():
    """As a user types it, if Verilog, constraints, steps or tools have changed. The target itself fails if a clock has
    no constraint or misses it, or if a word of the SerDes is not the one asked. TrellisBoard's takes twice as long:
    `make synth SYNTH="--bitstreams"` builds it."""
    board  = MODULES[NAME].BOARD
    record = bitstreams.built(board)
    report = record["output"]
    print(report)  # Clocks, area and words in the log.
    assert report.splitlines()[-1].endswith(f"/gateware/{board.configure().name(board)}.bit")
    asked = {"pll_clkout0": 100e6, "pcie_clk": 125e6, "pcie_rx_clk": 125e6, **REFCLKS[NAME]}
    assert {name: hz for name, (hz, _) in record["clocks"].items()} == asked
    assert all(reached >= 1.05 * hz for hz, reached in record["clocks"].values())
    assert record["luts"] <= 20000 and record["brams"] <= 70
    assert bitstreams.grown([record], PATH.read_text(encoding="utf-8")) == []
    for name, value in in_bitstream(dcu_words()).items():
        assert re.search(rf"\b{name} {value:x}\b", report), name
    assert 200_000 < record["bytes"] < 1_100_000
