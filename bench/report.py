#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""report.html: one page with everything in it."""

import html as escape

from litepcie_bench import goals, summary
from litepcie_bench.points import OURS, STOCK

STYLE = """
body { font: 15px/1.45 sans-serif; max-width: 1100px; margin: 2em auto; color: #222 }
table { border-collapse: collapse; margin: 1em 0; font-variant-numeric: tabular-nums }
th, td { padding: .15em .6em; border-bottom: 1px solid #ddd; text-align: left }
td.n { text-align: right } tr.below td { background: #fdecea } img { max-width: 100% }
"""


def table(head, rows):
    """A table; a row is (cells, below), numbers to the right."""
    lines = ["<table><tr>", *(f"<th>{escape.escape(name)}</th>" for name in head), "</tr>"]
    for cells, below in rows:
        lines.append('<tr class="below">' if below else "<tr>")
        for cell in cells:
            text = escape.escape(str(cell))
            number = text.replace(".", "").replace("-", "").replace("%", "").strip().isdigit()
            lines.append(f'<td class="n">{text}</td>' if number or text == "-" else
                f"<td>{text}</td>")
        lines.append("</tr>")
    return "".join(lines + ["</table>"])


def throughput(results):
    head = ("link", "", "ours alone", "ours chained", "of bound", "stock alone", "stock chained",
        "best published", "bound", "theory")
    rows = []
    for (gen, lanes, width), sequence, direction, found in summary.note_rows(results):
        ours  = found.get((OURS, True))
        share = f"{100*ours/found['bound']:.1f} %" if ours else "-"
        both  = "both: " if sequence == "read-and-write" else ""
        mb    = lambda key, found=found: summary.megabytes(found.get(key))
        rows.append(((f"Gen{gen} x{lanes} {width} bit", both + direction, mb((OURS, False)),
            mb((OURS, True)), share, mb((STOCK, False)), mb((STOCK, True)), mb("published"),
            mb("bound"), mb("theory")), False))
    return table(head, rows)


def cells_table(cells):
    return table(("goal", "cell", "measured", "must", "", "most cycles without data"), [
        ((cell.goal, cell.what, f"{cell.value:.1f}", f"{cell.must:.1f}", cell.unit,
            cell.why if not cell.reached else ""), not cell.reached) for cell in cells])


def html(results, folder):
    """The page; pictures are embedded, and written beside it into ``folder``."""
    cells = goals.cells(results)
    below = [cell for cell in cells if not cell.reached]
    parts = ["<h1>How close to the link</h1>",
        "<p>Measured in simulation, one model of link and host for both designs. Ours by the "
        "gateware's counters, doorbell to last byte. Stock has no such counters: by the model's "
        "clock, from the write that enables it, its descriptor table already filled. Bound: what "
        "this link model lets an ideal card reach. Theory: payload/(payload + 20).</p>",
        f"<p>{len(cells)} figures have a goal; {len(below)} are below it.</p>"]
    if summary.note_rows(results):
        parts += ["<h2>100 KB x 20 (MB/s)</h2>", throughput(results)]
    if below:
        parts += ["<h2>Below their goal, and what waited</h2>", cells_table(below)]
    if cells:
        parts += ["<h2>All goals</h2>", cells_table(cells)]
    return ("<!DOCTYPE html><html lang=en><meta charset=utf-8><title>Benchmark</title>"
        f"<style>{STYLE}</style>{''.join(parts)}</html>\n")
