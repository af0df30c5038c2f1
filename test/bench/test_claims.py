#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""No figure in README.md and docs/benchmark.md contradicts what was measured, bench/claims.csv."""

import json
import re

from pathlib import Path

import pytest

from litepcie_bench import claims, guest_report
from litepcie_bench.guest_measure import CARD, FLOOR
from litepcie_bench.points import CHOSEN
from litepcie_bench.sweeps import PUBLISHED_NS, SWEEPS

ROOT     = Path(__file__).resolve().parents[2]
MEASURED = claims.read()
SHARES   = ("boards", "latency", "hosts", "stock", "ideal", "above 4 GiB", "one", "small", "links")
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
        chosen = [MEASURED.get(("hosts", board, direction, host), "-") for host in CHOSEN]
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

@pytest.mark.parametrize("title, where, columns", [
    ("Gen2 x4, 128 bit: read, write",                      "Gen2 x4, 128 bit", ("read", "write")),
    ("the same, both at once: read, write",                "Gen2 x4, 128 bit", ("both: read", "both: write")),
    ("Gen3 x8, 256 bit: read, write",                      "Gen3 x8, 256 bit", ("read", "write")),
    ("Gen2 x4: read, the host answers 64 bytes at a time", "Gen2 x4, 128 bit", ("64-byte completions",)),
    ("Gen2 x4: read, 4 us of host latency",                "Gen2 x4, 128 bit", ("4 us",)),
])
def test_ideal_rows(title, where, columns):
    cells = [", ".join(f"{value('ideal', where, column, name)} %" for column in columns) for name in ("ours", "stock")]
    assert [title, *cells] in rows("docs/benchmark.md", "Figures")


def test_ideal_rows_of_the_readme():
    small = [f"{value('ideal', 'Gen2 x4, 128 bit', '64-byte completions', name)} %" for name in ("ours", "stock")]
    assert any(row[1:] == small for row in rows("README.md", "Why not XDMA or stock LitePCIe?"))
    kcu105 = [value("stock", "KCU105, Gen3 x8", "read", column) for column in ("ours", "8", "16")]
    assert "| {} % | {} %; {} % with 16 pending requests".format(*kcu105) in text_of("README.md")


@pytest.mark.parametrize("where", ["Gen2 x4, 128 bit", "Gen3 x8, 256 bit"])
def test_buffers_above_4_gib(where):
    cells = [", ".join(f"{value('above 4 GiB', where, way, name)} %" for way in ("read", "write", "both: read",
        "both: write")) for name in ("ours", "stock")]
    assert [where, *cells] in rows("docs/benchmark.md", "Figures")


@pytest.mark.parametrize("title, how", [("this project, descriptor fetched", "ours"),
    ("this project, DIRECT", "ours, DIRECT"), ("stock, its table filled before", "stock"),
    ("stock, the time to fill one entry counted", "stock, filling counted")])
def test_one_transfer(title, how):
    shares = [f"{value('one', 'Gen2 x4, 128 bit', direction, how)} %" for direction in ("read", "write")]
    assert [title, *shares] in rows("docs/benchmark.md", "Ideal and real")


@pytest.mark.parametrize("what", ["MPS 128, one way", "MPS 256, one way", "MPS 128, both at once",
    "MPS 256, both at once"])
def test_endpoint_in_gateware(what):
    symbols, model, apart = ([value("lane", what, direction, column) for direction in ("read", "write")]
        for column in ("symbols", "model", "apart"))
    signed = [f"{'0.0' if float(text) == 0 else text} %" for text in apart]
    found  = rows("docs/benchmark.md", "The endpoint in gateware")
    assert [what, ", ".join(symbols), ", ".join(model), ", ".join(signed)] in found


@pytest.mark.parametrize("board", claims.SMALL.values())
def test_small_transfers_by_board(board):
    found = rows("docs/benchmark.md", "Small transfers by board")
    after = found.index(next(cells for cells in found if cells[0] == board))
    for n, direction in enumerate(("read", "write")):
        assert found[after + n][1:] == [direction, *(value("small", board, direction, str(8 << n)) for n in range(7))]


def test_published_figures_that_are_reached():
    found  = rows("docs/benchmark.md", "Published figures")
    places = sorted({place for table, place, _, _ in MEASURED if table == "published"})
    assert len(places) == 3
    for place in places:
        counts = [[value("published", place, str(ns), column) for column in ("reached", "of")] for ns in PUBLISHED_NS]
        assert [place, *(f"{reached} of {count}" for reached, count in counts)] in found


