#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Boards by open tools: every one elaborates, the smallest is as large as the document says."""

import subprocess
import sys

import pytest

from litepcie_bench.synth import devices, project, targets_table
from litepcie_bench.synth.boxes import declarations
from litepcie_bench.synth.count import area
from litepcie_bench.synth.elaborate import elaborate
from litepcie_bench.synth.project import Project
from litepcie_bench.synth.table import PATH
from litepcie_bench.synth.targets import elaborated, load, record, targets
from litepcie_bench.synth.tools import ToolError

TARGETS  = targets()
SMALLEST = "kosagi_netv2_gen2_x4_128"

# Black boxes --------------------------------------------------------------------------------------


def test_a_port_that_nothing_drives_is_an_output():
    known = {"type": "BUFG", "port_directions": {"O": "output", "I": "input"}, "connections": {"I": [2], "O": [3]}}
    block = {"type": "pcie_s7", "connections": {
        "sys_clk": [3],         # Driven by a known cell,
        "cfg_ds":  [2, 2],      # by the input of the module,
        "tied":    ["0", "x"],  # by a constant.
        "data":    [4, 5, 6],
        "free":    [],
    }}
    adder = {"type": "$add", "port_directions": {"A": "input", "Y": "output"}, "connections": {"A": [4], "Y": [7]}}
    top   = {"ports": {"clk": {"direction": "input", "bits": [2]}, "out": {"direction": "output", "bits": [4]}},
        "cells": {"known": known, "block": block, "adder": adder}}
    found = declarations({"modules": {"top": top, "BUFG": {"ports": {}, "cells": {}}}})
    assert list(found) == ["pcie_s7"]
    assert [line.strip(" ,") for line in found["pcie_s7"].splitlines()[1:-2]] == [
        "input [0:0] sys_clk", "input [1:0] cfg_ds", "input [1:0] tied", "output [2:0] data", "output [0:0] free"]

# Counting -----------------------------------------------------------------------------------------


def test_cells_of_ultrascale():
    found = area({"LUT6": 4, "RAM32M16": 2, "CARRY4": 9, "RAMB36E2": 3, "RAMB18E2": 1, "FDRE": 2, "MUXF9": 1,
        "BUFG_GT": 3, "IBUFDS_GTE4": 1, "pcie_usp": 1}, "xcup", ["pcie_usp"])
    assert (found.luts, found.luts_as_memory, found.brams, found.ffs) == (20, 16, 3.5, 2)
    with pytest.raises(ValueError, match="unknown size: LDCE, pcie_usp"):
        area({"LDCE": 1, "pcie_usp": 1}, "xcup")


def test_device_of_a_part():
    name, device = devices.device_of("xc7a200t-fbg484-3")
    assert (name, device.family, device.luts) == ("xc7a200t", "xc7", 134600)
    with pytest.raises(ValueError, match="xc7a12t: nothing is known"):
        devices.device_of("xc7a12t-csg325-1")

# Project ------------------------------------------------------------------------------------------


def test_what_vivado_would_read(tmp_path):
    wrapper = tmp_path / "elsewhere.v"
    wrapper.write_text("module wrapper; endmodule\n")
    folder  = tmp_path / "gateware"
    folder.mkdir()
    (folder / "a.tcl").write_text("create_project -force -name a -part xc7a35t-fgg484-2\nread_verilog {a.v}\n"
        f"read_verilog {{{wrapper}}}\nsynth_design -directive default -top a -part xc7a35t-fgg484-2\n")
    (folder / "a.v").write_text("module a; endmodule\n")
    (folder / "a_mem.init").write_text("0\n")
    found = project.read(folder)
    assert (found.name, found.part) == ("a", "xc7a35t-fgg484-2")
    assert found.sources == {"a.v": "module a; endmodule\n", "elsewhere.v": "module wrapper; endmodule\n",
        "a_mem.init": "0\n"}

# Elaboration --------------------------------------------------------------------------------------


@pytest.mark.parametrize("verilog, text", [
    ("module top(input a, output b); other other(.i(a), .o(b)); endmodule", "top: no source of module other"),
    ("module top(input a, output b); BUFG buffer(.I(a), .Q(b)); endmodule", "does not have a port named 'Q'"),
    ("module top(input a, output b); wire c; assign b = a & c; endmodule", "Found 1 problems"),
    ("module top(input a, output b); wire c = ~a; assign b = a & c; assign b = a ^ c; endmodule", "Found 1 problems"),
])
def test_what_does_not_elaborate(verilog, text):
    with pytest.raises(ToolError, match=text):
        elaborate(Project("top", "xc7a35t", {"top.v": verilog}), "pcie_s7")


def elaborated_here():
    """Every board, and of each family one with its DDR; ``make synth`` does all."""
    with_ddr = {load(target.name).BOARD.family: target for target in TARGETS if target.with_ddr}
    return [target for target in TARGETS if not target.with_ddr or target in with_ddr.values()]


@pytest.mark.parametrize("target", elaborated_here(), ids=str)
def test_every_board_elaborates(target):
    elaborated(target)

# Document -----------------------------------------------------------------------------------------


def line(build, luts):
    return {"build": build, "device": "xc7a35t", "luts": luts, "device_luts": 20800, "luts_as_memory": 10, "ffs": 500,
        "device_ffs": 41600, "brams": 22.5, "device_brams": 50, "dsps": 0, "device_dsps": 90}


def test_rows_that_were_not_measured_stay():
    builds = [target.build for target in TARGETS]
    empty  = "before\n<!-- boards -->\n<!-- end of boards -->\nafter\n"
    text   = targets_table.update(empty, [line(builds[1], 1000), line("gone", 1)])
    text   = targets_table.update(text, [line(builds[0], 2000)])
    assert list(targets_table.read(text)) == builds[:2]
    assert f"| {builds[1]} | xc7a35t | 1000 | 4.8 | 10 | 500 | 1.2 | 22.5 | 45.0 | 0 |" in text
    assert text.startswith("before\n") and text.endswith("after\n")
    assert targets_table.grown([line(builds[0], 2040), line(builds[1], 1021)], text) == [
        f"{builds[1]}: LUTs 1021, it was 1000"]
    assert targets_table.grown([line("new", 1)], text) == ["new: no such row"]


def test_the_document_names_no_other_boards():
    rows = list(targets_table.read(PATH.read_text(encoding="utf-8")))
    assert SMALLEST in rows and rows == [target.build for target in TARGETS if target.build in rows]


def test_the_smallest_board_has_not_grown():
    """Half a minute when the gateware changed."""
    (target,) = [target for target in TARGETS if target.build == SMALLEST]
    measured  = record(target)
    assert targets_table.grown([measured], PATH.read_text(encoding="utf-8")) == []
    assert measured["brams"] >= 16 and measured["luts"] < measured["device_luts"]

# Program ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments, text", [
    (["--targets", "kc706"], "no target kc706, there are kosagi_netv2"),
    (["--targets", "--width", "64"], "nothing to do with --width"),
    (["--elaborate"], "--elaborate goes with --targets"),
])
def test_usage(arguments, text):
    done = subprocess.run([sys.executable, "-m", "litepcie_bench.synth", *arguments], capture_output=True, text=True,
        timeout=60)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and text in done.stderr
