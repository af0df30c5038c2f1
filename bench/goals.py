#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What must be reached, cell by cell, and what a cell that is not reached waited for."""

from dataclasses import dataclass

from litepcie_bench.fit import fit
from litepcie_bench.points import OURS
from litepcie_bench.published import MSC_MPS, application_notes, msc_calculated
from litepcie_bench.records import rate

WAITS = {
    "wait_descriptor": "descriptors from the host, or its own work between them",
    "wait_tag":        "a tag or room in the completion buffer",
    "wait_link":       "the link",
    "wait_data":       "data: completions of the host, or the endpoint memory",
}


@dataclass(frozen=True)
class Cell:
    """One figure, and what it must reach: at least ``must``, or at most if not ``least``."""
    goal:   str
    what:   str
    value:  float
    must:   float
    unit:   str
    why:    str = ""
    least:  bool = True

    @property
    def reached(self):
        return self.value >= self.must if self.least else self.value <= self.must

# Waits --------------------------------------------------------------------------------------------


def spent(result, direction):
    """Share of the active cycles by what they were spent on, "moved" and the wait counters."""
    runs   = [run[direction] for run in result.data["runs"]]
    active = sum(run["active_cycles"] for run in runs)
    shares = {name: sum(run[name] for run in runs)/active for name in WAITS}
    return {"moved": 1 - sum(shares.values()), **shares}


def blame(result, direction):
    """What took the most cycles without moving data, in words."""
    shares = spent(result, direction)
    name   = max(WAITS, key=shares.get)
    return f"{name} {100*shares[name]:.1f} % of the cycles: {WAITS[name]}"

def blame_small(result, direction):
    """The same for a chain of short descriptors, and how many of them a round trip saw."""
    point, data = result.point, result.data
    in_flight   = rate(result, direction)/point.bytes*point.latency_ns*1e-9
    tags        = f", the reader has {data['tags']} tags" if direction == "read" else ""
    return f"{blame(result, direction)}; {in_flight:.0f} descriptors in a round trip of " \
        f"{point.latency_ns} ns{tags}"


def clock_check(results):
    """In words, how far the gateware's counters are from the model's clock."""
    off, runs = 0, 0
    for result in results:
        if result.failure or result.point.design != OURS or result.point.sequence == "pio":
            continue
        for run in result.data["runs"]:
            for one in run.values():
                off   = max(off, abs(one["active_cycles"] - one["model_cycles"]))
                runs += 1
    return f"at most {off} cycles apart in {runs} transfers"

# Goals --------------------------------------------------------------------------------------------


def _bound_cells(goal, results, must_one, must_both=None):
    """Share of the bound of chained transfers."""
    cells = []
    for result in results:
        point = result.point
        both  = point.sequence == "read-and-write"
        must  = must_both if both else must_one
        if point.design != OURS or point.batch == 1 or must is None:
            continue
        for direction in ("read", "write"):
            share = 100*result.data[direction]["share_of_bound"]
            where = f"Gen{point.gen} x{point.lanes} {point.width} bit, " \
                f"{'both: ' if both else ''}{direction}"
            if point.sweep == "completions":
                where += f", {point.completion} B completions"
            if point.sweep == "latency":
                where += f", {point.latency_ns} ns"
            cells.append(Cell(goal, where, share, must, "% of bound",
                blame(result, direction)))
    return cells


def _peer_cells(results):
    """Every printed figure of AN 456 and AN 855, as a share of its row's theory."""
    ours  = {(r.point.link, r.point.sequence): r for r in results
        if r.point.sweep == "notes" and r.point.design == OURS and r.point.batch == 1}
    cells = []
    for row in application_notes():
        for cell, printed in row.rates.items():
            both      = cell.startswith("both_")
            direction = cell.removeprefix("both_")
            key       = ((row.gen, row.lanes, row.width),
                "read-and-write" if both else "write-then-read")
            if key not in ours or row.misprint(cell):
                continue
            result = ours[key]
            bound  = 100*result.data[direction]["bound_bytes_per_second"]/row.theory
            must   = 100*printed/row.theory
            why    = blame(result, direction)
            if must > bound:
                why = f"printed above this link model's bound, {bound:.1f} %; {why}"
            cells.append(Cell("every cell of AN 456, AN 855", f"{row.name}, Gen{row.gen} "
                f"x{row.lanes}: {cell.replace('_', ': ')}",
                100*rate(result, direction)/row.theory, must, "% of theory", why))
    return cells


def longest_chains(results, mps=MSC_MPS, design=OURS, fill=False):
    """Results of the sizes sweep with the most descriptors behind a doorbell, by link and size."""
    chains = {}
    for result in results:
        point = result.point
        if (point.sweep, point.mps, point.design, point.fill) == ("sizes", mps, design, fill):
            key = (point.link, point.bytes)
            if key not in chains or chains[key].point.batch < point.batch:
                chains[key] = result
    return chains


def _size_cells(results):
    cells = []
    for (link, size), result in sorted(longest_chains(results).items()):
        gen, lanes, width = link
        for direction in ("read", "write"):
            calculated = msc_calculated(size, gen, lanes, direction)
            cells.append(Cell("small transfers", f"Gen{gen} x{lanes} {width} bit, {size} B "
                f"{direction}", 100*rate(result, direction)/calculated, 95,
                "% of calculated", blame_small(result, direction)))
    return cells


def fixed_costs(results, design=OURS):
    """``FixedCost`` of chained transfers, by link and direction."""
    by_link = {}
    for (link, size), result in longest_chains(results, design=design).items():
        for direction in ("read", "write"):
            by_link.setdefault((link, direction), {})[size] = rate(result, direction)
    return {key: fit(rates) for key, rates in sorted(by_link.items()) if len(rates) > 1}


def cells(results):
    """All goals a run measured, reached or not."""
    good  = [result for result in results if not result.failure]
    sweep = lambda *names: [r for r in good if r.point.sweep in names]
    small = [r for r in sweep("completions") if r.point.completion == 64]
    found = [
        *_bound_cells("one direction, both at once", sweep("notes", "gen3"), 99, 98),
        *_bound_cells("64-byte completions", small, 98),
        *_bound_cells("latency up to 4 us", sweep("latency"), 98),
        *_peer_cells(good),
        *_size_cells(good),
    ]
    for ((gen, lanes, width), direction), cost in fixed_costs(good).items():
        if (gen, lanes) == (2, 4):
            found.append(Cell("half-peak size", f"Gen{gen} x{lanes} {width} bit, {direction}",
                cost.half_peak, 64, "B", f"t0 {1e9*cost.t0:.0f} ns a descriptor", least=False))
    for result in sweep("pio"):
        if result.point.gen == 1 and result.point.store == 64:
            found.append(Cell("PIO", "Gen1 x1, write-combined stores of 64 B",
                rate(result, "write")/1e6, 180, "MB/s"))
    return found
