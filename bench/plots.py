#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Plots of the report. Each function takes results and returns a figure, or None if its sweep was not run."""

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter

from litepcie_bench import bounds, figures, goals, waits
from litepcie_bench.bounds import rate
from litepcie_bench.figures import note_rows
from litepcie_bench.hardware import board_name
from litepcie_bench.points import DEFAULT_TAGS, HOSTS, OURS, STOCK, link_name
from litepcie_bench.published import msc_calculated, msc_columns
from litepcie_bench.published import pio as pio_rows

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

# Influence of host and link -----------------------------------------------------------------------

# Shades for series without a colour of their own.
SHADES = ("#9ec9e8", "#1f6fb4", "#0b3a66", "#f0b98a", "#e07b28", "#8a4208")


def _of_bound(result, direction="read"):
    return 100*rate(result, direction)/bounds.bound(result, direction)


def _panels(count, **options):
    figure, axes = pyplot.subplots(1, count, figsize=(11, 4), squeeze=False, sharey=True, **options)
    axes[0][0].set_ylabel("read, % of bound")
    axes[0][0].set_ylim(0, 108)
    return figure, axes[0]

# Boards -------------------------------------------------------------------------------------------


def profiles(results):
    """Shares of the bound of each board on each host, reads and writes side by side; dashed: the median of measured
    hosts."""
    found = figures.host_rows(results)
    if not found:
        return None
    boards       = list(dict.fromkeys(row.hardware for row in found))
    figure, axes = pyplot.subplots(2, len(boards), figsize=(11, 5), squeeze=False, sharex="col", sharey=True)
    for column, hardware in enumerate(boards):
        for panel, direction in zip((axes[0][column], axes[1][column]), ("read", "write")):
            row, = (row for row in found if (row.hardware, row.direction) == (hardware, direction))
            for at, (name, share) in enumerate(row.shares.items()):
                if share > ZOOM:
                    panel.bar(at, share - ZOOM, .75, bottom=ZOOM, color=SHADES[1 if HOSTS[name].measured else 0])
                panel.text(at, ZOOM + 1, f"{share:.1f}", ha="center", va="bottom", rotation=90, fontsize=8,
                    color="white" if HOSTS[name].measured and share > 85 else "black")
            panel.axhline(row.headline[0], color=COLORS["limit"], lw=.8, ls="--")
            panel.set_xticks(range(len(row.shares)), row.shares, rotation=60, ha="right", fontsize=8)
            panel.grid(axis="x", visible=False)
        axes[0][column].set_title(board_name(hardware), loc="left", fontsize=8)
    for panel, direction in zip(axes[:, 0], ("read", "write")):
        panel.set_ylim(ZOOM, 100.5)
        panel.set_ylabel(f"{direction}, % of bound")
    figure.tight_layout()
    return figure


def tolerance(results):
    """Reads of each board over the latency of the host, from ZOOM on: where a line leaves, the buffer is too small."""
    found = [row for row in figures.board_rows(results, ("boards",)) if len(row.latencies) > 1]
    if not found:
        return None
    figure, axes = pyplot.subplots(figsize=(11, 3.6))
    for color, row in zip(SHADES[1:], found):
        line = sorted((ns/1000, figures.share(r, "read")) for ns, r in row.latencies.items())
        axes.plot(*zip(*line), "o-", color=color, ms=4, label=board_name(row.hardware))
    axes.axhline(figures.TOLERATED, color=COLORS["limit"], lw=.8, ls="--")
    axes.set_ylim(ZOOM, 100.5)
    axes.set_xlim(left=0)
    axes.set_xlabel("host: request to first completion, us")
    axes.set_ylabel("read, % of bound")
    axes.legend(loc="lower left")
    figure.tight_layout()
    return figure

# Latency ------------------------------------------------------------------------------------------


