# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Paths between two clocks: each kind and its fault, and a board without each of its exceptions. Levels of logic."""

import json

import pytest

from litepcie_bench.synth import crossed, project, targets_table, tools
from litepcie_bench.synth.project import Project
from litepcie_bench.synth.targets import record, targets
from litepcie_bench.timing import exceptions
from litepcie_bench.timing.crossings import Crossings
from litepcie_bench.timing.declared import DECLARED, Declared
from litepcie_bench.timing.levels import Mapped
from litepcie_soc.build.targets import PATHS

pytestmark = pytest.mark.timeout(900)  # yosys takes several times its usual time beside other tests.

ASYNC = '(* async_reg = "true", mr_ff = "true" *)'

DESIGN = f"""
module top(input a, input b, output reg [31:0] out);
    wire also;                       // Made from `a`.
    PLLE2_ADV pll(.CLKIN1(a), .CLKOUT0(also));
    reg  [7:0] one, kept, also_one;
    reg  [3:0] binary, code;
    wire [3:0] next = binary + one[7];
    always @(posedge a) begin
        one <= one + 1;  binary <= next;  code <= next ^ next[3:1];
        if (back2 ^ back3) kept <= one;
    end
    always @(posedge also) also_one <= one;
    // A handshake, from `a` to `b` and back.
    reg there = 0, there3, back3;  {ASYNC} reg there1, there2, back1, back2;
    {ASYNC} reg [7:0] kept1, kept2;  reg [7:0] held;
    always @(posedge a) begin back1 <= there3; back2 <= back1; back3 <= back2; if (back2 ^ back3) there <= ~there; end
    always @(posedge b) begin
        there1 <= there; there2 <= there1; there3 <= there2; kept1 <= kept; kept2 <= kept1;
        if (there2 ^ there3) held <= kept2;
    end
    // A FIFO's memory: one with Gray pointers both ways, one whose read pointer stays in `b`.
    reg [7:0] memory[0:7], lost[0:7], from_memory, from_lost;  reg [3:0] place, place_code, far;
    wire [3:0] place_next = place + 1'd1;
    {ASYNC} reg [3:0] code1, code2, place1, place2;
    always @(posedge a) begin memory[binary[2:0]] <= one; lost[binary[2:0]] <= one; place1 <= place_code;
        place2 <= place1; end
    always @(posedge b) begin
        place <= place_next; place_code <= place_next ^ place_next[3:1]; from_memory <= memory[place_next[2:0]];
        code1 <= code; code2 <= code1; far <= far + 1'd1; from_lost <= lost[far[2:0]];
    end
    // Faults.
    {ASYNC} reg bit_first, bit_second, mixed, mixed2, used, used2;  {ASYNC} reg [3:0] wide, wide2;
    reg bare, plain, plain2;
    always @(posedge b) begin
        bit_first <= ~one[0]; bit_second <= bit_first; bare <= one[1]; plain <= one[2]; plain2 <= plain;
        mixed <= one[3] & one[4]; mixed2 <= mixed; used <= one[5]; used2 <= used; wide <= binary; wide2 <= wide;
    end
    always @(posedge b) out <= {{also_one, held, from_memory, from_lost}} ^ {{code2, bit_second, bare, plain2, mixed2,
        used, used2, wide2, place_code, place2}};
endmodule
"""
CLOCKS = "create_clock -name a -period 8 [get_ports a]\ncreate_clock -name b -period 8 [get_ports b]\n"
GROUPS = CLOCKS + "set_clock_groups -asynchronous -group [get_clocks -include_generated_clocks -of_objects " \
    "[get_nets {a}]] -group [get_clocks -include_generated_clocks -of_objects [get_nets {b}]]\n"
FALSE  = "set_false_path -quiet -to [get_cells -hierarchical -filter {mr_ff == TRUE}]\n"
SAFE   = {"there1": "bit", "back1": "bit", "bit_first": "bit", "kept1": "bus", "code1": "Gray", "place1": "Gray",
    "from_memory": "FIFO"}
TIMED  = {"also_one": "timed"}
FAULTS = dict.fromkeys(["bare", "plain", "mixed", "used", "wide", "from_lost"])


def kinds(constraints, declared=()):
    """Returns {end: kind} of the crossings of ``DESIGN``, without what leads to its output."""
    flat   = crossed.netlist(Project("top", "", {"top.v": DESIGN}), "vivado")
    timing = exceptions.Timing(flat, exceptions.read(constraints))
    return {one.end: one.kind for one in Crossings(flat, timing, True, declared).found() if one.end != "out"}


