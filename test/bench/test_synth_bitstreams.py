# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The open endpoint is as small as its row says, and the table of bitstreams; test/targets/test_ecp5.py builds one."""

import json

import pytest

from litepcie_bench.synth import bitstreams
from litepcie_bench.synth.table import PATH

pytestmark = pytest.mark.timeout(900)  # yosys takes several times its usual time beside other tests.

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
    assert bitstreams.grown([found], PATH.read_text(encoding="utf-8")) == []
    assert 3000 < found["luts"] <= 6000 and 0 < found["brams"] <= 10


def test_a_row_says_what_was_built(record):
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


def test_the_document_has_every_build():
    assert list(bitstreams.read(PATH.read_text(encoding="utf-8"))) == [bitstreams.ENDPOINT,
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
