#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The pictures of the report. Each takes results and gives a figure, or None without its sweep."""

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter

from litepcie_bench import goals, summary
from litepcie_bench.points import OURS, STOCK
from litepcie_bench.published import msc_calculated, msc_columns, pio as pio_rows
from litepcie_bench.records import rate

COLORS = {OURS: "#1f6fb4", STOCK: "#e07b28", "published": "#6aa84f", "limit": "#444444"}
NAMES  = {OURS: "ours", STOCK: "stock LitePCIe"}
SPENT  = {"moved": ("#1f6fb4", "moved data"), "wait_link": ("#9aa0a6", "link"),
    "wait_tag": ("#e07b28", "tag or completion buffer"), "wait_data": ("#f2c14e", "data"),
    "wait_descriptor": ("#b5453c", "descriptor")}

pyplot.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.color": "#e4e4e4", "axes.axisbelow": True, "legend.frameon": False,
    "figure.dpi": 110})


def _size(value, _=None):
    return f"{value/1024:.0f} KB" if value >= 1024 else f"{value:.0f} B"


def _good(results, *sweeps):
    return [r for r in results if r.point.sweep in sweeps and not r.failure]

# Throughput over size -----------------------------------------------------------------------------


def _size_panel(axes, results, link, source, direction):
    gen, lanes, width = link
    for design, fill, style, label in ((OURS, False, "o-", "ours, chained"),
        (STOCK, False, "o-", "stock LitePCIe, table filled before"),
        (STOCK, True, "o:", "stock LitePCIe, filling counted")):
        chains = goals.longest_chains(results, design=design, fill=fill)
        found  = sorted((size, r) for (at, size), r in chains.items() if at == link)
        if found:
            axes.plot([size for size, _ in found], [rate(r, direction)/1e6 for _, r in found],
                style, color=COLORS[design], ms=3.5, label=label)
        if design == OURS and found:
            axes.plot([size for size, _ in found],
                [r.data[direction]["bound_bytes_per_second"]/1e6 for _, r in found],
                "--", color=COLORS["limit"], lw=1, label="bound")
            sizes = [size for size, _ in found]
            axes.plot(sizes,
                [msc_calculated(size, gen, lanes, direction)/1e6 for size in sizes],
                ":", color=COLORS["limit"], label="theory of the note")
    for batch, style in ((8, "-"), (4, "--"), (1, ":")):
        line = sorted((r.point.bytes, rate(r, direction)/1e6) for r in results
            if r.point.link == link and r.point.batch == batch and r.point.mps == 256
            and r.point.design == OURS and r.point.bytes < 32768)
        if line:
            axes.plot(*zip(*line), style, color=COLORS[OURS], lw=1, alpha=.55,
                label=f"ours, {batch} back to back" if batch > 1 else "ours, one")
    for column in msc_columns():
        if (column.source, column.lanes, column.mps, column.direction, column.batch,
            column.calculated) == (source, lanes, 256, direction, 0, False):
            axes.plot(list(column.rates), [value/1e6 for value in column.rates.values()], "s-",
                color=COLORS["published"], ms=3, label=f"{source.upper()}, published")
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(_size))
    axes.set_title(f"Gen{gen} x{lanes}, {width} bit: {direction}", loc="left")
    axes.set_ylim(bottom=0)


def sizes(results):
    """Throughput over the size of a transfer, with theory, bound and peers."""
    results = _good(results, "sizes")
    links   = [(link, source) for link, source in
        (((2, 4, 128), "msc8157"), ((1, 4, 64), "msc8156"))
        if any(r.point.link == link for r in results)]
    if not links:
        return None
    figure, axes = pyplot.subplots(len(links), 2, figsize=(11, 4*len(links)), squeeze=False)
    for row, (link, source) in zip(axes, links):
        for panel, direction in zip(row, ("write", "read")):
            _size_panel(panel, results, link, source, direction)
        row[0].set_ylabel("MB/s")
    figure.legend(*axes[0][0].get_legend_handles_labels(), ncols=3, loc="lower center")
    figure.tight_layout(rect=(0, .4/figure.get_figheight() + .04, 1, 1))
    return figure

# Efficiency ---------------------------------------------------------------------------------------


def efficiency(results):
    """Bars: share of theory of one transfer a doorbell, as the notes measure, and their best."""
    rows = summary.note_rows(results)
    if not rows:
        return None
    links        = sorted({row[0] for row in rows})
    figure, axes = pyplot.subplots(2, 2, figsize=(11, 1.2 + .62*len(links)), squeeze=False,
        sharex=True, sharey=True)
    panels = {("write-then-read", "read"): "read", ("write-then-read", "write"): "write",
        ("read-and-write", "read"): "both at once: read",
        ("read-and-write", "write"): "both at once: write"}
    bars = ((OURS, False), (STOCK, False), "published")
    for panel, (key, title) in zip(axes.flat, panels.items()):
        for offset, bar in enumerate(bars):
            for at, link in enumerate(links):
                found = next(f for l, s, d, f in rows if (l, s, d) == (link, *key))
                value = found.get(bar)
                if value:
                    panel.barh(at + .27*(offset - 1), 100*value/found["theory"], .25,
                        color=COLORS[bar if bar == "published" else bar[0]])
                if value and bar != "published" and found.get((bar[0], True)):
                    panel.plot(100*found[bar[0], True]/found["theory"], at + .27*(offset - 1),
                        "o", ms=3.5, mfc="white", mec=COLORS[bar[0]])
                if offset == 0 and "bound" in found:
                    panel.plot([100*found["bound"]/found["theory"]]*2, [at - .4, at + .4],
                        color=COLORS["limit"], lw=1.5)
        panel.set_title(title, loc="left")
        panel.set_yticks(range(len(links)), [f"Gen{g} x{n}, {w} bit" for g, n, w in links])
        panel.set_xlim(40, 101)
    axes[0][0].invert_yaxis()
    for panel in axes[1]:
        panel.set_xlabel("% of theory, payload/(payload + 20)")
    handles = [pyplot.Rectangle((0, 0), 1, 1, color=COLORS[name])
        for name in (OURS, STOCK, "published")]
    handles.append(pyplot.Line2D([], [], color=COLORS["limit"], lw=1.5))
    handles.append(pyplot.Line2D([], [], ls="", marker="o", ms=3.5, mfc="white",
        mec=COLORS["limit"]))
    figure.legend(handles, ["ours", "stock LitePCIe", "best of AN 456, AN 855", "bound",
        "20 behind one doorbell"], ncols=5, loc="upper center")
    figure.tight_layout(rect=(0, 0, 1, .96))
    return figure

