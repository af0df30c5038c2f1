#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The figures that README.md and docs/benchmark.md print, as they were measured.

`make bench` writes claims.csv into its folder if it measured them. The committed one is bench/claims.csv, and a test
compares the tables of both documents with it.

    make bench BENCH="--only boards --only hosts --only stock --only equal_chains"
    cp build/bench/claims.csv bench/
"""

import csv

from pathlib import Path

from litepcie_bench import board_rows, goals, hosts, stock_best
from litepcie_bench.points import PENDING
from litepcie_bench.records import rate

COMMITTED = Path(__file__).resolve().parent / "claims.csv"
COLUMNS   = ("table", "board", "row", "column", "value")
BOARDS    = {"sqrl_acorn": "Acorn, NeTV2, AC701, KC705", "xilinx_kc705": "KC705", "xilinx_kcu105": "KCU105",
    "xilinx_alveo_u200": "Alveo U200, XCU1525"}
LATENCIES = (600, 1000, 1250, 1500, 2000)


def board_name(hardware):
    """Returns the name of a row as the documents have it, such as "KCU105, Gen3 x8"."""
    name = next(words for target, words in BOARDS.items() if target in hardware.names)
    return f"{name}, Gen{hardware.gen} x{hardware.lanes}"


def _boards(results):
    for row in board_rows.rows(results, ("boards",)):
        name   = board_name(row.hardware)
        figure = {"read": (row.one, "read"), "write": (row.one, "write"), "64": (row.split, "read"),
            "alone": (row.alone, "read"), "direct": (row.direct, "read")}
        for column, (result, direction) in figure.items():
            if result:
                yield "boards", name, "", column, f"{board_rows.share(result, direction):.1f}"
        if row.one:
            yield "boards", name, "", "read_mbs", f"{rate(row.one, 'read')/1e6:.0f}"
            yield "boards", name, "", "buffer", f"{board_rows.buffered(row.one):.0f}"
        for ns in LATENCIES:
            if ns in row.latencies:
                yield "latency", name, "", str(ns), f"{board_rows.share(row.latencies[ns], 'read'):.1f}"


def _hosts(results):
    for row in hosts.rows(results):
        name = board_name(row.hardware)
        for column, value in zip(("median", "least", "most"), row.headline):
            yield "hosts", name, row.direction, column, f"{value:.1f}"
        for host in ("ideal", "chipset"):
            if host in row.shares:
                yield "hosts", name, row.direction, host, f"{row.shares[host]:.1f}"


def _stock(results):
    for row in stock_best.rows(results):
        name = board_name(row.hardware)
        for pending in PENDING:
            yield "stock", name, row.direction, str(pending), f"{row.stock[pending]:.1f}"
        yield "stock", name, row.direction, "best", f"{row.best[1]:.1f}" if row.best else ""
        yield "stock", name, row.direction, "best_pending", str(row.best[0]) if row.best else ""
        yield "stock", name, row.direction, "ours", f"{row.ours:.1f}"
    for name, direction, cost in goals.equal_costs(results):
        yield "half_peak", name, direction, "bytes", f"{cost.half_peak:.0f}"


def measured(results):
    """Returns the rows of claims.csv that the results give."""
    return [*_boards(results), *_hosts(results), *_stock(results)]


def write(folder, results):
    rows = measured(results)
    if rows:
        with open(folder / "claims.csv", "w", newline="", encoding="utf-8") as f:
            csv.writer(f, lineterminator="\n").writerows([COLUMNS, *rows])


def read(path=COMMITTED):
    """Returns the values by (table, board, row, column)."""
    with open(path, newline="", encoding="utf-8") as f:
        return {(row["table"], row["board"], row["row"], row["column"]): row["value"] for row in csv.DictReader(f)}
