#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Plots of the influence of host and link. Each function takes results and returns a figure, or None if its sweep was
not run.
"""

from litepcie_bench import board_rows, bounds, claims, hosts, pictures_boards
from litepcie_bench.bounds import rate
from litepcie_bench.hardware import board_name
from litepcie_bench.plots import COLORS, NAMES, ZOOM, good_of, pyplot
from litepcie_bench.points import DEFAULT_TAGS, HOSTS, OURS, STOCK
from litepcie_bench.published import pio as pio_rows

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


def boards(results):
    """Ours and stock on the hard block of each board, and ours on measured hosts: the plot of the README."""
    return pictures_boards.figure(claims.values(results))


def profiles(results):
    """Shares of the bound of each board on each host, reads and writes side by side; dashed: the median of measured
    hosts."""
    found = hosts.rows(results)
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
    found = [row for row in board_rows.rows(results, ("boards",)) if len(row.latencies) > 1]
    if not found:
        return None
    figure, axes = pyplot.subplots(figsize=(11, 3.6))
    for color, row in zip(SHADES[1:], found):
        line = sorted((ns/1000, board_rows.share(r, "read")) for ns, r in row.latencies.items())
        axes.plot(*zip(*line), "o-", color=color, ms=4, label=board_name(row.hardware))
    axes.axhline(board_rows.TOLERATED, color=COLORS["limit"], lw=.8, ls="--")
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
