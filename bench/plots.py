#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Plots of throughput. Each function takes results and returns a figure, or None if its sweep was not run."""

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter

from litepcie_bench import bounds, goals, waits
from litepcie_bench.bounds import rate
from litepcie_bench.points import OURS, STOCK, link_name
from litepcie_bench.published import msc_calculated, msc_columns
from litepcie_bench.rows import note_rows

COLORS = {OURS: "#1f6fb4", STOCK: "#e07b28", "published": "#6aa84f", "limit": "#444444"}
NAMES  = {OURS: "ours", STOCK: "stock LitePCIe"}
SPENT  = {"moved": ("#1f6fb4", "moved data"), "wait_link": ("#9aa0a6", "link"),
    "wait_tag": ("#e07b28", "tag or completion buffer"), "wait_data": ("#f2c14e", "data"),
    "wait_descriptor": ("#b5453c", "descriptor")}

pyplot.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.color": "#e4e4e4", "axes.axisbelow": True, "legend.frameon": False,
    "figure.dpi": 110})


def size_label(value, _=None):
    return f"{value/1024:.0f} KB" if value >= 1024 else f"{value:.0f} B"


def good_of(results, *sweeps):
    return [r for r in results if r.point.sweep in sweeps and not r.failure]

# Throughput over size -----------------------------------------------------------------------------


def _line(axes, points, style, color, label, **options):
    """Draws rates over sizes, if there are any."""
    if points:
        sizes, rates = zip(*sorted(points.items()))
        axes.plot(sizes, [value/1e6 for value in rates], style, color=color, label=label,
            **({"ms": 3.5} | options))


def _chains(results, link, direction, **options):
    return {size: rate(r, direction) for (at, size), r in
        goals.longest_chains(results, **options).items() if at == link}


def _printed(source, lanes, direction, batch=0):
    """Returns the rates of the note's column; empty if the note has no such column."""
    for column in msc_columns():
        if (column.source, column.lanes, column.mps, column.direction, column.batch,
            column.calculated) == (source, lanes, 256, direction, batch, False):
            return column.rates
    return {}


def _chained_panel(axes, results, link, source, direction):
    gen, lanes, _ = link
    ours = {size: r for (at, size), r in goals.longest_chains(results).items() if at == link}
    _line(axes, {size: bounds.bound(r, direction) for size, r in ours.items()}, "--",
        COLORS["limit"], "bound of this link model", lw=1.2)
    _line(axes, {size: msc_calculated(size, gen, lanes, direction) for size in ours}, ":",
        COLORS["limit"], "theory, formula of the note")
    _line(axes, _chains(results, link, direction), "o-", COLORS[OURS], "ours", lw=2)
    _line(axes, _chains(results, link, direction, design=STOCK), "o-", COLORS[STOCK],
        "stock LitePCIe, table filled before the start")
    _line(axes, _chains(results, link, direction, design=STOCK, fill=True), "o:", COLORS[STOCK],
        "stock LitePCIe, including the filling of its table")
    _line(axes, _printed(source, lanes, direction), "s-", COLORS["published"],
        f"{source.upper()}, published")
    axes.set_title(f"{link_name(*link)}: {direction}, a long chain", loc="left")


def _back_to_back_panel(axes, results, link, source, direction):
    for batch, style, name in ((8, "-", "8 back to back"), (4, "--", "4 back to back"), (1, ":", "one")):
        _line(axes, {r.point.bytes: rate(r, direction) for r in results if r.point.link == link
            and (r.point.design, r.point.batch, r.point.mps) == (OURS, batch, 256)}, "o" + style,
            COLORS[OURS], f"ours, {name}", ms=3)
        _line(axes, _printed(source, link[1], direction, batch), "s" + style, COLORS["published"],
            f"{source.upper()}, {name}", ms=3)
    axes.set_title(f"{link_name(*link)}: {direction}, few transfers per doorbell", loc="left")


def _of_sizes(results, link, source, panel):
    if not any(r.point.link == link for r in results):
        return None
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.4), sharey=True)
    for axis, direction in zip(axes, ("write", "read")):
        panel(axis, results, link, source, direction)
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter(FuncFormatter(size_label))
        axis.set_xlabel("bytes of one transfer")
        axis.set_ylim(bottom=0)
    axes[0].set_ylabel("MB/s")
    handles = dict(zip(*reversed(axes[0].get_legend_handles_labels())))
    figure.legend(handles.values(), handles.keys(), ncols=3, loc="lower center")
    figure.tight_layout(rect=(0, .12, 1, 1))
    return figure


def sizes(results):
    """Throughput over the size of a transfer, with theory, bound and peers (Gen2)."""
    return _of_sizes(good_of(results, "sizes"), (2, 4, 128), "msc8157", _chained_panel)


def sizes_gen1(results):
    """Throughput over the size of a transfer for the link of the MSC8156 note (Gen1)."""
    return _of_sizes(good_of(results, "sizes"), (1, 4, 64), "msc8156", _chained_panel)


def back_to_back(results):
    """One transfer and several per doorbell, as in the MSC8156 note."""
    return _of_sizes(good_of(results, "sizes"), (1, 4, 64), "msc8156", _back_to_back_panel)

# Efficiency ---------------------------------------------------------------------------------------


ZOOM = 80  # %: an axis of shares begins here if its bars end above.


