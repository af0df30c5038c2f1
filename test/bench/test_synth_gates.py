# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Counts before mapping: a resource of each kind that is added to a small design is counted in the right place."""

import pytest

from litepcie_bench.synth.gates import Gates, count, gates_of
from litepcie_bench.synth.project import Project

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


def counted(ports="", added="", family="xc7"):
    return count(Project("top", "", {"top.v": DESIGN.format(ports=ports, added=added)}), family, "pcie_s7")


@pytest.mark.full
def test_a_small_design():
    assert counted() == Gates(gates=32, carries=0, registers=32, ram_luts=0, brams=0.5, dsps=0)


@pytest.mark.full
@pytest.mark.parametrize("ports, added, grown", [
    (", output [31:0] more", "reg [31:0] ram[0:31]; always @(posedge clk) ram[b[4:0]] <= a; "
        "assign more = ram[address[4:0]];",                                                    {"ram_luts": 24}),
    (", output reg [31:0] more", "reg [31:0] big[0:1023]; always @(posedge clk) begin big[{a[0], address}] <= b; "
        "more <= big[{a[1], address}]; end",                                                   {"brams": 1}),
    (", output [31:0] more", "assign more = a[15:0] * b[15:0];",                                {"dsps": 1}),
], ids=["RAM of LUTs", "block RAM", "DSP"])
def test_what_is_added_is_seen(ports, added, grown):
    before, after = counted().record(), counted(ports, added).record()
    assert {key: after[key] - before[key] for key in after if after[key] != before[key]} == grown


def test_cells_are_told_apart():
    found = gates_of({"$_MUX_": 3, "$_NOT_": 2, "$_SDFFE_PN0P_": 5, "$_DLATCH_P_": 1, "FDCE": 2, "CARRY8": 2,
        "RAM32M16": 1, "RAMB18E2": 1, "DSP48E2": 4, "BUFG": 1, "pcie_us": 1}, "xcu", "pcie_us")
    assert found == Gates(gates=5, carries=16, registers=8, ram_luts=8, brams=0.5, dsps=4)
    with pytest.raises(ValueError, match=r"unknown size: \$shr"):
        gates_of({"$shr": 1}, "xcu", "pcie_us")
