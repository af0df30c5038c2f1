#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""report.html: one page with everything in it."""

import base64
import html as escape
import io

from litepcie_bench import goals, summary
from litepcie_bench.plots import PLOTS, pyplot
from litepcie_bench.points import OURS, STOCK
from litepcie_bench.published import application_notes, msc_columns
from litepcie_bench.records import rate

STYLE = """
body { font: 15px/1.45 sans-serif; max-width: 1100px; margin: 2em auto; color: #222 }
table { border-collapse: collapse; margin: 1em 0; font-variant-numeric: tabular-nums }
th, td { padding: .15em .6em; border-bottom: 1px solid #ddd; text-align: left }
td.n { text-align: right } tr.below td { background: #fdecea } img { max-width: 100% }
"""

HOW = """
<p>Measured in simulation, one model of link and host for both designs; "read" is host memory to
FPGA. Ours by the gateware's counters, doorbell to last byte. Stock LitePCIe has no such counters:
by the model's clock, from the write that enables it to the last byte; its table of descriptors
was filled before, which is not counted unless said. <em>Alone</em>: one transfer a doorbell, as the notes
measure. <em>Chained</em>: all transfers behind one doorbell. <em>Bound</em>: what this link model
lets an ideal card reach; with both directions at once it takes each at its bound, so a writer
beside a slower reader may pass it. <em>Theory</em>: payload/(payload + 20).</p>
"""


def table(head, rows):
    """A table; a row is (cells, below), numbers to the right."""
    lines = ["<table><tr>", *(f"<th>{escape.escape(name)}</th>" for name in head), "</tr>"]
    for cells, below in rows:
        lines.append('<tr class="below">' if below else "<tr>")
        for cell in cells:
            text   = escape.escape(str(cell))
            number = text.replace(".", "").replace("-", "0").replace("%", "").strip().isdigit()
            lines.append(f"<td class=n>{text}</td>" if number else f"<td>{text}</td>")
        lines.append("</tr>")
    return "".join(lines + ["</table>"])

# Sections -----------------------------------------------------------------------------------------


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
    return table(head, rows) if rows else ""


def note_table(results):
    """Every row of AN 456 and AN 855 as printed, ours under the same link beside it."""
    ours = {(link, sequence, direction): found.get((OURS, False))
        for link, sequence, direction, found in summary.note_rows(results)}
    rows = []
    for row in application_notes():
        link  = (row.gen, row.lanes, row.width)
        cells = [row.name, row.chipset, row.ip, f"Gen{row.gen} x{row.lanes}",
            f"{row.width} bit" if row.width_given else f"({row.width} bit)"]
        for cell, printed in row.rates.items():
            sequence = "read-and-write" if cell.startswith("both_") else "write-then-read"
            mine     = ours.get((link, sequence, cell.removeprefix("both_")))
            wrong    = " (misprint)" if row.misprint(cell) else ""
            cells   += [f"{printed/1e6:.0f}{wrong}", summary.megabytes(mine)]
        rows.append((cells + [summary.megabytes(row.theory)], False))
    return table(("row", "chipset", "IP", "link", "data path", "read", "ours", "write", "ours",
        "both: read", "ours", "both: write", "ours", "theory"), rows)


def msc_table(results):
    """Every column of the MSC8156 and MSC8157 notes that is measured, ours beside it."""
    good  = [r for r in results if r.point.sweep == "sizes" and not r.failure]
    links = sorted({r.point.link for r in good})
    return "".join(_msc_column(column, link, good) for column in msc_columns()
        for link in links if link[:2] == (column.gen, column.lanes) and not column.calculated)


def _msc_column(column, link, results):
    chained = goals.longest_chains(results, column.mps)
    ours    = {(r.point.bytes, r.point.batch): r for r in results if r.point.design == OURS
        and (r.point.link, r.point.mps) == (link, column.mps)}
    rows = []
    for size, printed in sorted(column.rates.items()):
        found = [*(ours.get((size, batch)) for batch in (1, 4, 8)), chained.get((link, size))]
        rates = [result and rate(result, column.direction) for result in found]
        rows.append(((size, f"{printed/1e6:.0f}", *map(summary.megabytes, rates)), False))
    what  = {0: "", 1: ", one request", 4: ", 4 back to back"}[column.batch]
    title = f"{column.source.upper()} {column.name}: Gen{column.gen} x{column.lanes}, MPS " \
        f"{column.mps}, {column.direction}{what}; ours at {link[2]} bit"
    return f"<details><summary>{title}</summary>" + table(
        ("bytes", "published", "ours: one", "4", "8", "chained"), rows) + "</details>"


def costs(results):
    rows = [((design, f"Gen{gen} x{lanes} {width} bit", direction, f"{1e9*cost.t0:.1f}",
        summary.megabytes(cost.rinf), f"{cost.half_peak:.0f}"), False)
        for design in (OURS, STOCK)
        for ((gen, lanes, width), direction), cost in
            goals.fixed_costs(results, design).items()]
    return table(("design", "link", "", "t0, ns", "Rinf, MB/s", "half-peak size, B"), rows) \
        if rows else ""


def cells_table(cells):
    return table(("goal", "cell", "measured", "must", "", "most cycles without data"), [
        ((cell.goal, cell.what, f"{cell.value:.1f}", f"{cell.must:.1f}", cell.unit,
            "" if cell.reached else cell.why), not cell.reached) for cell in cells])


def failures(results):
    return table(("design", "point", "why"), [((r.point.design, r.point, r.failure), True)
        for r in results if r.failure])

# Pictures -----------------------------------------------------------------------------------------


def picture(figure, path):
    """An img element with the figure in it; the file is written too."""
    data = io.BytesIO()
    figure.savefig(data, format="png", bbox_inches="tight")
    pyplot.close(figure)
    path.write_bytes(data.getvalue())
    return f'<img src="data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}">'


def html(results, folder):
    """The page; its pictures are written beside it into ``folder``."""
    cells = goals.cells(results)
    below = [cell for cell in cells if not cell.reached]
    good  = [result for result in results if not result.failure]
    parts = ["<h1>How close to the link</h1>", HOW,
        f"<p>{len(cells)} figures have a goal; {len(below)} are below it. Counters and model "
        f"clock: {escape.escape(goals.clock_check(results))}.</p>"]
    if len(good) < len(results):
        parts += ["<h2>Failed</h2>", failures(results)]
    if below:
        parts += ["<h2>Below their goal, and what waited</h2>", cells_table(below)]
    for title, plot in PLOTS.items():
        figure = plot(results)
        path   = folder / f"{plot.__name__}.png"
        if figure:
            parts += [f"<h2>{title}</h2>", picture(figure, path)]
        else:
            path.unlink(missing_ok=True)
    for title, text in (
        ("100 KB x 20 (MB/s)", throughput(results)),
        ("Fixed cost of a chained transfer: R(n) = n/(t0 + n/Rinf)", costs(good)),
        ("AN 456 tables 8-11, AN 855 table 6 (MB/s; ours alone)", note_table(results)),
        ("MSC8156, MSC8157 (MB/s each way)", msc_table(results)),
        ("All goals", cells_table(cells) if cells else ""),
    ):
        if text:
            parts += [f"<h2>{title}</h2>", text]
    return ("<!DOCTYPE html><html lang=en><meta charset=utf-8><title>Benchmark</title>"
        f"<style>{STYLE}</style>{''.join(parts)}</html>\n")
