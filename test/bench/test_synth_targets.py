# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Boards by open tools: one of each family elaborates, and is before mapping as large as the document says. Of a small
design, each kind of resource is counted before mapping."""

import pytest

from litepcie_bench.synth import project, targets_table
from litepcie_bench.synth.boxes import declarations, wrong_ports
from litepcie_bench.synth.count import area
from litepcie_bench.synth.elaborate import elaborate
from litepcie_bench.synth.gates import Gates, count, gates_of
from litepcie_bench.synth.project import Project
from litepcie_bench.synth.targets import counted, targets
from litepcie_bench.synth.targets_table import COUNTED, MAPPED
from litepcie_bench.synth.tools import ToolError
from test.targets.boards import OF_FAMILY

pytestmark = pytest.mark.timeout(900)  # yosys takes several times its usual time beside other tests.

TARGETS = targets()


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


@pytest.mark.parametrize("port, bits, wrong", [
    ("pcie_cq_np_req", [3, "0"], None),
    ("pcie_cq_np_req", [3], "pcie_cq_np_req: 1 bits are connected to an input of 2"),
    ("pcie_cq_np_req", [3, 3, 3], "pcie_cq_np_req: 3 bits are connected to an input of 2"),
    ("pcie_cq_np_req", [9, 9], "pcie_cq_np_req: nothing drives this input"),
    ("cfg_dsn", ["0"], None),                                   # 64 bit: zero is all of it.
    ("cfg_ltssm_state", [4, 5], "cfg_ltssm_state: 2 bits are connected to an output of 6"),
    ("cfg_ltssm_state", [10, 11], None),                        # Nobody reads it.
    ("cfg_ltssm_state", [3] * 6, "cfg_ltssm_state: something drives this output"),
    ("cfg_ltssm", [4], "pcie_usp has no port cfg_ltssm in ports.csv"),
    ("m_axis_rc_tuser", [*range(100, 261)], "m_axis_rc_tuser: 161 bits are connected to an output of 75")])
def test_a_port_that_the_hard_block_does_not_have(port, bits, wrong):
    block = {"type": "pcie_usp", "connections": {"m_axis_rc_tdata": [*range(500, 756)], "pci_exp_rxp": [3] * 8,
        port: bits}}
    logic = {"type": "$add", "port_directions": {"A": "input"}, "connections": {"A": [4, 5, *range(100, 261)]}}
    top   = {"ports": {"in": {"direction": "input", "bits": [3]}}, "cells": {"block": block, "logic": logic}}
    found = list(wrong_ports({"modules": {"top": top}}, "pcie_usp"))
    assert found == ([] if wrong is None else [wrong if "no port" in wrong else f"pcie_usp, {wrong}"])


def test_cells_of_ultrascale():
    found = area({"LUT6": 4, "RAM32M16": 2, "CARRY4": 9, "RAMB36E2": 3, "RAMB18E2": 1, "FDRE": 2, "MUXF9": 1,
        "BUFG_GT": 3, "IBUFDS_GTE4": 1, "pcie_usp": 1}, "xcup", ["pcie_usp"])
    assert (found.luts, found.luts_as_memory, found.brams, found.ffs) == (20, 16, 3.5, 2)
    with pytest.raises(ValueError, match="unknown size: LDCE, pcie_usp"):
        area({"LDCE": 1, "pcie_usp": 1}, "xcup")


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


@pytest.mark.parametrize("verilog, text", [
    ("module top(input a, output b); other other(.i(a), .o(b)); endmodule", "top: no source of module other"),
    ("module top(input a, output b); BUFG buffer(.I(a), .Q(b)); endmodule", "does not have a port named 'Q'"),
    ("module top(input a, output b); wire c = ~a; assign b = a & c; assign b = a ^ c; endmodule", "Found 1 problems")])
def test_what_does_not_elaborate(verilog, text):
    with pytest.raises(ToolError, match=text):
        elaborate(Project("top", "xc7a35t", {"top.v": verilog}), "pcie_s7")


def line(build, luts=1000, **more):
    return {"build": build, "target": "board", "verilog": "0a1b2c3d", "device": "xc7a35t", "luts": luts, "ffs": 500,
        "device_luts": 20800, "luts_as_memory": 10, "device_ffs": 41600, "brams": 22.5, "device_brams": 50, "dsps": 0,
        "gates": 5000, "carries": 400, "registers": 510, "ram_luts": 8, **more}


WRITTEN = "".join(path.read_text(encoding="utf-8") for path in targets_table.PATHS)

EMPTY = "before\n<!-- boards -->\n<!-- end of boards -->\nbetween\n<!-- gates -->\n<!-- end of gates -->\nafter\n"


def test_rows_that_were_not_measured_stay():
    builds = [target.build for target in TARGETS]
    text   = targets_table.update(targets_table.update(EMPTY, [line(builds[1], 1000), line("gone", 1)]),
        [line(builds[0], 2000)])
    for table in (MAPPED, COUNTED):
        assert list(table.read(text)) == builds[:2]
    assert f"| {builds[1]} | xc7a35t | 1000 | 4.8 | 10 | 500 | 1.2 | 22.5 | 45.0 | 0 | 0a1b2c3d |" in text
    assert f"| {builds[1]} | 5000 | 400 | 510 | 8 | 22.5 | 0 | 0a1b2c3d |" in text
    assert text.startswith("before\n") and text.endswith("after\n") and "between" in text
    gates  = EMPTY.partition("between")[2]                     # A document with one of the tables.
    assert list(COUNTED.read(targets_table.update(gates, [line(builds[0])]))) == builds[:1]


@pytest.mark.parametrize("figure, column, most", [("luts", "LUTs", 1100), ("gates", "gates", 5500),
    ("brams", "BRAM", 22.5)])
def test_a_figure_that_grew(figure, column, most):
    """By more than a tenth, or a block RAM. What shrank is right."""
    build = TARGETS[0].build
    row   = line(build)
    text  = targets_table.update(EMPTY, [row])
    assert targets_table.grown([{**row, figure: most}, {**row, figure: most/2}], text) == []
    found = targets_table.grown([{**row, figure: most + 1}], text)
    renew = "" if figure == "luts" else " --gates"
    assert found[0] == f"{build}: {column} {most + 1}, the row has {row[figure]}; " \
        f'make synth SYNTH="--targets board{renew} --write" renews it'
    assert len(found) == (2 if figure == "brams" else 1)       # Both tables have the block RAM.
    assert [line.partition(";")[0] for line in targets_table.grown([line("new")], EMPTY)] == [
        "new: no row in the table of gates", "new: no row in the table of boards"]


def test_the_document_has_every_board():
    """The table before mapping has every board. The mapped table has no other builds, and as many pieces of each."""
    mapped, counted = MAPPED.read(WRITTEN), COUNTED.read(WRITTEN)
    builds          = [target.build for target in TARGETS]
    pieces          = lambda table, row: [row[list(table.columns).index(column)] for column in ("BRAM", "DSP")]
    assert list(counted) == builds
    assert list(mapped) == [build for build in builds if build in mapped] != []
    assert {build: pieces(MAPPED, row) for build, row in mapped.items()} == \
        {build: pieces(COUNTED, counted[build]) for build in mapped}


@pytest.mark.full
@pytest.mark.parametrize("name", OF_FAMILY.values())
def test_a_board_of_each_family_elaborates_and_has_not_grown(name):
    """A third of a minute each when the gateware changed. `make synth SYNTH="--targets --gates --check"` has all."""
    target   = next(target for target in TARGETS if target.build.startswith(name))
    measured = counted(target)
    assert targets_table.grown([measured], WRITTEN) == []
    assert measured["brams"] >= 8 and measured["registers"] > 5000


DESIGN = """
module top(input clk, input [31:0] a, input [31:0] b, input [8:0] address, output reg [31:0] out{ports});
    reg [31:0] memory[0:511];
    reg [31:0] read;
    always @(posedge clk) begin
        memory[address] <= a;
        read            <= memory[address];
        out             <= a[0] ? read : b;
    end
{added}
endmodule
"""


def counted_of(ports="", added="", family="xc7"):
    return count(Project("top", "", {"top.v": DESIGN.format(ports=ports, added=added)}), family, "pcie_s7")


@pytest.mark.full
@pytest.mark.parametrize("ports, added, grown", [
    (", output [31:0] more", "reg [31:0] ram[0:31]; always @(posedge clk) ram[b[4:0]] <= a; "
        "assign more = ram[address[4:0]];",                                                    {"ram_luts": 24}),
    (", output reg [31:0] more", "reg [31:0] big[0:1023]; always @(posedge clk) begin big[{a[0], address}] <= b; "
        "more <= big[{a[1], address}]; end",                                                   {"brams": 1}),
    (", output [31:0] more", "assign more = a[15:0] * b[15:0];",                                {"dsps": 1}),
], ids=["RAM of LUTs", "block RAM", "DSP"])
def test_what_is_added_is_seen(ports, added, grown):
    before, after = counted_of().record(), counted_of(ports, added).record()
    assert before == Gates(gates=32, carries=0, registers=32, ram_luts=0, brams=0.5, dsps=0).record()
    assert {key: after[key] - before[key] for key in after if after[key] != before[key]} == grown


def test_cells_are_told_apart():
    found = gates_of({"$_MUX_": 3, "$_NOT_": 2, "$_SDFFE_PN0P_": 5, "$_DLATCH_P_": 1, "FDCE": 2, "CARRY8": 2,
        "RAM32M16": 1, "RAMB18E2": 1, "DSP48E2": 4, "BUFG": 1, "pcie_us": 1}, "xcu", "pcie_us")
    assert found == Gates(gates=5, carries=16, registers=8, ram_luts=8, brams=0.5, dsps=4)
    with pytest.raises(ValueError, match=r"unknown size: \$shr"):
        gates_of({"$shr": 1}, "xcu", "pcie_us")