def test_each_kind_is_told_from_its_fault():
    assert kinds(GROUPS) == SAFE | TIMED | FAULTS
    # A false path is enough for what ends in a marked register, not for a memory.
    assert kinds(CLOCKS + FALSE) == SAFE | TIMED | FAULTS | {"from_memory": None}
    assert not {"bit", "bus", "Gray", "FIFO"} & set(kinds(CLOCKS).values())
    declared = [Declared("one", "bare", "why")]
    assert kinds(GROUPS, declared)["bare"] == "declared" and kinds(CLOCKS, declared)["bare"] is None


@pytest.mark.parametrize("line", ["set_false_path -from [get_clocks a]", "set_multicycle_path 2 -to [get_cells x]"])
def test_an_exception_that_is_not_understood(line):
    with pytest.raises(ValueError, match="not understood"):
        exceptions.read(line)


# Of a board of 7-series: nets in its timing exceptions, and bits of the block that are faults without these.
PIPE   = " clk125_clk clk250_clk userclk1_clk pclk_clk"
STATUS = {("pcie_s7.pl_ltssm_state",): 6, ("pcie_s7.pl_sel_lnk_rate",): 1, ("pcie_s7.pl_sel_lnk_width",): 2}


def faults(flat, constraints):
    timing = exceptions.Timing(flat, exceptions.read(constraints))
    return [one for one in Crossings(flat, timing, True, DECLARED).found() if one.kind is None]


def test_a_board_without_each_of_its_exceptions():
    """Without that for the clocks of the PIPE, these nine bits of the block are timed from them to `sys`."""
    emitted = project.emit(PATHS["sqrl_acorn"], [])
    flat    = crossed.netlist(emitted, "vivado")
    given   = emitted.constraints
    without = lambda text: "\n".join(line for line in given.splitlines() if text not in line)
    assert faults(flat, given) == []
    assert PIPE in given and FALSE in given + "\n"
    found = faults(flat, without(FALSE.strip()).replace(PIPE, ""))
    assert {one.begins: one.bits for one in found} == STATUS
    assert all("MMCME2_ADV.CLKOUT0 to PLLE2_ADV.CLKOUT0, which are not related" in one.why for one in found)
    assert {one.end for one in faults(flat, without("-asynchronous"))} == {"storage_dat1", "storage_1_dat1",
        "storage_2_dat1"}
    for text, ends in (("== S1}", ["BUFGCTRL.S1"]), ("-physically_exclusive", ["BUFGCTRL.S0", "BUFGCTRL.S1"])):
        assert [one.end for one in faults(flat, without(text))] == ends


@pytest.mark.full
def test_every_board_and_every_declaration():
    """`make synth SYNTH="--targets --crossings"` prints the table."""
    records = [crossed.record(board) for board in crossed.builds()]
    assert [line for record in records for line in record["wrong"]] == []
    assert all(record["FIFO"] > 100 and record["Gray"] >= 10 and record["bit"] >= 15 for record in records)
    reasons = {reason for record in records for reason in record["reasons"]}
    assert reasons == {declared.reason for declared in DECLARED}


LOGIC = """
module top(input sys_clk, input pcie_clk, input [35:0] a, input [4:0] at, output reg far, output reg near, output sum);
    reg [35:0] taken;  reg [15:0] ram[0:31];  reg [15:0] counted;  reg [4:0] place;
    always @(posedge sys_clk) begin taken <= a;  far <= ^taken[10:0];  ram[place] <= a[15:0]; end
    always @(posedge pcie_clk) begin place <= at;  near <= ~ram[place][3] & at[0]; counted <= counted + 1; end
    assign sum = counted[15];
endmodule
"""


@pytest.mark.full
def test_luts_and_reads_of_ram_are_levels(tmp_path):
    (tmp_path / "top.v").write_text(LOGIC)
    tools.yosys(tmp_path, "read_verilog top.v; synth_xilinx -family xc7 -flatten -noiopad -noclkbuf -top top; "
        "write_json mapped.json", "log")
    found = Mapped(json.loads((tmp_path / "mapped.json").read_text())["modules"]["top"]).depths(
        ["sys_clk", "pcie_clk", "other_clk"], 1)
    # Eleven inputs of an XOR; a LUT RAM and a LUT. The carry chain of the counter is no level.
    assert {name: (depth.levels, depth.over, depth.last) for name, depth in found.items()} == {
        "sys_clk": (2, 1, "far"), "pcie_clk": (2, 1, "near")}


@pytest.mark.full
@pytest.mark.parametrize("build", ["sqrl_acorn_gen2_x4_128", "xilinx_alveo_u200_gen3_x16_512"])
def test_no_path_has_more_levels_than_its_row(build):
    """Minutes each when the gateware changed. `make synth SYNTH="--targets --check"` has all."""
    written  = targets_table.LEVELS.read(targets_table.PATHS[1].read_text(encoding="utf-8"))
    measured = record(next(target for target in targets() if target.build == build))
    assert build in written and targets_table.exceeding(targets_table.LEVELS, measured, written) == []
