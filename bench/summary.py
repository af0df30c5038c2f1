#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The tables printed at the end of a run."""

from rich.console import Console
from rich.table import Table

from litepcie_bench import figures, goals, waits
from litepcie_bench.bounds import rate
from litepcie_bench.figures import note_rows
from litepcie_bench.points import CHOSEN, OURS, STOCK, link_name
from litepcie_bench.sweeps import DESCRIPTORS

PLAIN_WIDTH = 160
SHOWN       = 12  # Goals printed with their worst cell if they are missed.


def megabytes(value):
    """Returns bytes per second as text in MB/s (10^6), or a dash if not measured."""
    return "-" if value is None else f"{value/1e6:.0f}"


def percent(value, of):
    """Returns a share as text in percent, or a dash if a value is missing."""
    return f"{100*value/of:.1f} %" if value and of else "-"


def throughput(results):
    table = Table(title="MB/s, 100 KB x 20, MPS 256, MRRS 512",
        caption="ideal PHY and host; chained: 20 per doorbell; alone: one per doorbell, from doorbell to last byte; "
            "net: of the bound with the round trips before the first byte")
    for name in ("link", ""):
        table.add_column(name, no_wrap=True)
    for name in ("ours, chained", "of bound", "ours, alone", "of bound", "net", "stock, chained",
        "stock, alone", "best published", "bound", "theory"):
        table.add_column(name, justify="right")
    for row in note_rows(results):
        chained, alone = row.rate(OURS, True), row.rate(OURS, False)
        table.add_row(row.where, row.what, megabytes(chained), percent(chained, row.bound()),
            megabytes(alone), percent(alone, row.bound(OURS, False)), percent(alone, row.net_bound(OURS)),
            megabytes(row.rate(STOCK, True)), megabytes(row.rate(STOCK, False)),
            megabytes(row.published), megabytes(row.bound()), megabytes(row.theory()))
    return table


def boards(results):
    table = Table(title="Boards: 100 KB x 20, MPS 256, MRRS 512, 1 us, each with its own parameters, % of bound",
        caption="both: of what the other direction, as measured, leaves; buffer allows: completion buffer over round "
            "trip, of the link's bound; alone: one per doorbell, descriptor fetched, or written into the registers")
    table.add_column("board")
    table.add_column("link", no_wrap=True)
    for name in ("read, MB/s", "read", "buffer allows", "64-byte completions", "write", "both: read", "both: write",
        "read alone", "direct", f"reads reach {figures.TOLERATED} % up to"):
        table.add_column(name, justify="right")
    for row in figures.board_rows(results):
        found  = row.hardware
        shares = [figures.share(result, direction) for result, direction in ((row.one, "read"), (row.split, "read"),
            (row.one, "write"), (row.both, "read"), (row.both, "write"), (row.alone, "read"), (row.direct, "read"))]
        shares.insert(1, figures.buffered(row.one))
        table.add_row(found.title, link_name(found.gen, found.lanes, found.width),
            megabytes(row.one and rate(row.one, "read")),
            *("-" if value is None else f"{value:.1f}" for value in shares),
            f"{row.tolerated/1000:g} us" if len(row.latencies) > 1 and row.tolerated else "-")
    return table


def on_hosts(rows):
    """Boards on real hosts: median and range of the shares of the bound, and each host that is chosen."""
    table = Table(title="Boards on hosts: 100 KB x 20, MPS 256, MRRS 512, % of bound",
        caption="measured: median (range) over the hosts whose properties were measured; chosen: " + ", ".join(CHOSEN)
            + "; embedded has MPS 128 and serves one read at a time; the report has each host")
    table.add_column("board")
    for name in ("link", "", "measured"):
        table.add_column(name, no_wrap=True)
    table.add_column("lowest on", no_wrap=True)
    for name in CHOSEN:
        table.add_column(name, justify="right")
    for row in rows:
        middle, least, most = row.headline
        table.add_row(row.hardware.title, link_name(row.hardware.gen, row.hardware.lanes, row.hardware.width),
            row.direction, f"{middle:.1f} ({least:.1f} to {most:.1f})", row.slowest, *figures.host_cells(row, CHOSEN))
    return table


def stock_at_its_best(rows):
    table = Table(title="Stock at its best: 100 KB x 20, MPS 256, MRRS 512, 1 us", caption=figures.STOCK_CAPTION)
    for name in ("board", "link", ""):
        table.add_column(name, no_wrap=name != "board")
    for name in figures.STOCK_HEADS:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(row.hardware.title, link_name(row.hardware.gen, row.hardware.lanes, row.hardware.width),
            row.direction, *figures.stock_cells(row))
    return table