# Latency, completions -----------------------------------------------------------------------------


def host(results):
    """Share of the bound over the host's latency, and over the size of its completions."""
    if not _good(results, "latency", "completions"):
        return None
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 3.8), sharey=True)
    for design in (OURS, STOCK):
        for sequence, style, what in (("write-then-read", "o-", "read"),
            ("read-and-write", "s--", "read beside writes")):
            line = sorted((r.point.latency_ns/1000, 100*r.data["read"]["share_of_bound"])
                for r in _good(results, "latency")
                if (r.point.design, r.point.sequence) == (design, sequence))
            if line:
                left.plot(*zip(*line), style, color=COLORS[design], ms=4,
                    alpha=1 if what == "read" else .5, label=f"{NAMES[design]}, {what}")
        bars = {r.point.completion: 100*r.data["read"]["share_of_bound"]
            for r in _good(results, "completions")
            if (r.point.design, r.point.sequence) == (design, "write-then-read")}
        shift = -.2 if design == OURS else .2
        for at, (size, value) in enumerate(sorted(bars.items())):
            right.bar(at + shift, value, .36, color=COLORS[design])
            right.text(at + shift, value + 1, f"{value:.1f}", ha="center", fontsize=8)
            right.set_xticks(range(len(bars)), [f"{size} B" for size in sorted(bars)])
    left.set_title("Latency of the host, Gen2 x4, 128 bit", loc="left")
    left.set_xlabel("request to first completion, us")
    left.set_ylabel("% of bound")
    left.set_ylim(0, 108)
    left.legend()
    right.set_title("Size of the host's completions: read", loc="left")
    return figure

# Cycles -------------------------------------------------------------------------------------------


def cycles(results):
    """Stacked bars: what the active cycles of our engines were spent on."""
    bars = []
    for r in _good(results, "notes", "gen3"):
        if r.point.design == OURS and r.point.batch > 1 and r.point.sequence != "read-and-write":
            gen, lanes, width = r.point.link
            bars += [(d, f"Gen{gen} x{lanes} {width} bit", r) for d in ("read", "write")]
    for (link, size), r in sorted(goals.longest_chains(_good(results, "sizes")).items()):
        if link == (2, 4, 128) and size <= 1024:
            bars += [(d, f"Gen2 x4 128 bit, {size} B each", r) for d in ("read", "write")]
    if not bars:
        return None
    count = len(bars)//2
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 1.4 + .27*count), sharey=True)
    for panel, direction in zip(axes, ("read", "write")):
        mine = [(name, goals.spent(r, d)) for d, name, r in bars if d == direction]
        left = [0]*len(mine)
        for key, (color, label) in SPENT.items():
            values = [100*shares[key] for _, shares in mine]
            panel.barh(range(len(mine)), values, .7, left=left, color=color, label=label)
            left = [a + b for a, b in zip(left, values)]
        panel.set_yticks(range(len(mine)), [name for name, _ in mine])
        panel.set_xlim(0, 100)
        panel.set_xlabel("% of active cycles")
        panel.set_title(f"{direction}, chained", loc="left")
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), ncols=5, loc="upper center")
    figure.tight_layout(rect=(0, 0, 1, .95))
    return figure

# PIO ----------------------------------------------------------------------------------------------


def pio(results):
    """Bars: the processor's own accesses over Gen1 x1, beside 2007."""
    measured = [r for r in _good(results, "pio") if r.point.gen == 1]
    if not measured:
        return None
    bars = [(f"2007, {method}: {direction}", value/1e6, COLORS["published"])
        for method, direction, value, _ in pio_rows()]
    for r in measured:
        bars.append((f"ours, stores of {r.point.store} B", rate(r, "write")/1e6, COLORS[OURS]))
    bars.append(("ours, loads of 4 B", rate(measured[0], "read")/1e6, COLORS[OURS]))
    figure, axes = pyplot.subplots(figsize=(11, 3.2))
    for at, (_, value, color) in enumerate(bars):
        axes.barh(at, value, .7, color=color)
        axes.text(value + 1, at, f"{value:.1f}", va="center", fontsize=8)
    axes.set_yticks(range(len(bars)), [name for name, *_ in bars])
    axes.invert_yaxis()
    axes.set_xlabel("MB/s, Gen1 x1")
    return figure


PLOTS = {
    "Throughput over size":           sizes,
    "Share of theory":                efficiency,
    "What the host does to reads":    host,
    "Where the cycles went":          cycles,
    "Loads and stores of the processor": pio,
}
