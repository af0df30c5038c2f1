# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Bitstreams of ECP5: the checks on texts of the tools, and a build of a test design with the SerDes."""

import importlib.metadata
import json
import re
from pathlib import Path

import pytest

from litepcie_soc.build import trellis
from litepcie_soc.build.processes import ToolError
from litepcie_soc.build.trellis import check_words, packed_words, reached

ASKED = {"pcie_clk": 125e6, "sys_clk": 100e6}


def fmax(**clocks):
    return {"fmax": {net: {"achieved": achieved, "constraint": asked} for net, (achieved, asked) in clocks.items()}}


def test_clocks_that_are_reached():
    report = fmax(**{"$glbnet$pcie_clk": (140, 125), "sys_clk": (100.2, 100)})
    assert reached(report, ASKED) == {"pcie_clk": 140e6, "sys_clk": 100.2e6}


@pytest.mark.parametrize("clocks, message", [
    ({"pcie_clk": (140, 125)},
        "clock sys_clk is not in the design"),
    ({"pcie_clk": (140, 125), "sys_clk": (140, 12)},
        "clock sys_clk is constrained to 12 MHz instead of 100 MHz"),
    ({"pcie_clk": (124.94, 125), "sys_clk": (140, 100)},
        "clock pcie_clk reaches 124.9 MHz of 125 MHz"),
    ({"pcie_clk": (140, 125), "sys_clk": (140, 100), "stray": (400, 12)},
        "clock stray of the design has no constraint")])
def test_clocks_that_are_not(clocks, message):
    with pytest.raises(ToolError, match=f"^timing is not met: {re.escape(message)}$"):
        reached(fmax(**clocks), ASKED)


# Two tiles of DCU0 of a 45F that share a word, one of DCU1, and one of another kind.
CONFIG = """\
.tile MIB_R71C42:DCU0
arc: A B
word: DCU.CH0_PCIE_MODE 1
word: DCU.CH0_UDF_COMMA_A 1110000011

.tile MIB_R71C43:DCU1
word: DCU.CH0_UDF_COMMA_A 1011111111
word: DCU.D_LOW_MARK 0100

.tile MIB_R71C69:DCU0
word: DCU.CH0_UC_MODE 1

.tile CIB_R70C42:CIB_DCU0
word: DCU.CH0_RIO_MODE 1
"""
WORDS = {"CH0_PCIE_MODE": 1, "CH0_UDF_COMMA_A": 0x283, "D_LOW_MARK": 4}


def test_words_of_one_block():
    assert packed_words(CONFIG, "45F", 0) == WORDS
    assert packed_words(CONFIG, "45F", 1) == {"CH0_UC_MODE": 1}


def test_other_words_than_asked():
    check_words(WORDS, dict(WORDS))
    with pytest.raises(ToolError, match="^the bitstream has other words of the SerDes than asked: CH0_PCIE_MODE is 0x1 "
            "instead of 0x0, D_HIGH_MARK is 0x0 instead of 0xc$"):
        check_words(WORDS, {**WORDS, "CH0_PCIE_MODE": 0, "D_HIGH_MARK": 12})


@pytest.mark.parametrize("device, options", [
    ("LFE5UM5G-45F-8BG381C", "--um5g-45k --package CABGA381 --speed 8"),
    ("LFE5UM-25F-6BG381C",   "--um-25k --package CABGA381 --speed 6"),
    ("LFE5U-85F-7BG756C",    "--85k --package CABGA756 --speed 7")])
def test_part(device, options):
    assert " ".join(trellis.part(device)) == options


