#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The plots of README.md and docs/benchmark.md: the boards, their reads over the host's latency, throughput over size.

`make bench` writes all as SVG into its output folder. The committed plots are in docs/pictures/. Those of the boards
are drawn from bench/claims.csv, the other one has a CSV file with its figures beside it. `--write` takes the figures
from a results.json and draws the plots; `--check` draws them again from the committed figures, so that a plot never
differs from its figures.
"""

import csv
import io
import json
import re
import sys

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from litepcie_bench import claims
from litepcie_bench.boards import ROOT
from litepcie_bench.plots import COLORS, size_label
from litepcie_bench.points import OURS, STOCK, STOCK_TAGS
from litepcie_soc.build.command_line import Parser, run

FOLDER  = ROOT / "docs" / "pictures"
RESULTS = ROOT / "build" / "bench" / "results.json"

# The plot over size shows the default board on its own link, with the ideal host of the benchmark.
LINK = {"gen": 2, "lanes": 4, "datapath_bits": 128, "mps": 256, "mrrs": 512}

CONDITIONS = "Gen2 x4, 128 bit, MPS 256, MRRS 512, equal chains of at most 256 transfers; ideal PHY, host that " \
    "answers after 1 us"

LICENCE   = """\
<!-- SPDX-License-Identifier: BSD-2-Clause -->
<!-- Copyright (c) 2026 LitePCIe SoC developers -->"""

# Text stays text, and the identifiers inside the file are the same at each run.
SVG_STYLE = {"svg.fonttype": "none", "svg.hashsalt": "litepcie", "font.family": "sans-serif", "font.size": 9,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e4e4e4",
    "axes.axisbelow": True, "legend.frameon": False}

LABELS = {OURS: "this project", STOCK: "stock LitePCIe, 8 requests", "bound": "bound of the link model"}
STYLES = {OURS: "o-", STOCK: "s-", "bound": "--"}

# Figures ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Picture:
    """One plot: a panel for each direction, a line for each series.

    name           : of the files, without suffix.
    select         : takes a record of results.json; whether the plot shows it.
    x              : key of a record: the horizontal axis.
    value          : takes a record; the figure.
    xlabel, ylabel : texts at the axes, with units.
    log            : whether the horizontal axis is logarithmic.
    """
    name:   str
    select: Callable
    x:      str
    value:  Callable
    xlabel: str
    ylabel: str
    log:    bool = False


def _matches(record, sweep):
    return record["source"].startswith(f"bench {sweep}") and all(record.get(key) == value for key, value in
        LINK.items())


def _is_chain(record):
    """A chain as long for ours as for stock as shipped: one doorbell, the table of stock filled before it."""
    return _matches(record, "equal_chains") and (record["design"] != STOCK or record["tags"] == STOCK_TAGS)


def _rate(record):
    return record[f"{record['sequence']}_bytes_per_second"]


def _bound(record):
    return record[f"bound_{record['sequence']}_bytes_per_second"]


PICTURES = (
    Picture("throughput", _is_chain, "transfer_bytes", lambda record: _rate(record)/1e6,
        "bytes of one transfer", "MB/s", log=True),
)


def rows(picture, records):
    """(direction, series, x, value) of the plot, sorted."""
    chosen = {(record["sequence"], record["design"], record[picture.x]): record for record in records
        if record["design"] in (OURS, STOCK) and picture.select(record)}
    found  = [(*key, round(picture.value(record), 1)) for key, record in chosen.items()]
    if picture.name == "throughput":
        found += [(direction, "bound", x, round(_bound(record)/1e6, 1))
            for (direction, design, x), record in chosen.items() if design == OURS]
    return sorted(found)


def to_csv(picture, found):
    text   = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("direction", "series", picture.x, picture.ylabel))
    writer.writerows(found)
    return text.getvalue()


def from_csv(text):
    return [(direction, series, int(x), float(value)) for direction, series, x, value in
        list(csv.reader(io.StringIO(text)))[1:]]

# Drawing ------------------------------------------------------------------------------------------


def _panel(axes, picture, found, direction):
    for series in ("bound", OURS, STOCK):
        points = [(x, value) for d, s, x, value in found if (d, s) == (direction, series)]
        if points:
            axes.plot(*zip(*points), STYLES[series], ms=3.5, label=LABELS[series],
                color=COLORS["limit" if series == "bound" else series])
    if picture.log:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(FuncFormatter(size_label))
    axes.set_ylim(bottom=0)
    axes.set_xlabel(picture.xlabel)
    axes.set_title(direction, loc="left")

# Plots of the boards ------------------------------------------------------------------------------

DIRECTIONS = ("read", "write")
# Column of the values, name, colour. Stock twice: as many pending requests as the hard block can store, and as shipped.
BARS       = (
    ("ours",          "this project",                              COLORS[OURS]),
    ("best",          "stock LitePCIe, at its best that is safe",  COLORS[STOCK]),
    (str(STOCK_TAGS), f"stock LitePCIe, {STOCK_TAGS} pending requests (its default)", "#f2c9a6"),
)
WIDTH      = .27  # Of a bar; the boards are 1 apart.
BOARD_CONDITIONS = "20 x 100 KB after one doorbell, MPS 256, MRRS 512. Bars: host that answers after 1 us. " \
    "Lines: this project on measured hosts, range and median"


def board_names(values):
    """Names of the boards that ours and stock were measured on, as the values have them; the fastest link last."""
    found = dict.fromkeys(board for table, board, _, column in values if (table, column) == ("stock", "ours"))
    return sorted(found, key=lambda board: [int(number) for number in re.findall(r"Gen(\d+) x(\d+)$", board)[0]])


def _board_label(board):
    """The link below the boards, which may need two lines."""
    *names, link = board.split(", ")
    half = (len(names) + 1)//2
    rows = [names] if len(names) < 2 else [names[:half], names[half:]]
    return "\n".join([*(", ".join(row) for row in rows), link])


def _board_panel(axes, values, direction):
    for at, board in enumerate(board_names(values)):
        for column, (key, name, color) in enumerate(BARS):
            value = values.get(("stock", board, direction, key))
            if value:
                x = at + (column - 1)*WIDTH
                axes.bar(x, float(value), WIDTH*.92, color=color, label=name if at == 0 else None)
                axes.text(x, 2, value, ha="center", va="bottom", rotation=90, fontsize=8,
                    color="white" if column < 2 else "black")
        least, middle, most = (values.get(("hosts", board, direction, of)) for of in ("least", "median", "most"))
        if middle:
            axes.plot([at - WIDTH]*2, [float(least), float(most)], color="black", lw=1.2)
            axes.plot([at - WIDTH], [float(middle)], "_", color="black", ms=9, mew=1.5)
    axes.set_xticks(range(len(board_names(values))), map(_board_label, board_names(values)), fontsize=8)
    axes.grid(axis="x", visible=False)
    axes.set_ylim(0, 108)
    axes.set_title(direction, loc="left")


def boards_figure(values):
    """Returns the figure of {(table, board, row, column): value}, or None if the boards were not measured."""
    if not board_names(values):
        return None
    drawn  = Figure(figsize=(11, 3.9), facecolor="white")
    panels = drawn.subplots(1, len(DIRECTIONS), sharey=True)
    for axes, direction in zip(panels, DIRECTIONS):
        _board_panel(axes, values, direction)
    panels[0].set_ylabel("% of what the link can carry")
    handles, names = panels[0].get_legend_handles_labels()
    drawn.legend(handles, names, loc="upper right", ncol=len(BARS), fontsize=8)
    drawn.text(.99, .01, BOARD_CONDITIONS, ha="right", fontsize=7.5, color="#5c6b78")
    drawn.tight_layout(rect=(0, .03, 1, .95))
    return drawn


def latency_figure(values):
    """Returns the figure of our reads over the latency of the host, a line for each board, or None."""
    points = {}
    for table, board, _, column in values:
        if table == "latency":
            points.setdefault(board, []).append((int(column), float(values[table, board, "", column])))
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


def boards(results):
    """The same figure from results, for the report."""
    return boards_figure(claims.values(results))

# Files --------------------------------------------------------------------------------------------


def to_svg(figure):
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": "litepcie_bench.pictures"})
    first, *others = (line.rstrip() for line in text.getvalue().splitlines())
    return "\n".join([first, LICENCE, *others]) + "\n"


def draw(picture, found):
    """Text of the SVG file."""
    directions = sorted({direction for direction, *_ in found}, reverse=True)
    with matplotlib.rc_context(SVG_STYLE):
        figure = Figure(figsize=(5 + 3.6*(len(directions) - 1), 3.4), facecolor="white")
        panels = figure.subplots(1, len(directions), sharey=True, squeeze=False)[0]
        for axes, direction in zip(panels, directions):
            _panel(axes, picture, found, direction)
        panels[0].set_ylabel(picture.ylabel)
        panels[-1].legend(loc="lower right")
        figure.suptitle(CONDITIONS, x=.99, ha="right", fontsize=8, color="#5c6b78")
        figure.tight_layout()
        return to_svg(figure)


BOARDS = {"boards.svg": boards_figure, "latency.svg": latency_figure}


def draw_boards(name, values):
    """Text of an SVG file of the boards, or None if the claims do not have them."""
    with matplotlib.rc_context(SVG_STYLE):
        figure = BOARDS[name](values)
        return figure and to_svg(figure)


def write(folder, records, pictures=PICTURES):
    """Writes figures and plots of ``records`` into ``folder``; names of the plots that have both designs."""
    written = []
    for picture in pictures:
        found = rows(picture, records)
        if {OURS, STOCK} <= {series for _, series, *_ in found}:
            (folder / f"{picture.name}.csv").write_text(to_csv(picture, found), encoding="utf-8")
            (folder / f"{picture.name}.svg").write_text(draw(picture, found), encoding="utf-8")
            written.append(picture.name)
    return written


def write_boards(folder, values):
    """Writes the plots of the boards that the claims have into ``folder``."""
    for name in BOARDS:
        text = draw_boards(name, values)
        if text:
            (folder / name).write_text(text, encoding="utf-8")


def stale(folder, pictures=PICTURES):
    """Names of the plots in ``folder`` that are not those of their figures."""
    return [picture.name for picture in pictures
        if (folder / f"{picture.name}.svg").read_text(encoding="utf-8") !=
            draw(picture, from_csv((folder / f"{picture.name}.csv").read_text(encoding="utf-8")))]

# Program ------------------------------------------------------------------------------------------


def main(argv=None):
    parser = Parser(prog="litepcie_bench.pictures", description=__doc__.splitlines()[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true",
        help="Take the figures from --results and bench/claims.csv and draw the plots.")
    action.add_argument("--check", action="store_true", help="Draw again and compare; exit 1 if one differs.")
    parser.add_argument("--results", type=Path, default=RESULTS, help="A results.json (%(default)s).")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="Where the plots are (%(default)s).")
    args = parser.parse_args(argv)
    if args.check:
        names = [(f"{name}.svg", f"{name}.csv") for name in stale(args.folder)]
        names += [(name, claims.COMMITTED.name) for name in BOARDS
            if (args.folder / name).read_text(encoding="utf-8") != draw_boards(name, claims.read())]
        for name, figures in names:
            print(f"{args.folder / name} does not show the figures of {figures}; "
                "draw it again: python3 -m litepcie_bench.pictures --write", file=sys.stderr)
        return 1 if names else 0
    write_boards(args.folder, claims.read())
    written = write(args.folder, json.loads(args.results.read_text(encoding="utf-8")))
    missing = [picture.name for picture in PICTURES if picture.name not in written]
    for name in missing:
        print(f"{args.results} has no figures for {name}: run make bench without --quick", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(run(main, "litepcie_bench.pictures"))
