# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Stock LitePCIe with more pending requests than its default."""

from dataclasses import replace

import pytest

from litepcie_bench import goals, stock_best, stock_version, summary, tables
from litepcie_bench.__main__ import main
from litepcie_bench.board_sweeps import stock as stock_sweep
from litepcie_bench.hardware import defaults
from litepcie_bench.points import OURS, STOCK, Point
from litepcie_bench.runner import Result
from litepcie_bench.stock import names
from litepcie_bench.sweeps import equal_chains


def of(name, lanes):
    found, = (one for one in defaults([name]) if one.lanes == lanes)
    return found


def measured(point, share):
    data = {"clock_hz": point.clock_hz, "completion_bytes": 256, "theory_bytes_per_second": 1e9}
    for direction in ("read", "write"):
        data[direction] = {"average_bytes_per_second": share*1e9, "model_bytes_per_second": share*1e9,
            "bound_bytes_per_second": 1e9}
    return Result(point, data)


def test_pending_requests_that_a_hard_block_can_answer():
    assert stock_best.most_safe(of("sqrl_acorn", 4)) == stock_best.most_safe(of("xilinx_kc705", 8)) == 8
    assert stock_best.most_safe(of("xilinx_kcu105", 8)) == 8
    assert stock_best.most_safe(of("xilinx_alveo_u200", 16)) == 16
    assert stock_best.most_safe(replace(of("sqrl_acorn", 4), space=(36, 7376))) == 0


def test_the_best_is_safe():
    """On UltraScale+ 32 pending requests would be faster, but more than the hard block can store."""
    points  = [p for p in stock_sweep(False) if "xilinx_alveo_u200" in p.hardware.names]
    results = [measured(p, 0.99 if p.design == OURS else p.pending/40) for p in points]
    read, write = stock_best.rows(results)
    assert (read.direction, write.direction) == ("read", "write")
    assert read.shipped == 20 and read.best == (16, 40) and read.ours == 99
    assert stock_best.cells(read) == ["20.0", "40.0", "80.0*", "40.0 (16)", "99.0"]
    assert "80.0*" in tables.stock_by_board(results) and tables.stock_by_board([]) == ""
    assert summary.stock_at_its_best([read, write]).row_count == 2
    assert stock_best.rows(results[:-1]) == []


def test_chains_of_equal_length():
    points = equal_chains(False)
    for point in points:
        assert len({p.batch for p in points if p.bytes == point.bytes}) == 1 and point.batch <= 256
    assert {p.bytes for p in points if p.design == OURS} == {p.bytes for p in points if p.design == STOCK}
    found = goals.equal_costs([measured(p, 1) for p in points] + [measured(Point("sizes", OURS, 2, 4, 128), 1)])
    assert len(found) == 8 and found[0][:2] == ("ours", "read")


def test_another_version_has_boards_of_its_own(tmp_path, monkeypatch):
    """The checkout's packages come first, in the programs that build and measure these boards."""
    for package in ("a/litepcie", "b/litex"):
        (tmp_path / package).mkdir(parents=True)
        (tmp_path / package / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", "before")
    monkeypatch.setenv(names.VERSION, "")
    assert stock_version.use(f"{tmp_path}/b:{tmp_path}/a") == "a"
    assert names.folder_name(128, 16) == "stock_128_pending16_a"
    assert stock_version.os.environ["PYTHONPATH"] == f"{tmp_path}/b:{tmp_path}/a:before"
    head, _, read, *_ = stock_version.show("a", [measured(p, p.pending/40) for p in stock_version.points(False)])
    assert head.startswith("stock LitePCIe a, in brackets 2024.12: % of bound")
    assert read.split()[-6:] == ["20.0", "(93.1)", "40.0*", "(93.1)", "80.0*", "(93.1)"]


@pytest.mark.parametrize("paths, message", [
    ("/nowhere", "--stock /nowhere: there is no folder litepcie/ or litex/ in it; give a checkout"),
    ("{}/b",     "there is no folder litepcie/ in it; give a checkout of LitePCIe")])
def test_no_checkout(tmp_path, capsys, paths, message):
    (tmp_path / "b" / "litex").mkdir(parents=True)
    (tmp_path / "b" / "litex" / "__init__.py").touch()
    assert main(["--stock", paths.format(tmp_path), "--output-dir", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1
