#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The table at the end of a run."""

from rich.console import Console
from rich.table import Table

from litepcie_bench import goals
from litepcie_bench.points import OURS, STOCK
from litepcie_bench.published import application_notes
from litepcie_bench.records import rate

PLAIN_WIDTH = 150
SHOWN       = 12  # Cells below their goal; the report has all.


def megabytes(value):
    """Bytes a second as MB/s (10^6), a dash if not measured."""
    return "-" if value is None else f"{value/1e6:.0f}"


def note_rows(results):
    """For each link of the notes and gen3 sweeps: (link, sequence, direction, figures by name)."""
    good = {(r.point.link, r.point.sequence, r.point.design, r.point.batch > 1): r
        for r in results if r.point.sweep in ("notes", "gen3") and not r.failure}
    best = {}
    for row in application_notes():
        for cell, value in row.rates.items():
            if not row.misprint(cell):
                key = (row.gen, row.lanes, row.width), cell
                best[key] = max(best.get(key, 0), value)
    rows = []
    for link in sorted({key[0] for key in good}):
        for sequence, prefix in (("write-then-read", ""), ("read-and-write", "both_")):
            for direction in ("read", "write"):
                at    = lambda design, chained, link=link, sequence=sequence: \
                    good.get((link, sequence, design, chained))
                found = {"published": best.get((link, prefix + direction))}
                for design in (OURS, STOCK):
                    for chained in (False, True):
                        result = at(design, chained)
                        found[design, chained] = result and rate(result, direction)
                any_result = at(OURS, True) or at(STOCK, True)
                if any_result:
                    found["bound"]  = any_result.data[direction]["bound_bytes_per_second"]
                    found["theory"] = any_result.data["theory_bytes_per_second"]
                rows.append((link, sequence, direction, found))
    return rows


def throughput(results):
    table = Table(title="MB/s, 100 KB x 20, MPS 256, MRRS 512",
        caption="alone: one transfer a doorbell, doorbell to last byte; chained: 20 behind one")
    for name in ("link", ""):
        table.add_column(name)
    for name in ("ours, alone", "ours, chained", "stock, alone", "stock, chained",
        "best published", "bound", "theory"):
        table.add_column(name, justify="right")
    for (gen, lanes, width), sequence, direction, found in note_rows(results):
        both = "both: " if sequence == "read-and-write" else ""
        table.add_row(f"Gen{gen} x{lanes} {width} bit", both + direction,
            *(megabytes(found.get(key)) for key in ((OURS, False), (OURS, True), (STOCK, False),
                (STOCK, True), "published", "bound", "theory")))
    return table


def goal_table(cells):
    table = Table(title="Goals", caption="lowest: the cell that is furthest from its goal")
    for name in ("goal", "cells", "reached", "lowest", "", "must"):
        table.add_column(name)
    for goal in dict.fromkeys(cell.goal for cell in cells):
        mine  = [cell for cell in cells if cell.goal == goal]
        worst = min(mine, key=lambda c: c.value/c.must if c.least else c.must/c.value)
        table.add_row(goal, str(len(mine)), str(sum(cell.reached for cell in mine)),
            worst.what, f"{worst.value:.1f} {worst.unit}",
            f"{'>=' if worst.least else '<='} {worst.must:.1f}")
    return table


def console():
    """Standard output; wide enough for the tables where nobody watches."""
    found = Console(highlight=False)
    if not found.is_terminal:
        found.width = PLAIN_WIDTH
    return found


def show(console, results):
    """Prints what was found: throughput, fixed cost, goals, failures."""
    if note_rows(results):
        console.print(throughput(results))
    good = [result for result in results if not result.failure]
    for design in (OURS, STOCK):
        for ((gen, lanes, width), direction), cost in goals.fixed_costs(good, design).items():
            console.print(f"{design} Gen{gen} x{lanes} {width} bit {direction}, chained: "
                f"t0 {1e9*cost.t0:.1f} ns, Rinf {megabytes(cost.rinf)} MB/s, "
                f"half-peak size {cost.half_peak:.0f} B")
    for result in good:
        if result.point.sequence == "pio":
            console.print(f"PIO Gen{result.point.gen} x{result.point.lanes}: stores of "
                f"{result.point.store} B {rate(result, 'write')/1e6:.1f} MB/s, loads of 4 B "
                f"{rate(result, 'read')/1e6:.1f} MB/s")
    console.print(f"gateware counters and model clock: {goals.clock_check(results)}")
    cells = goals.cells(results)
    if cells:
        console.print(goal_table(cells))
    below = [cell for cell in cells if not cell.reached]
    for cell in below[:SHOWN]:
        console.print(f"below its goal: {cell.what}: {cell.value:.1f} {cell.unit}, not "
            f"{cell.must:.1f}: {cell.why}")
    if len(below) > SHOWN:
        console.print(f"... and {len(below) - SHOWN} more, in the report")
    for result in results:
        if result.failure:
            console.print(f"FAILED: {result.point.design} {result.point}: {result.failure}",
                markup=False)
