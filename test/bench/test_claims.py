#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""No figure in the tables of README.md and docs/benchmark.md contradicts what was measured, bench/claims.csv."""

import re

from pathlib import Path

import pytest

from litepcie_bench import claims

ROOT     = Path(__file__).resolve().parents[2]
MEASURED = claims.read()
BOARDS   = sorted({board for table, board, _, _ in MEASURED if table == "boards"})


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def rows(name, title):
    """Returns the cells of the rows of the tables below a heading of a document."""
    part = re.split(r"^## ", text_of(name).split(f"\n## {title}\n")[1], flags=re.M)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()
        if line.startswith("|")]


def value(table, board, row, column):
    return MEASURED[table, board, row, column]


def of_hosts(board, direction):
    median, least, most = (value("hosts", board, direction, name) for name in ("median", "least", "most"))
    return f"{median} % ({least} to {most})"


@pytest.mark.parametrize("board", BOARDS)
def test_headline_is_the_median_and_the_range_over_hosts(board):
    ideal = f"{value('boards', board, '', 'read_mbs')} MB/s, {value('boards', board, '', 'read')} %"
    row   = [*board.rsplit(", ", 1), of_hosts(board, "read"), of_hosts(board, "write"), ideal,
        f"{value('boards', board, '', '64')} %"]
    assert row in rows("README.md", "Why not XDMA or stock LitePCIe?")


@pytest.mark.parametrize("board", BOARDS)
def test_ideal_and_real(board):
    found = rows("docs/benchmark.md", "Ideal and real")
    assert [*board.rsplit(", ", 1), *(f"{value('boards', board, '', column)} %" for column in
        ("read", "64", "alone", "direct", "buffer"))] in found
    assert [board, *(f"{value('latency', board, '', str(ns))} %" for ns in claims.LATENCIES)] in found


@pytest.mark.parametrize("board", BOARDS)
def test_boards_on_real_hosts(board):
    found = rows("docs/benchmark.md", "Boards on real hosts")
    for name, direction in ((board, "read"), ("", "write")):
        chosen = [MEASURED.get(("hosts", board, direction, host), "-") for host in ("ideal", "chipset")]
        row    = [name, direction, of_hosts(board, direction), *(text + " %"*(text != "-") for text in chosen)]
        after  = found.index(next(cells for cells in found if cells[0] == board))
        assert found[after + (direction == "write")] == row


@pytest.mark.parametrize("board", BOARDS)
def test_stock_at_its_best(board):
    figure = lambda column: value("stock", board, "read", column)
    safe   = int(figure("best_pending"))
    shares = [f"{figure(str(pending))} %" + " *"*(pending > safe) for pending in (8, 16, 32)]
    assert [board, "read", *shares, f"{figure('best')} %, {safe}", f"{figure('ours')} %"] in \
        rows("docs/benchmark.md", "Stock at its best")


def test_writes_of_stock():
    """Its range and ours, in the text below the table."""
    figures = {name: [float(value("stock", board, "write", column)) for board in BOARDS for column in columns]
        for name, columns in (("stock", ("8", "best")), ("ours", ("ours",)))}
    words = "Writes of stock reach {} to {} %, ours {} to {} %".format(*(f"{limit(figures[name]):.1f}"
        for name in ("stock", "ours") for limit in (min, max)))
    assert words in " ".join(text_of("docs/benchmark.md").split())


def test_half_peak_of_equal_chains():
    found = rows("docs/benchmark.md", "Stock at its best")
    for name in ("ours", "stock, 8 pending requests", "stock, 16 pending requests", "stock, 32 pending requests"):
        sizes = [f"{value('half_peak', name, direction, 'bytes')} B" for direction in ("read", "write")]
        assert ["this project" if name == "ours" else name, *sizes] in found
    ours, stock = (value("half_peak", name, "read", "bytes") for name in ("ours", "stock, 8 pending requests"))
    assert f"| {ours} bytes | {stock} bytes" in text_of("README.md")


def test_no_share_of_the_bound_is_above_it():
    """A completion buffer may allow more than the link: that is no share that was reached."""
    for (table, board, _, column), text in MEASURED.items():
        if table in ("boards", "latency", "hosts", "stock") and column not in ("read_mbs", "buffer", "best_pending"):
            assert 0 < float(text) <= 100, (table, board, column)
