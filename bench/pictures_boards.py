#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The plots of the boards: ours and stock, each on the hard block of the board; our reads over the host's latency.

Its figures are those of claims.csv, as in the tables of the README.
"""

import re

from matplotlib.figure import Figure

from litepcie_bench.plots import COLORS
from litepcie_bench.points import OURS, STOCK, STOCK_TAGS

DIRECTIONS = ("read", "write")
# Column of the claims, name, colour. Stock twice: as many pending requests as the hard block can store, and as shipped.
BARS       = (
    ("ours",          "this project",                              COLORS[OURS]),
    ("best",          "stock LitePCIe, at its best that is safe",  COLORS[STOCK]),
    (str(STOCK_TAGS), f"stock LitePCIe, {STOCK_TAGS} pending requests (its default)", "#f2c9a6"),
)
WIDTH      = .27  # Of a bar; the boards are 1 apart.
CONDITIONS = "20 x 100 KB after one doorbell, MPS 256, MRRS 512. Bars: host that answers after 1 us. " \
    "Lines: this project on measured hosts, range and median"


def boards(claims):
    """Names of the boards that ours and stock were measured on, as the claims have them; the fastest link last."""
    found = dict.fromkeys(board for table, board, _, column in claims if (table, column) == ("stock", "ours"))
    return sorted(found, key=lambda board: [int(number) for number in re.findall(r"Gen(\d+) x(\d+)$", board)[0]])


def _label(board):
    """The link below the boards, which may need two lines."""
    *names, link = board.split(", ")
    half = (len(names) + 1)//2
    rows = [names] if len(names) < 3 else [names[:half], names[half:]]
    return "\n".join([*(", ".join(row) for row in rows), link])


def _panel(axes, claims, direction):
    for at, board in enumerate(boards(claims)):
        for column, (key, name, color) in enumerate(BARS):
            value = claims.get(("stock", board, direction, key))
            if value:
                x = at + (column - 1)*WIDTH
                axes.bar(x, float(value), WIDTH*.92, color=color, label=name if at == 0 else None)
                axes.text(x, 2, value, ha="center", va="bottom", rotation=90, fontsize=8,
                    color="white" if column < 2 else "black")
        least, middle, most = (claims.get(("hosts", board, direction, of)) for of in ("least", "median", "most"))
        if middle:
            axes.plot([at - WIDTH]*2, [float(least), float(most)], color="black", lw=1.2)
            axes.plot([at - WIDTH], [float(middle)], "_", color="black", ms=9, mew=1.5)
    axes.set_xticks(range(len(boards(claims))), map(_label, boards(claims)), fontsize=8)
    axes.grid(axis="x", visible=False)
    axes.set_ylim(0, 108)
    axes.set_title(direction, loc="left")


def figure(claims):
    """Returns the figure of {(table, board, row, column): value}, or None if the boards were not measured."""
    if not boards(claims):
        return None
    drawn  = Figure(figsize=(11, 3.9), facecolor="white")
    panels = drawn.subplots(1, len(DIRECTIONS), sharey=True)
    for axes, direction in zip(panels, DIRECTIONS):
        _panel(axes, claims, direction)
    panels[0].set_ylabel("% of the bound of the link")
    handles, names = panels[0].get_legend_handles_labels()
    drawn.legend(handles, names, loc="upper right", ncol=len(BARS), fontsize=8)
    drawn.text(.99, .01, CONDITIONS, ha="right", fontsize=7.5, color="#5c6b78")
    drawn.tight_layout(rect=(0, .03, 1, .95))
    return drawn


def latencies(claims):
    """Returns the figure of our reads over the latency of the host, a line for each board, or None."""
    points = {}
    for table, board, _, column in claims:
        if table == "latency":
            points.setdefault(board, []).append((int(column), float(claims[table, board, "", column])))
    if not points:
        return None
    drawn = Figure(figsize=(6.2, 3.4), facecolor="white")
    axes  = drawn.subplots()
    for board in sorted(points, key=lambda board: [int(number) for number in
            re.findall(r"Gen(\d+) x(\d+)$", board)[0]]):
        axes.plot(*zip(*sorted(points[board])), "o-", ms=3.5, label=board)
    axes.set_ylim(0, 108)
    axes.set_xlabel("latency of the host, ns")
    axes.set_ylabel("reads, % of the bound of the link")
    axes.legend(loc="lower left", fontsize=8)
    drawn.suptitle("20 x 100 KB after one doorbell, MPS 256, MRRS 512", x=.99, ha="right", fontsize=8, color="#5c6b78")
    drawn.tight_layout()
    return drawn