def latency(results):
    """Share of the bound over the latency of the host, with and without jitter."""
    found = good_of(results, "latency")
    if not found:
        return None
    links        = list(dict.fromkeys(r.point.where for r in found))
    figure, axes = _panels(len(links))
    for panel, where in zip(axes, links):
        for design in (OURS, STOCK):
            for sequence, jitter, count, style, what in (("write-then-read", False, DEFAULT_TAGS, "o-", ""),
                ("read-and-write", False, DEFAULT_TAGS, "s--", ", during writes"),
                ("write-then-read", True, DEFAULT_TAGS, "^:", ", + 0..1 us, reordered"),
                ("write-then-read", True, 256, "v-.", ", + 0..1 us, reordered, 256 tags")):
                line = sorted((r.point.latency_ns/1000, _of_bound(r)) for r in found
                    if (r.point.where, r.point.design, r.point.sequence) == (where, design, sequence)
                    and (bool(r.point.jitter_ns), r.point.tags) == (jitter, count))
                if line:
                    panel.plot(*zip(*line), style, color=COLORS[design], ms=4,
                        alpha=1 if style == "o-" else .6, label=NAMES[design] + what)
        panel.set_title(where, loc="left")
        panel.set_xlabel("host: request to first completion, us")
        panel.set_xlim(left=0)
    handles = dict(item for panel in axes for item in zip(*reversed(panel.get_legend_handles_labels())))
    figure.legend(handles.values(), handles.keys(), ncols=2, loc="lower center")
    figure.tight_layout(rect=(0, .06*-(-len(handles)//2), 1, 1))
    return figure


def tags(results):
    """Share of the bound over latency, by number of tags."""
    found = good_of(results, "tags")
    if not found:
        return None
    sizes        = sorted({r.point.mrrs for r in found}, reverse=True)
    figure, axes = _panels(len(sizes))
    for panel, mrrs in zip(axes, sizes):
        # Later lines are thinner, so that lines which coincide stay visible.
        for n, (color, count) in enumerate(zip(SHADES, sorted({r.point.tags for r in found}))):
            line = sorted((r.point.latency_ns/1000, _of_bound(r)) for r in found
                if (r.point.tags, r.point.mrrs) == (count, mrrs))
            panel.plot(*zip(*line), "o-", color=color, ms=8 - 2.5*n, lw=4 - 1.4*n, label=f"{count} tags")
        panel.set_title(f"{found[0].point.where}: requests of {mrrs} B", loc="left")
        panel.set_xlabel("host: request to first completion, us")
        panel.set_xlim(left=0)
    axes[0].legend(loc="lower left")
    figure.tight_layout()
    return figure

# Completions, errors ------------------------------------------------------------------------------


def completions(results):
    """Share of the bound over the size of the host's completions."""
    found = [r for r in good_of(results, "completions") if r.point.sequence == "write-then-read"]
    if not found:
        return None
    links        = list(dict.fromkeys(r.point.where for r in found))
    sizes        = sorted({r.point.completion for r in found})
    figure, axes = _panels(len(links))
    for panel, where in zip(axes, links):
        for shift, design in ((-.2, OURS), (.2, STOCK)):
            bars = {r.point.completion: _of_bound(r) for r in found
                if (r.point.where, r.point.design) == (where, design)}
            for at, size in enumerate(sizes):
                if size in bars:
                    panel.bar(at + shift, bars[size], .37, color=COLORS[design],
                        label=NAMES[design] if not at else None)
                    panel.text(at + shift, bars[size] + 1, f"{bars[size]:.1f}", ha="center",
                        fontsize=8)
        panel.set_xticks(range(len(sizes)), [f"{size} B" for size in sizes])
        panel.set_title(where, loc="left")
        panel.set_xlabel("bytes of each completion from the host")
    figure.legend(*axes[0].get_legend_handles_labels(), ncols=2, loc="lower center")
    figure.tight_layout(rect=(0, .07, 1, 1))
    return figure


def errors(results):
    """Throughput over the share of damaged TLPs; thin lines: no damaged TLPs."""
    found = [r for r in good_of(results, "errors") if r.point.sequence == "write-then-read"]
    if not any(r.point.lcrc_every for r in found):
        return None
    figure, axes = pyplot.subplots(figsize=(11, 4))
    for design in (OURS, STOCK):
        mine = [r for r in found if r.point.design == design]
        for direction, style in (("read", "o-"), ("write", "s--")):
            line = sorted((1/r.point.lcrc_every, rate(r, direction)/1e6) for r in mine
                if r.point.lcrc_every)
            if line:
                axes.plot(*zip(*line), style, color=COLORS[design], ms=4,
                    label=f"{NAMES[design]}, {direction}")
            for r in mine:
                if not r.point.lcrc_every:
                    axes.axhline(rate(r, direction)/1e6, color=COLORS[design], lw=.6, alpha=.7)
    axes.set_xscale("log")
    axes.set_title(f"{found[0].point.where}, one direction at a time", loc="left")
    axes.set_xlabel("share of TLPs damaged and replayed in each direction (thin lines: none)")
    axes.set_ylabel("MB/s")
    axes.legend(loc="lower left")
    figure.tight_layout()
    return figure

# PIO ----------------------------------------------------------------------------------------------


def pio(results):
    """Bars: loads and stores of the processor over Gen1 x1, compared with 2007."""
    measured = [r for r in good_of(results, "pio") if r.point.gen == 1]
    if not measured:
        return None
    bars = [(f"2007, {method}: {direction}", value/1e6, COLORS["published"])
        for method, direction, value, _ in pio_rows()]
    for r in measured:
        what = "write-combined stores" if r.point.store == 64 else "stores"
        bars.append((f"ours, {what} of {r.point.store} B", rate(r, "write")/1e6, COLORS[OURS]))
    bars.append(("ours, loads of 4 B", rate(measured[0], "read")/1e6, COLORS[OURS]))
    figure, axes = pyplot.subplots(figsize=(11, 3.4))
    for at, (_, value, color) in enumerate(bars):
        axes.barh(at, value, .7, color=color)
        axes.text(value + 1, at, f"{value:.1f}", va="center", fontsize=8)
    axes.set_yticks(range(len(bars)), [name for name, *_ in bars])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("MB/s, Gen1 x1")
    figure.tight_layout()
    return figure