def shown_from(values):
    """Returns where an axis with these bars begins: at ZOOM if most of them end above. Shorter ones are then told by
    their number only."""
    return ZOOM if sum(value > ZOOM for value in values) > len(values)/2 else 0


def efficiency(results):
    """Bars: share of theory of 20 transfers after one doorbell."""
    return _efficiency(results, True)


def efficiency_alone(results):
    """Bars: share of theory of one transfer per doorbell, as the application notes measure, beside their best."""
    return _efficiency(results, False)


def _efficiency(results, chained):
    """Each of our bars shows how much it differs from the better of the others."""
    rows = [row for row in note_rows(results) if row.rate(OURS, chained)]
    if not rows:
        return None
    names        = list(dict.fromkeys(row.where for row in rows))
    kinds        = (OURS, STOCK) if chained else (OURS, STOCK, "published")
    figure, axes = pyplot.subplots(2, 2, figsize=(12, 2 + (.75 if chained else .95)*len(names)), squeeze=False,
        sharey=True)
    for panel, (both, direction) in zip(axes.flat, ((False, "read"), (False, "write"),
        (True, "read"), (True, "write"))):
        mine = [(row, _shares_of_theory(row, kinds, chained)) for row in rows
            if (row.both, row.direction) == (both, direction)]
        left = shown_from([share for _, shares in mine for share in shares.values()])
        for row, shares in mine:
            limits = {name: 100*row.bound(name, chained)/row.theory() for name in shares if name != "published"}
            _efficiency_bars(panel, names.index(row.where), shares, limits, left)
        panel.set_title("both at once: "*both + direction, loc="left")
        panel.set_yticks(range(len(names)), names)
        panel.set_xlim(left, 103 if left else 112)
        panel.set_xticks(range(left, 101, 5 if left else 20))
        panel.grid(axis="y", visible=False)
    axes[0][0].set_ylim(len(names) - .4, -.6)
    for panel in axes[1]:
        panel.set_xlabel("% of theory, payload/(payload + 20)")
    handles = [pyplot.Rectangle((0, 0), 1, 1, color=COLORS[name]) for name in kinds]
    handles.append(pyplot.Line2D([], [], color=COLORS["limit"], lw=1.5))
    labels  = {OURS: "ours", STOCK: "stock LitePCIe", "published": "best of AN 456, AN 855"}
    labels["limit"] = "bound, beside the other direction as measured"
    figure.legend(handles, [labels[name] for name in (*kinds, "limit")], ncols=4, loc="upper center")
    figure.tight_layout(rect=(0, 0, 1, 1 - .4/figure.get_figheight()))
    return figure


def _shares_of_theory(row, kinds, chained):
    """Returns the shares of theory in % of a row, by design, in the order of the bars."""
    rates = {name: row.published if name == "published" else row.rate(name, chained) for name in kinds}
    return {name: 100*value/row.theory() for name, value in rates.items() if value}


def _efficiency_bars(panel, at, shares, limits, left):
    others = [share for name, share in shares.items() if name != OURS]
    for offset, (name, share) in enumerate(shares.items()):
        height, inside = at + .27*(offset - (len(shares) - 1)/2), share > left + (100 - left)*.3
        if share > left:
            panel.barh(height, share - left, .25, left=left, color=COLORS[name])
        if limits.get(name, 0) > left:
            panel.plot([limits[name]]*2, [height - .13, height + .13], color=COLORS["limit"], lw=1.5)
        words = f"{share:.1f}"
        if name == OURS and others:
            words += f" ({share - max(others):+.1f})"
        panel.text(left + (100 - left)*.015 if inside else max(share, left) + (100 - left)*.01, height, words,
            va="center", fontsize=6.5, color="white" if inside else COLORS[name])

# Cycles -------------------------------------------------------------------------------------------


def cycles(results):
    """Stacked bars: active cycles of our engines by cause."""
    bars = []
    for r in good_of(results, "notes", "gen3", "shapes"):
        if (r.point.design, r.point.sequence, r.point.update_fc) == \
            (OURS, "write-then-read", "guideline") and r.point.batch > 1:
            bars += [(d, r.point.where, r) for d in ("read", "write")]
    for (link, size), r in sorted(goals.longest_chains(good_of(results, "sizes")).items()):
        if link == (2, 4, 128) and size <= 1024:
            bars += [(d, f"{link_name(*link)}, {size} B each", r) for d in ("read", "write")]
    if not bars:
        return None
    count = len(bars)//2
    figure, axes = pyplot.subplots(1, 2, figsize=(12, 1.4 + .27*count), sharey=True)
    for panel, direction in zip(axes, ("read", "write")):
        mine = [(name, waits.spent(r, d)) for d, name, r in bars if d == direction]
        left = [0]*len(mine)
        for key, (color, label) in SPENT.items():
            values = [100*shares[key] for _, shares in mine]
            panel.barh(range(len(mine)), values, .7, left=left, color=color, label=label)
            left = [a + b for a, b in zip(left, values)]
        panel.set_yticks(range(len(mine)), [name for name, _ in mine])
        panel.set_xlim(0, 100)
        panel.set_xlabel("% of active cycles")
        panel.set_title(f"{direction}, chained", loc="left")
        panel.grid(axis="y", visible=False)
    axes[0].set_ylim(count - .4, -.6)
    figure.legend(*axes[0].get_legend_handles_labels(), ncols=5, loc="upper center")
    figure.tight_layout(rect=(0, 0, 1, 1 - .35/figure.get_figheight()))
    return figure
