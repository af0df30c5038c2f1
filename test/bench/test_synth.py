# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Area and clock by open tools: counting, the harness, the document, estimated paths, the table of bitstreams; and one
configuration and the open endpoint synthesised and compared with what the document says."""

import json

import pytest

from litepcie_bench.boards import Progress
from litepcie_bench.goals import CLOCK_MHZ, LUT_RATIO
from litepcie_bench.synth import __main__ as program
from litepcie_bench.synth import bitstreams, options, table, tools
from litepcie_bench.synth.count import area
from litepcie_bench.synth.designs import OURS, STOCK, TOP, Design
from litepcie_bench.synth.harness import harness, ports
from litepcie_bench.synth.measure import measure
from litepcie_bench.synth.paths import Netlist, register

pytestmark = pytest.mark.timeout(900)  # yosys takes several times its usual time beside other tests.


def test_luts_of_carries_and_memory_are_counted():
    found = area({"LUT4": 10, "CCU2C": 3, "TRELLIS_DPR16X4": 2, "PFUMX": 4, "TRELLIS_FF": 7, "DP16KD": 1}, "ecp5")
    assert (found.luts, found.luts_as_logic, found.luts_as_carry, found.luts_as_memory) == (28, 10, 6, 12)
    assert (found.ffs, found.brams, found.dsps) == (7, 1, 0)
    found = area({"LUT6": 4, "LUT1": 1, "RAM32M": 2, "CARRY4": 9, "RAMB18E1": 3, "FDRE": 2, "FDSE": 1}, "xc7")
    assert (found.luts, found.luts_as_memory, found.brams, found.ffs) == (13, 8, 1.5, 3)
    with pytest.raises(ValueError, match="unknown size: LATCH"):
        area({"LUT4": 1, "LATCH": 1}, "ecp5")


CORE = """module core (
    input  wire          sys_clk,
    input  wire    [2:0] a,
    output reg     [6:0] b,
    output wire          c
);
endmodule
"""


def test_every_port_is_a_register_of_the_harness():
    assert ports(CORE, "core") == [("input", 1, "sys_clk"), ("input", 3, "a"), ("output", 7, "b"), ("output", 1, "c")]
    text = harness(CORE, "core")
    for part in (".sys_clk(clk)", ".a(given[2:0])", ".b(outs[6:0])", ".c(outs[7:7])",
        "given      <= {given[1:0], serial_in};", "parity0[1] <= ^taken[7:4];", "serial_out <= parity1;"):
        assert part in text
    with pytest.raises(ValueError, match="no ports of module other"):
        ports(CORE, "other")


def line(name, luts=1000, **more):
    return {"design": name, "family": "ecp5", "width": 64, "luts": luts, "luts_as_logic": luts, "luts_as_carry": 0,
        "luts_as_memory": 0, "ffs": 500, "brams": 4, "dsps": 0, **more}


EMPTY = "# Before\n<!-- area -->\n<!-- end of area -->\nbetween\n<!-- clock -->\n<!-- end of clock -->\nafter\n"


def test_tables_are_replaced_and_the_text_stays():
    records = [line(OURS, 1200, tags=32, fmax_hz=130e6, fmax_best_hz=131e6, critical_path=["a", "b", 7.5]), line(STOCK)]
    text    = table.update(table.update(EMPTY, records), records)
    assert text.startswith("# Before\n") and text.endswith("after\n") and "between" in text
    assert text.count("| ECP5 | 64 | LitePCIe SoC | 32 | 1200 |") == 1 and "| 1.20 | 1.00 |" in text
    assert "| 64 | LitePCIe SoC | 130.0 | 131.0 | 7.5 ns, `a` to `b` |" in text
    assert table.clocks(text) == {"LitePCIe SoC": 130.0}
    with pytest.raises(ValueError, match="the document has no section <!-- area -->"):
        table.update("nothing", records)


def test_a_row_that_grew_is_named():
    text = table.update(EMPTY, [line(OURS, tags=32), line(STOCK)])
    assert table.grown([line(OURS, 1099, tags=32), line(STOCK, 500)], text) == []
    name = "ECP5 64 bit, LitePCIe SoC"
    assert table.grown([line(OURS, 1101, tags=32)], text) == [f"{name}, 32 tags: LUTs 1101, the document has 1000"]
    assert table.grown([line(OURS, tags=64)], text) == [f"{name}, 64 tags: docs/resources.md has no such row"]


def cell(kind, inputs, outputs, src=""):
    pins = {**{pin: "input" for pin in inputs}, **{pin: "output" for pin in outputs}}
    return {"type": kind, "port_directions": pins, "connections": {**inputs, **outputs}, "attributes": {"src": src}}


def test_the_longest_path_goes_through_luts_and_carries():
    """first -> LUT -> two bits of carry -> LUT -> last; other -> LUT -> last is shorter."""
    c0    = {"A0": [5], "A1": [3], "CIN": ["0"]}, {"S0": [6], "S1": [7], "COUT": [8]}
    c1    = {"A0": ["0"], "A1": ["0"], "CIN": [8]}, {"S0": [10], "S1": [11], "COUT": [12]}
    cells = {
        "first_TRELLIS_FF_Q":     cell("TRELLIS_FF", {"DI": ["0"], "CLK": [1]}, {"Q": [2]}),
        "other_TRELLIS_FF_Q_3":   cell("TRELLIS_FF", {"DI": ["0"], "CLK": [1]}, {"Q": [3]}),
        "last_TRELLIS_FF_Q_DI_4": cell("TRELLIS_FF", {"DI": [9], "CLK": [1]}, {"Q": [4]}),
        "l0": cell("LUT4", {"A": [2], "B": ["1"]}, {"Z": [5]}),
        "c0": cell("CCU2C", *c0, "core.v:2.1-2.9|x"),
        "c1": cell("CCU2C", *c1, "core.v:2.1-2.9"),
        "l1": cell("LUT4", {"A": [11], "B": [3]}, {"Z": [9]}),
    }
    module = {"cells": cells, "ports": {}}
    path   = Netlist({"modules": {"core": module}}, "core", "line one\n  sum <= a + b;\n").longest()[0]
    assert (path.start, path.end, path.luts, path.carries) == ("first", "last", 2, ["sum <= a + b;"])
    assert path.ns == pytest.approx(0.52 + 0.9 + 0.24 + 0.9 + 0.45 + 0.44 + 0.9 + 0.24 + 0.9)


@pytest.mark.parametrize("arguments, text", [
    (["--width", "32"], "--width"),
    (["--write", "--width", "64"], "--write needs every row"),
    (["--design", "litepcie_stock_bare", "--width", "128"], "not measured at this width"),
    (["--options", "--width", "64"], "--options cannot be combined"),
    (["--targets", "kc706"], "unknown target kc706; choose from kosagi_netv2"),
    (["--targets", "--width", "64"], "--targets cannot be combined with --width"),
    (["--gates"], "--gates needs --targets"),
    (["--bitstreams", "--width", "64"], "--bitstreams can be combined with --write, --check and --output only"),
])
def test_usage(arguments, text, capsys):
    with pytest.raises(SystemExit) as ended:
        program.main(arguments)
    said = capsys.readouterr().err
    assert ended.value.code == 2 and said.count("\n") == 1 and text in said


def test_the_document_keeps_the_goals_for_area_and_clock():
    text = table.PATH.read_text(encoding="utf-8")
    rows = table.read(text)
    for (family, bits, design, tags), row in rows.items():
        if design == table.NAMES[OURS]:
            stock = rows[family, bits, table.NAMES[STOCK], "-"]
            # With the digits of the column: yosys maps even the same stock with some LUTs more or less.
            assert round(row["LUTs"]/stock["LUTs"], 2) <= LUT_RATIO, (family, bits, tags)
            assert row["BRAM"] <= stock["BRAM"], (family, bits, tags)
    assert table.clocks(text)[table.NAMES[OURS]] >= CLOCK_MHZ


@pytest.mark.full
def test_area_has_not_grown():
    """64 bit for ECP5: a quarter of a minute when the gateware changed."""
    records = measure([(Design(OURS, 64, 32), "ecp5")], [], Progress("synth", 1))
    assert table.grown(records, table.PATH.read_text(encoding="utf-8")) == []
    assert records[0]["brams"] > 0 and "fmax_hz" not in records[0]


def test_the_document_has_a_row_for_each_option():
    text = table.PATH.read_text(encoding="utf-8")
    rows = options.read(text)
    assert set(rows) >= {("ECP5", option) for option in ("none", *options.SOCS)}
    for (family, option), row in rows.items():
        assert option == "none" or row["LUTs"] > rows[family, "none"]["LUTs"]
    record = {"family": "ecp5", "option": "", "luts": 10**6, "ffs": 0, "brams": 0}
    assert options.grown([record], text) == [
        f"ECP5, none: LUTs 1e+06, the document has {rows['ECP5', 'none']['LUTs']:g}"]


@pytest.mark.full
def test_a_block_ram_is_at_most_one_lut_from_a_register():
    """64 bit for ECP5: a block RAM alone takes half of a cycle of 125 MHz."""
    sources = Design(OURS, 64, 32).sources()
    netlist = json.loads((tools.synthesise(sources, "ecp5", TOP)["folder"] / "netlist.json").read_text())
    rams    = {register(name) for name, cell in netlist["modules"][TOP]["cells"].items() if cell["type"] == "DP16KD"}
    found   = [path for path in Netlist(netlist, TOP, sources["core.v"]).longest() if path.start in rams]
    assert len(found) > 10
    assert [str(path) for path in found if path.luts > 1 or path.carries] == []


BOARD, = (board for board in bitstreams.open_boards() if board.name == "lattice_versa_ecp5")
NAME   = BOARD.configure().name(BOARD)
TEXT   = "before\n<!-- bitstreams -->\n<!-- end of bitstreams -->\nafter\n"


@pytest.fixture
def record(tmp_path):
    """The record of a build whose files are written here."""
    gateware = tmp_path / "gateware"
    gateware.mkdir()
    (gateware / f"{NAME}.bit").write_bytes(bytes(1000))
    report = {"utilization": {"TRELLIS_COMB": {"used": 100}, "TRELLIS_FF": {"used": 50}, "DP16KD": {"used": 7}},
        "fmax": {"$glbnet$pcie_clk": {"constraint": 125.0, "achieved": 131.4}}}
    (gateware / f"{NAME}_report.json").write_text(json.dumps(report), encoding="ascii")
    return bitstreams.record(BOARD, tmp_path)


@pytest.mark.full
def test_the_endpoint_is_as_small_as_its_row():
    found = bitstreams.endpoint()
    assert bitstreams.grown([found], table.PATH.read_text(encoding="utf-8")) == []
    assert 3000 < found["luts"] <= 6000 and 0 < found["brams"] <= 10


def test_a_row_says_what_was_built_and_the_document_has_every_build(record):
    endpoint = {"build": bitstreams.ENDPOINT, "device": "ECP5", "luts": 90, "ffs": 40, "brams": 6}
    text     = bitstreams.update(TEXT, [endpoint, record])
    assert text.splitlines()[4:-2] == [
        "| endpoint alone | ECP5 | 90 | 40 | 6 | - | - |",
        f"| {NAME} | LFE5UM5G-45F-8BG381C | 100 | 50 | 7 | `pcie_clk` 131 of 125 | 1000 |",
    ]
    assert bitstreams.grown([endpoint, record], text) == []
    assert bitstreams.grown([{**record, "luts": 110}], text) == []
    assert bitstreams.grown([{**record, "luts": 111, "brams": 8}], text) == [
        f"{NAME}: LUT4 111, the document has 100", f"{NAME}: DP16KD 8, the document has 7"]
    assert bitstreams.grown([{**record, "build": "other"}], text) == ["other: docs/resources.md has no such row"]
    assert list(bitstreams.read(table.PATH.read_text(encoding="utf-8"))) == [bitstreams.ENDPOINT,
        *(board.configure().name(board) for board in bitstreams.open_boards())]


def test_what_is_built_is_remembered_by_its_files(monkeypatch, tmp_path):
    """Another Verilog is another build; the same is not built again."""
    builds = []
    def run_target(board, *options):
        assert options == ("--no-compile",)
        return tmp_path, ""
    monkeypatch.setattr(bitstreams, "run_target", run_target)
    monkeypatch.setattr(bitstreams, "build", lambda board: builds.append(board.name) or {"number": len(builds)})
    monkeypatch.setenv("LITEPCIE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "gateware").mkdir()
    found = []
    for text in ("module a; endmodule", "module a; endmodule", "module b; endmodule"):
        (tmp_path / "gateware" / f"{NAME}.v").write_text(text, encoding="ascii")
        found.append(bitstreams.built(BOARD))
    assert found == [{"number": 1}, {"number": 1}, {"number": 2}]