def test_the_package_offers_the_tools_that_are_tested():
    """``pip install 'litepcie-soc[ecp5]'`` installs the versions of requirements.txt."""
    root   = Path(__file__).resolve().parents[3]
    extra  = re.search(r'"ecp5": \[(.*?)\]', (root / "setup.py").read_text(encoding="utf-8"))[1]
    pinned = (root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    offered = re.findall(r'"(.*?)"', extra)
    assert [one.split("==")[0] for one in offered] == list(trellis.PACKAGES)
    assert set(offered) <= {line.split(" ")[0] for line in pinned}


def test_missing_package_is_one_line(monkeypatch, tmp_path):
    def version(name):
        raise importlib.metadata.PackageNotFoundError(name)
    monkeypatch.setattr(importlib.metadata, "version", version)
    with pytest.raises(ToolError, match="^pyosys is not installed; run `make setup`$"):
        trellis.build(trellis.Design("top", "LFE5UM-45F-8BG381C", {}), tmp_path)


def test_error_of_a_tool_is_one_line(tmp_path):
    (tmp_path / "top.v").write_text("module top; wrong endmodule\n", encoding="ascii")
    with pytest.raises(ToolError, match=r"^python\S*: .*ERROR: .*; see .*top_yosys.log$") as error:
        trellis.build(trellis.Design("top", "LFE5UM-45F-8BG381C", {}), tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("clock, words, message", [
    (140, WORDS,                "^$"),
    (120, WORDS,                "^timing is not met: clock pcie_clk reaches 120.0 MHz of 125 MHz$"),
    (140, {**WORDS, "D_X": 1},  "^the bitstream has other words of the SerDes than asked: D_X is 0x1 instead of 0x0$")])
def test_no_bitstream_is_left_if_a_check_fails(monkeypatch, tmp_path, clock, words, message):
    used = {cell: {"used": 1, "available": 2} for cell in trellis.AREA}
    (tmp_path / "top.bit").write_text("of an earlier build", encoding="ascii")
    def pack(design, folder):
        for name in ("top.bit", "top_flash.bit", "top.svf"):
            (folder / name).write_text("new", encoding="ascii")
        return words
    monkeypatch.setattr(trellis, "synthesise", lambda design, folder: None)
    monkeypatch.setattr(trellis, "place_and_route",
        lambda design, folder: {**fmax(pcie_clk=(clock, 125)), "utilization": used})
    monkeypatch.setattr(trellis, "pack", pack)
    design = trellis.Design("top", "LFE5UM-45F-8BG381C", {"pcie_clk": 125e6}, WORDS)
    if message == "^$":
        assert "D_LOW_MARK 4" in trellis.build(design, tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {"top.bit", "top_flash.bit", "top.svf", "top.rpt"}
        return
    with pytest.raises(ToolError, match=message):
        trellis.build(design, tmp_path)
    assert list(tmp_path.iterdir()) == []

CARRIES = """
module top(input clk, input [9:0] a, b, output reg [9:0] count, output reg less);
    always @(posedge clk) begin
        count <= count + a;
        less  <= a < b;
    end
endmodule
"""


def test_a_carry_output_is_connected_only_if_it_is_read(tmp_path):
    """For each one that is connected at the end of its chain, nextpnr adds a cell of two LUTs."""
    (tmp_path / "top.v").write_text(CARRIES, encoding="ascii")
    trellis.synthesise(trellis.Design("top", "LFE5UM-45F-8BG381C", {}), tmp_path)
    cells = json.loads((tmp_path / "top.json").read_text(encoding="utf-8"))["modules"]["top"]["cells"].values()
    read  = {bit for cell in cells for port, bits in cell["connections"].items()
        if cell["port_directions"][port] == "input" for bit in bits}
    chains   = [cell["connections"] for cell in cells if cell["type"] == "CCU2C"]
    inner    = {bits for chain in chains for bits in chain["CIN"]} - {"0", "1"}
    carries  = [chain["COUT"] for chain in chains]
    (less,)  = [bit for (bit,) in carries if bit != "x" and bit not in inner]
    assert less in read and carries.count(["x"]) == 1
    assert all(bit in read for (bit,) in carries if bit != "x") and len(carries) == 10

SPI_MODE = bytes.fromhex("79590000")  # The command that selects reads of four bits (sysCONFIG, FPGA-TN-02039).


@pytest.mark.full  # ecppack takes five seconds of processor time, twice.
def test_only_the_flash_image_selects_the_flash_mode(tmp_path):
    """FPGAs may refuse SPI_MODE from JTAG, and openFPGALoader before 0.11 reads no file that has it."""
    (tmp_path / "top.config").write_text(".device LFE5UM-45F\n", encoding="ascii")
    trellis.pack(trellis.Design("top", "LFE5UM-45F-8BG381C", {}), tmp_path)
    for name, flash in (("top.bit", False), ("top_flash.bit", True)):
        data = (tmp_path / name).read_bytes()
        assert (SPI_MODE in data[:200]) == flash and 1000 < len(data) < 500_000
    assert (tmp_path / "top.svf").is_file()
