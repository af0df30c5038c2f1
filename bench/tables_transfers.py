#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tables of the report: 100 KB x 20, and transfers by their size."""

from litepcie_bench import board_rows, bounds, goals
from litepcie_bench.bounds import rate, share_words
from litepcie_bench.page import Judged, note, table
from litepcie_bench.points import OURS, STOCK, link_name
from litepcie_bench.published import msc_calculated
from litepcie_bench.rows import note_rows
from litepcie_bench.summary import megabytes

# 100 KB x 20 --------------------------------------------------------------------------------------


def throughput(results):
    """20 transfers after one doorbell, ours and stock."""
    rows = []
    for row in note_rows(results):
        ours, stock = row.rate(OURS, True), row.rate(STOCK, True)
        rows.append((row.where, row.what, megabytes(ours), _judged(ours, row.bound(), row), megabytes(stock),
            _of(stock, row.bound(STOCK)), megabytes(row.bound()), megabytes(row.theory())))
    heads = ("20 per doorbell, MB/s", "", "ours", "of bound", "stock", "of its bound", "bound", "theory")
    return table(heads, rows)


def alone_throughput(results):
    """One transfer per doorbell: with its start-up, without it, and what it reaches at most."""
    rows = []
    for row in note_rows(results):
        ours, stock = row.rate(OURS, False), row.rate(STOCK, False)
        start = row.found.get((OURS, False))
        rows.append((row.where, row.what, megabytes(ours), _judged(ours, row.bound(OURS, False), row),
            f"{1e6*bounds.start_up(start.point, row.direction):.0f}" if start else "-",
            _judged(ours, row.net_bound(OURS), row), megabytes(row.alone_most(OURS)),
            _of(ours, row.alone_most(OURS)), megabytes(stock), megabytes(row.alone_most(STOCK)),
            _of(stock, row.alone_most(STOCK)), megabytes(row.published)))
    return table(("1 per doorbell, MB/s", "", "ours", "of bound", "start-up, us", "net of it",
        "ours at most", "of that", "stock", "stock at most", "of that", "best published"), rows)


def _of(value, bound):
    """A share of a bound as text."""
    return share_words(100*value/bound if value and bound else None)


def _judged(value, of, row):
    """A share in percent, green if it reaches the goal of the row."""
    return Judged(_of(value, of), 100*value/of >= (goals.BOTH if row.both else goals.ONE)) if value else "-"


def _by_size(results, title, figure, must, words):
    """Shares of chains by size; ``figure(result, direction)`` in %, ``must(size)``: the least of a green cell;
    ``words(figure)``: its text."""
    chains = goals.longest_chains(results)
    sizes  = sorted({size for _, size in chains})
    rows   = []
    for link in sorted({link for link, _ in chains}):
        for direction in ("read", "write"):
            found = {size: figure(chains[link, size], direction) for size in sizes if (link, size) in chains}
            rows.append((link_name(*link), direction, *(Judged(words(found[size]),
                found[size] >= must(size)) if size in found else "" for size in sizes)))
    return table((title, "", *(f"{size} B" for size in sizes)), rows)


def small(results):
    """Shares of the bound with descriptors and start-up, and of the notes' calculated column, by size."""
    calculated = _by_size(results, "% of the notes' calculated column", lambda result, direction:
        100*rate(result, direction)/msc_calculated(result.point.bytes, result.point.gen, result.point.lanes, direction),
        lambda size: goals.SMALL, "{:.0f}".format)
    if calculated:
        calculated += note("No bound: the formula charges the requests of reads, ACKs and UpdateFCs to the direction "
            "of the data, where a link has them in the other one.")
    return _by_size(results, "% of the bound with descriptors", board_rows.of_chain, board_rows.least_of,
        lambda value: share_words(value, "", 0)) + calculated


def costs(results):
    rows = [(design, link_name(*link), direction, f"{1e9*cost.t0:.1f}", megabytes(cost.rinf),
        f"{cost.half_peak:.0f}") for design in (OURS, STOCK)
        for (link, direction), cost in goals.fixed_costs(results, design).items()]
    return table(("design", "link", "", "t0, ns", "Rinf, MB/s", "half-peak size, B"), rows)