def small_transfers(results):
    """Chains of small transfers of the boards: % of the bound with descriptors and start-up, and of the plain one."""
    sizes = sorted({r.point.bytes for r in results})
    table = Table(title=f"Boards: {DESCRIPTORS} descriptors after one doorbell, 1 us, % of the bound with descriptors "
        "and start-up (% of the bound without)")
    table.add_column("board")
    table.add_column("", no_wrap=True)
    for size in sizes:
        table.add_column(f"{size} B", justify="right")
    for hardware in dict.fromkeys(r.point.hardware for r in results):
        for direction in ("read", "write"):
            mine = {r.point.bytes: f"{figures.of_chain(r, direction):.1f} ({figures.share(r, direction):.0f})"
                for r in results if r.point.hardware == hardware}
            table.add_row(hardware.title, direction, *(mine.get(size, "-") for size in sizes))
    return table


def goal_table(cells):
    table = Table(title="Goals", caption="lowest: the cell that is furthest from its goal; below the line: "
        "further figures without a goal")
    for name in ("goal", "cells", "reached", "lowest", "", "must"):
        table.add_column(name)
    for asked in (True, False):
        for goal in dict.fromkeys(cell.goal for cell in cells if cell.asked == asked):
            mine  = [cell for cell in cells if (cell.goal, cell.asked) == (goal, asked)]
            worst = min(mine, key=lambda cell: cell.margin)
            table.add_row(goal, str(len(mine)), str(sum(cell.reached for cell in mine)),
                worst.what, f"{worst.measured} {worst.unit}",
                f"{'>=' if worst.least else '<='} {worst.bar}")
        table.add_section()
    return table


def console():
    """Returns the console on standard output, wide enough for the tables if it is not a terminal."""
    found = Console(highlight=False)
    if not found.is_terminal:
        found.width = PLAIN_WIDTH
    return found


def show(console, results, cells):
    """Prints boards on real hosts first, then boards on the ideal host, throughput, fixed cost, goals and failures."""
    if figures.host_rows(results):
        console.print(on_hosts(figures.host_rows(results)))
    if figures.board_rows(results):
        console.print(boards(results))
    if figures.stock_rows(results):
        console.print(stock_at_its_best(figures.stock_rows(results)))
    small = [result for result in results if result.point.sweep == "board_sizes" and not result.failure]
    if small:
        console.print(small_transfers(small))
    if note_rows(results):
        console.print(throughput(results))
    good = [result for result in results if not result.failure]
    for design in (OURS, STOCK):
        for (link, direction), cost in goals.fixed_costs(good, design).items():
            console.print(f"{design} {link_name(*link)} {direction}, chained: "
                f"t0 {1e9*cost.t0:.1f} ns, Rinf {megabytes(cost.rinf)} MB/s, "
                f"half-peak size {cost.half_peak:.0f} B")
    for place, counts in figures.published_counts(good).items():
        console.print(f"AN 456 and AN 855, one transfer per doorbell, printed figures reached, {place}: "
            + ", ".join(f"{reached} of {count} at {ns/1000:g} us" for ns, (reached, count) in counts.items()))
    for name, direction, cost in goals.equal_costs(good):
        console.print(f"equal chains, {name}, {direction}: t0 {1e9*cost.t0:.1f} ns, Rinf {megabytes(cost.rinf)} MB/s, "
            f"half-peak size {cost.half_peak:.0f} B")
    for result in good:
        if result.point.sequence == "pio":
            console.print(f"PIO Gen{result.point.gen} x{result.point.lanes}: stores of "
                f"{result.point.store} B {rate(result, 'write')/1e6:.1f} MB/s, loads of 4 B "
                f"{rate(result, 'read')/1e6:.1f} MB/s")
    checked = waits.clock_check(results)
    if checked:
        console.print(f"gateware counters and model clock: {checked}")
    if cells:
        console.print(goal_table(cells))
    # The cell furthest from its goal first, one per goal.
    below = sorted((cell for cell in cells if not cell.reached), key=lambda cell: cell.margin)
    for cell in list({cell.goal: cell for cell in reversed(below)}.values())[:SHOWN]:
        console.print(f"below its goal: {cell.what}: {cell.measured} {cell.unit}, not "
            f"{cell.bar}: {cell.why}", soft_wrap=True)
    if below:
        console.print(f"{len(below)} figures are below their goal; the report lists all of them")
    for result in results:
        if result.failure:
            console.print(f"FAILED: {result.point.design} {result.point}: {result.failure}",
                markup=False, soft_wrap=True)
