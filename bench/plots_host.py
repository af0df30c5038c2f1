#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Plots of the influence of host and link. Each function takes results and returns a figure, or None if its sweep was
not run.
"""

from litepcie_bench import waits
from litepcie_bench.plots import COLORS, NAMES, good_of, pyplot
from litepcie_bench.points import DEFAULT_TAGS, OURS, STOCK
from litepcie_bench.published import pio as pio_rows
from litepcie_bench.records import rate

# Shades for series without a colour of their own.
SHADES = ("#9ec9e8", "#1f6fb4", "#0b3a66", "#f0b98a", "#e07b28", "#8a4208")


def _of_bound(result, direction="read"):
    return 100*rate(result, direction)/waits.bound(result, direction)


def _panels(count, **options):
    figure, axes = pyplot.subplots(1, count, figsize=(11, 4), squeeze=False, sharey=True, **options)
    axes[0][0].set_ylabel("read, % of bound")
    axes[0][0].set_ylim(0, 108)
    return figure, axes[0]

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
