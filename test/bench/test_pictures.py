# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The plots of README.md and docs/benchmark.md."""

import pytest

from litepcie_bench import pictures, pictures_boards
from litepcie_bench.points import OURS, STOCK


def record(design, sequence, size, value, iterations=100, **others):
    return {"design": design, "source": "bench sizes, 100 transfers per doorbell", "gen": 2, "lanes": 4,
        "datapath_bits": 128, "mps": 256, "sequence": sequence, "transfer_bytes": size, "iterations": iterations,
        f"{sequence}_bytes_per_second": value, f"bound_{sequence}_bytes_per_second": 2e9, **others}


RECORDS = [record(design, sequence, size, size*1e6) for design in (OURS, STOCK) for sequence in ("read", "write")
    for size in (64, 256)]


def test_rows_are_the_longest_chain_of_each_size():
    found = pictures.rows(pictures.PICTURES[0], [*RECORDS, record(OURS, "read", 64, 70e6, iterations=200),
        record(OURS, "read", 64, 10e6, iterations=4)])
    assert ("read", OURS, 64, 70.0) in found
    assert ("read", "bound", 64, 2000.0) in found
    assert len(found) == 2*2*2 + 2*2


@pytest.mark.parametrize("others", [
    {"gen": 1},
    {"mps": 128},
    {"source": "bench sizes, 100 transfers per doorbell, including the writes that fill its table"},
    {"source": "bench notes"},
    {"design": "published"},
])
def test_other_records_are_left_out(others):
    assert pictures.rows(pictures.PICTURES[0], [record(OURS, "read", 64, 1e6) | others]) == []


def test_check_finds_a_plot_of_other_figures(tmp_path):
    one = pictures.PICTURES[:1]
    assert pictures.write(tmp_path, RECORDS, one) == ["throughput"]
    assert pictures.stale(tmp_path, one) == []
    figures = tmp_path / "throughput.csv"
    figures.write_text(figures.read_text().replace("256,256.0", "256,255.0"))
    assert pictures.stale(tmp_path, one) == ["throughput"]


def claim(board, direction, ours=99.0, stock=50.0):
    return {("stock", board, direction, "ours"): str(ours), ("stock", board, direction, "best"): str(stock),
        ("stock", board, direction, "8"): str(stock/2)}


CLAIMS = {key: value for board in ("Fast, Gen3 x16", "Some, Others, Third, Gen2 x8", "Small, Gen2 x4")
    for direction in ("read", "write") for key, value in claim(board, direction).items()}
def test_boards_have_a_bar_for_each_design_the_fastest_link_last():
    read, write = pictures_boards.figure(CLAIMS).axes
    assert [text.get_text() for text in read.get_xticklabels()] == ["Small\nGen2 x4", "Some, Others\nThird\nGen2 x8",
        "Fast\nGen3 x16"]
    for panel in (read, write):
        assert [bar.get_height() for bar in panel.patches] == [99.0, 50.0, 25.0]*3
