#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Plots a sweep of `litepcie_util bench --csv FILE` as PNG, SVG or PDF: python3 -m liblitepcie.plot FILE"""

from __future__ import annotations

import argparse
import csv
import sys

from pathlib import Path
from typing import Any

COLUMNS = {"direction": str, "in_flight": int, "length_bytes": int, "bytes_per_second": float,
    "counter_bytes_per_second": float}
FORMATS = (".png", ".svg", ".pdf")

Sweep = dict[tuple[str, int], list[dict[str, Any]]]


def read(file: str | Path) -> Sweep:
    """The points of each line, by direction and transfers in flight. Raises ValueError if it is no sweep."""
    lines: Sweep = {}
    with open(file, newline="", encoding="utf-8") as text:
        rows = csv.DictReader(text)
        if missing := [name for name in COLUMNS if name not in (rows.fieldnames or ())]:
            raise ValueError(f"{file}: the column {missing[0]} is missing; give a file of litepcie_util bench --csv")
        try:
            points = [{name: kind(row[name]) for name, kind in COLUMNS.items()} for row in rows]
        except (TypeError, ValueError):
            raise ValueError(f"{file}: line {rows.line_num} is not complete, or has no numbers") from None
    for point in points:
        lines.setdefault((point["direction"], point["in_flight"]), []).append(point)
    if not lines:
        raise ValueError(f"{file}: no points")
    return lines


def draw(lines: Sweep, title: str = "") -> Any:
    """A Matplotlib figure: a panel for each direction, the rate by the card's counters dashed."""
    from matplotlib.figure import Figure

    directions = list(dict.fromkeys(direction for direction, _ in lines))
    figure = Figure(figsize=(5.5*len(directions), 4.5), layout="constrained")
    panels = figure.subplots(1, len(directions), sharey=True, squeeze=False)[0]
    for panel, direction in zip(panels, directions):
        shown = [(depth, points) for (name, depth), points in lines.items() if name == direction]
        for number, (depth, points) in enumerate(shown):
            lengths = [point["length_bytes"] for point in points]
            for name, style, label in (("bytes_per_second", "o-", f"{depth} in flight"),
                    ("counter_bytes_per_second", "--", None)):
                panel.plot(lengths, [point[name]/1e6 for point in points], style, color=f"C{number % 10}", label=label)
        panel.set_xscale("log", base=2)
        panel.set(xlabel="bytes of a transfer", title=direction)
        panel.set_ylim(bottom=0)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("MB/s; dashed: by the card's counters")
    panels[0].legend()
    figure.suptitle(title)
    return figure


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m liblitepcie.plot",
        description="Plots a sweep that `litepcie_util bench --csv FILE` has measured.")
    parser.add_argument("file", metavar="FILE", help="the sweep")
    parser.add_argument("-o", "--output", metavar="FILE", help="the picture: .png, .svg or .pdf (default FILE.svg)")
    parser.add_argument("--title", default="", help="line above the picture")
    given  = parser.parse_args(arguments)
    output = Path(given.output or Path(given.file).with_suffix(".svg"))
    if output.suffix not in FORMATS:
        parser.error(f"--output {output} is not supported; choose a name that ends in {', '.join(FORMATS)}")
    try:
        draw(read(given.file), given.title).savefig(output)
    except ImportError:
        print("liblitepcie.plot: Matplotlib is missing; run: pip install 'liblitepcie[plot]'", file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(f"liblitepcie.plot: {error}", file=sys.stderr)
        return 1
    print(output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