# Sentences of the documents, and the figures in them.
SENTENCES = {
    "docs/benchmark.md": {
        "reach at least {} % with reads and {} % with writes, also with both at once":
            [("links", "all others", "read", "least"), ("links", "all others", "write", "least")],
        "and the card reaches {} %": [("latency", "KC705, Gen2 x8", "", "1250")],
        "{} % of the link's bound. At 1.25 us": [("boards", "KC705, Gen2 x8", "", "buffer")],
        "its reads reach {} % and its writes {} %":
            [("boards", "KC705, Gen2 x8", "", "both_read"), ("boards", "KC705, Gen2 x8", "", "both_write")],
        "It reaches {} % for a read and {} % for a write at Gen2 x4, {} % and {} % at Gen3 x8":
            [("one", where, direction, "ours") for where in claims.IDEAL for direction in ("read", "write")],
        "writes reach {} % with the fetch, {} % with DIRECT, and stock's {} %, or {} % with the time to fill one entry":
            [("one", "Gen3 x8, 256 bit", "write", how) for how in ("ours", "ours, DIRECT", "stock",
                "stock, filling counted")],
        "that was filled before, DIRECT takes {} cycles longer":
            [("one_cycles", "Gen3 x8, 256 bit", "write", "more than stock")],
        "At Gen2 x4, 128 bit, {} cycles of 6782 remain, 0.05 %":
            [("one_cycles", "Gen2 x4, 128 bit", "write", "more than stock")],
        "DMA at Gen2 x4 reaches at least {} % of its rate over block RAM": [("ddr", "Gen2 x4", "", "least")],
        "{} % is the Xeon C5500": [("hosts", "Acorn, NeTV2, AC701, KC705, Gen2 x4", "write", "least")],
        "which stock's table does not hold | {} B, {} B":
            [("half_peak", "ours, long chains", direction, "bytes") for direction in ("read", "write")],
    },
    "README.md": {
        "on the KC705 at Gen2 x8 first ({} % at 1.25 us)": [("latency", "KC705, Gen2 x8", "", "1250")],
    },
    "docs/processor.md": {
        "{} MB/s at Gen1 x1 instead of at most 3.4": [("pio", "Gen1 x1", "loads of 4 B", "mbs")],
    },
}


@pytest.mark.parametrize("name, sentence", [(name, sentence) for name, some in SENTENCES.items() for sentence in some])
def test_figures_in_the_text(name, sentence):
    figures = [MEASURED[key] for key in SENTENCES[name][sentence]]
    assert sentence.format(*figures) in " ".join(text_of(name).split())


def test_reads_of_all_boards():
    """The range over the boards at 1 us, in README's text."""
    shares = [float(value("boards", board, "", "read")) for board in BOARDS]
    assert f"reads reach {min(shares):.1f} to {max(shares):.1f} % of the bound on every board" in \
        " ".join(text_of("README.md").split())


def test_cost_of_an_operation():
    """The instructions and interrupts of README.md are those of docs/processor.md, on average of reads and writes."""
    records = json.loads(guest_report.FIGURES.read_text(encoding="utf-8"))

    def mean(device, how, figure):
        some = [figure(record) for record in records if record["device"] == device and record["interface"] == how
            and (record["transfer_bytes"], record["depth"], record["callers"]) == (4096, 32, 1)]
        assert len(some) == 2
        return sum(some)/2
    card, floor = ([round(mean(device, how, guest_report.instructions), -2) for how in ("uring", "fixed")]
        for device in (CARD, FLOOR))
    text = " ".join(text_of("README.md").split())
    assert "some {:,.0f} instructions ({:,.0f} with fixed buffers)".format(*card) in text
    assert "On a RAM disk it costs {:,.0f} ({:,.0f})".format(*floor) in text
    assert f"{mean(CARD, 'uring', lambda record: record['interrupts']):.2f} interrupts" in text


def test_area_in_the_readme():
    """Block RAM and LUTs of ECP5 at 64 bit are those of docs/resources.md."""
    found  = [[cell.strip() for cell in row.split("|")] for row in text_of("docs/resources.md").splitlines()]
    places = [next(row for row in found if row[1:5] == ["ECP5", "64", *which])
        for which in (("LitePCIe SoC", "32"), ("LitePCIe 2024.12", "-"))]
    assert "| {} | {} |".format(*(f"{row[10]}; {row[5]}" for row in places)) in text_of("README.md")


def test_number_of_runs():
    count = len({point for sweep in SWEEPS.values() for point in sweep(False)})
    assert f"some {round(count, -1)} runs" in text_of("docs/benchmark.md")


# Shares with a decimal in the text that no sweep of claims.csv has, and what they are.
OTHERS = {
    "89.7": "a former state, named as such",
}


@pytest.mark.parametrize("name", ["README.md", "docs/benchmark.md"])
def test_every_share_was_measured(name):
    """A share that nothing measured is left over from an earlier state. What is below 10 % is a difference."""
    known = set(MEASURED.values()) | set(OTHERS)
    found = re.findall(r"(\d\d+\.\d) (?:to \d+\.\d )?%", text_of(name))
    assert found and not set(found) - known


def test_no_share_of_the_bound_is_above_it():
    """A completion buffer may allow more than the link: that is no share that was reached."""
    for (table, board, _, column), text in MEASURED.items():
        if table in SHARES and column not in ("read_mbs", "buffer", "best_pending"):
            assert 0 < float(text) <= 100, (table, board, column)
