#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Figures that README.md and docs/benchmark.md state, in claims.csv.

`make bench` writes claims.csv into its folder, with what it measured. The committed one is bench/claims.csv, whose
figures are put into the documents:

    make bench
    cp build/bench/claims.csv bench/
    build/venv/bin/python -m litepcie_bench.documents --write
"""

import csv

from pathlib import Path

from litepcie_bench import figures, goals
from litepcie_bench.bounds import rate
from litepcie_bench.figures import note_rows
from litepcie_bench.hardware import board_name
from litepcie_bench.points import CHOSEN, OURS, PENDING, STOCK
from litepcie_bench.waits import own_ns

COMMITTED = Path(__file__).resolve().parent / "claims.csv"
COLUMNS   = ("table", "board", "row", "column", "value")
LATENCIES = (600, 1000, 1250, 1500, 2000)
SMALL     = {"sqrl_acorn": "Acorn and others, Gen2 x4", "xilinx_kcu105": "KCU105, Gen3 x8, 64 tags",
    "sqrl_xcu1525": "XCU1525, Gen3 x8, 256 tags"}
IDEAL     = ("Gen2 x4, 128 bit", "Gen3 x8, 256 bit")
DESIGNS   = {"ours": OURS, "stock": STOCK}
SHARES    = ("boards", "latency", "hosts", "stock", "ideal", "above 4 GiB", "one", "small", "links")


def _boards(results):
    for row in figures.board_rows(results, ("boards",)):
        name   = board_name(row.hardware)
        figure = {"read": (row.one, "read"), "write": (row.one, "write"), "64": (row.split, "read"),
            "both_read": (row.both, "read"), "both_write": (row.both, "write"), "alone": (row.alone, "read"),
            "direct": (row.direct, "read")}
        for column, (result, direction) in figure.items():
            if result:
                yield "boards", name, "", column, f"{figures.share(result, direction):.1f}"
        if row.one:
            yield "boards", name, "", "read_mbs", f"{rate(row.one, 'read')/1e6:.0f}"
            yield "boards", name, "", "buffer", f"{figures.buffered(row.one):.0f}"
        for ns in LATENCIES:
            if ns in row.latencies:
                yield "latency", name, "", str(ns), f"{figures.share(row.latencies[ns], 'read'):.1f}"


def _hosts(results):
    for row in figures.host_rows(results):
        name = board_name(row.hardware)
        for column, value in zip(("median", "least", "most"), row.headline):
            yield "hosts", name, row.direction, column, f"{value:.1f}"
        for host in CHOSEN:
            if host in row.shares:
                yield "hosts", name, row.direction, host, f"{row.shares[host]:.1f}"


def _stock(results):
    for row in figures.stock_rows(results):
        name = board_name(row.hardware)
        for pending in PENDING:
            yield "stock", name, row.direction, str(pending), f"{row.stock[pending]:.1f}"
        yield "stock", name, row.direction, "best", f"{row.best[1]:.1f}" if row.best else ""
        yield "stock", name, row.direction, "best_pending", str(row.best[0]) if row.best else ""
        yield "stock", name, row.direction, "ours", f"{row.ours:.1f}"
    for name, direction, cost in goals.equal_costs(results):
        yield "half_peak", name, direction, "bytes", f"{cost.half_peak:.0f}"


def _percent(value):
    return f"{value:.1f}"


def _ideal(results):
    """Rows of the ideal PHY: 20 transfers after one doorbell, also with small completions, a slow host, and buffers
    above 4 GiB."""
    for row in note_rows(results):
        if row.where in IDEAL:
            for name, design in DESIGNS.items():
                if row.rate(design, True):
                    yield "ideal", row.where, row.what, name, _percent(100*row.rate(design, True)/row.bound(design))
    for result in results:
        point = result.point
        if point.sweep == "addresses":
            both = "both: "*(point.sequence == "read-and-write")
            for direction in ("read", "write"):
                yield "above 4 GiB", point.where, both + direction, _design(point), \
                    _percent(figures.share(result, direction))
        what = {"completions": point.completion == 64 and "64-byte completions",
            "latency": (point.latency_ns, point.jitter_ns) == (4000, 0) and "4 us"}.get(point.sweep)
        if what and point.where in IDEAL and point.sequence == "write-then-read":
            yield "ideal", point.where, what, _design(point), _percent(figures.share(result, "read"))
    for (link, direction), cost in goals.fixed_costs(results).items():
        if link == (2, 4, 128):
            yield "half_peak", "ours, long chains", direction, "bytes", f"{cost.half_peak:.0f}"


def _design(point):
    return next(name for name, design in DESIGNS.items() if design == point.design)


def _one(results):
    """One transfer of 100 KB per doorbell."""
    for result in results:
        point = result.point
        if point.sweep == "alone":
            how = _design(point) + ", DIRECT"*point.direct + ", filling counted"*point.fill
            for direction in ("read", "write"):
                yield "one", point.where, direction, how, _percent(figures.share(result, direction))
    alone = {(r.point.where, _design(r.point)): r for r in results if r.point.sweep == "alone" and not r.point.fill
        and r.point.direct == (r.point.design == OURS)}
    for where, name in alone:
        if name == "ours" and (where, "stock") in alone:
            ours, stock = (alone[where, one].point.bytes/rate(alone[where, one], "write") for one in DESIGNS)
            cycles = (ours - stock)*alone[where, name].point.clock_hz
            yield "one_cycles", where, "write", "more than stock", f"{cycles:.0f}"


def _small(results):
    for result in results:
        point = result.point
        if point.sweep == "board_sizes":
            name = next(words for target, words in SMALL.items() if target in point.hardware.names)
            for direction in ("read", "write"):
                yield "small", name, direction, str(point.bytes), _percent(figures.of_chain(result, direction))


def _lone(results):
    for result in results:
        if result.point.sweep == "lone":
            for direction, cycles in result.data["lone"].items():
                for column, value in (("first", cycles.first), ("status", cycles.status),
                        ("ns", round(own_ns(cycles, direction, result.point)))):
                    yield "lone", board_name(result.point.hardware), direction, column, str(value)


def _least(results):
    """Lowest figures: of all other links of the boards, and of DDR beside block RAM."""
    links = [result for result in results if result.point.sweep == "links"]
    for direction in ("read", "write") if links else ():
        yield "links", "all others", direction, "least", _percent(min(figures.share(result, direction)
            for result in links if result.data.get(direction)))
    ddr = [cell.value for cell in goals.cells(results) if cell.goal == "DDR3-1600 of 64 bit"]
    if ddr:
        yield "ddr", "Gen2 x4", "", "least", _percent(min(ddr))


def _loads(results):
    for result in results:
        point = result.point
        if point.sweep == "pio" and (point.gen, point.store) == (1, 4):
            yield "pio", "Gen1 x1", "loads of 4 B", "mbs", f"{rate(result, 'read')/1e6:.1f}"


def _lane(results):
    """The symbols of a lane, and the link model on the same traffic: MB/s, and how far they are apart in %."""
    good = {(r.point.mps, r.point.sequence, r.point.phy): r for r in results if r.point.sweep == "lane"}
    for (mps, sequence, phy), symbols in good.items():
        model = good.get((mps, sequence, "shared"))
        if phy != "soft" or not model:
            continue
        what = f"MPS {mps}, " + ("both at once" if sequence == "read-and-write" else "one way")
        for direction in ("read", "write"):
            counted, calculated = rate(symbols, direction), rate(model, direction)
            yield "lane", what, direction, "symbols", f"{counted/1e6:.1f}"
            yield "lane", what, direction, "model", f"{calculated/1e6:.1f}"
            yield "lane", what, direction, "apart", f"{100*(counted/calculated - 1):+.1f}"


def _published(results):
    for place, counts in figures.published_counts(results).items():
        for ns, (reached, count) in counts.items():
            yield "published", place, str(ns), "reached", str(reached)
            yield "published", place, str(ns), "of", str(count)


def measured(results):
    """Returns the rows of claims.csv that the results give."""
    good = [result for result in results if not result.failure]
    parts = (_boards, _hosts, _stock, _ideal, _one, _small, _lone, _least, _loads, _lane, _published)
    return [row for part in parts for row in part(good)]


def values(results):
    """Returns the measured values by (table, board, row, column)."""
    return {tuple(key): value for *key, value in measured(results)}


def write(folder, results):
    rows = measured(results)
    if rows:
        with open(folder / "claims.csv", "w", newline="", encoding="utf-8") as f:
            csv.writer(f, lineterminator="\n").writerows([COLUMNS, *rows])


def read(path=COMMITTED):
    """Returns the values by (table, board, row, column)."""
    with open(path, newline="", encoding="utf-8") as f:
        return {(row["table"], row["board"], row["row"], row["column"]): row["value"] for row in csv.DictReader(f)}


def checked(measured):
    """Returns the values. Raises ``ValueError`` if a share of the bound is above 100 % or not above 0.

    What a completion buffer allows is no share that was reached: it may be more than the link carries.
    """
    for (table, board, row, column), text in measured.items():
        if table in SHARES and column not in ("read_mbs", "buffer", "best_pending") and text:
            if not 0 < float(text) <= 100:
                raise ValueError(f"claims.csv: {table}, {board}, {row}, {column}: {text} %; a share of the bound is "
                    "above 0 and at most 100 %")
    return measured
