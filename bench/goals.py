#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What must be reached, cell by cell, and what a cell that is not reached waited for."""

from dataclasses import dataclass, replace

from litepcie_bench import area
from litepcie_bench.fit import fit
from litepcie_bench.points import DEFAULT_TAGS, OURS, link_name
from litepcie_bench.published import MSC_MPS, application_notes, msc_calculated
from litepcie_bench.records import rate
from litepcie_bench.waits import alone_bound, blame, blame_small, bound, excess, start_up

# Shares of the bound to reach: one direction at a time, and each of both at once.
ONE, BOTH, HOST = 99, 98, 98
HALF_PEAK       = 64     # Bytes.
SMALL           = 95     # % of the calculated column of the notes.
DDR             = 95     # % of what block RAM gives.
WRITE_COMBINED  = 180    # MB/s.


def figure(value):
    """As text, with three digits or one behind the point."""
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


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
    asked:  bool = True   # Else it is beyond what the project has to reach, by the same measure.

    @property
    def reached(self):
        return self.value >= self.must if self.least else self.value <= self.must

    @property
    def measured(self):
        return figure(self.value)

    @property
    def bar(self):
        return figure(self.must)

    @property
    def margin(self):
        """1 is just reached; less is below."""
        if not self.value or not self.must:
            return float(self.reached)
        return self.value/self.must if self.least else self.must/self.value

# 100 KB x 20 --------------------------------------------------------------------------------------


def _share(result, direction, of):
    return 100*rate(result, direction)/of(result, direction)


def _throughput(results):
    """Both readings of "100 KB x 20": all behind one doorbell, and one a doorbell."""
    found = []
    for result in results:
        point  = result.point
        both   = point.sequence == "read-and-write"
        name   = "both at once" if both else "one direction"
        must   = BOTH if both else ONE
        if point.design != OURS or point.update_fc != "guideline":
            continue
        for direction in ("read", "write"):
            what = f"{point.where}, {direction}"
            of   = _share(result, direction, bound)
            if point.batch > 1:
                found.append(Cell(f"{name}, 20 behind one doorbell", what, of, must, "% of bound",
                    blame(result, direction)))
                continue
            best = 100*alone_bound(result, direction)/bound(result, direction)
            found.append(Cell(f"{name}, one a doorbell, start-up counted", what, of, must,
                "% of bound", f"start-up: {1e6*start_up(point, direction):.0f} us of round trips "
                f"leave {best:.1f} % at most; {blame(result, direction)}"))
            found.append(Cell(f"{name}, one a doorbell, net of start-up", what,
                _share(result, direction, alone_bound), must, "% of bound, net",
                excess(result, direction)))
    return found

# The host -----------------------------------------------------------------------------------------


def _host(results):
    """64-byte completions, and latency with jitter and without."""
    found = []
    for result in results:
        point = result.point
        if point.design != OURS:
            continue
        asked = (point.gen, point.lanes) == (2, 4) and not point.jitter_ns
        where = f", Gen{point.gen} x{point.lanes}"*(not asked)
        if point.sweep == "completions":
            if point.completion != 64:
                continue
            goal, what = "64-byte completions" + where, point.where
        else:
            jitter     = f" + 0..{point.jitter_ns} ns, reordered" if point.jitter_ns else ""
            jitter    += f", {point.tags} tags"*(point.tags != DEFAULT_TAGS)
            goal, what = "latency up to 4 us" + ", jitter, reordered"*bool(jitter) + where, \
                f"{point.where}, {point.latency_ns} ns{jitter}"
        both = "both: "*(point.sequence == "read-and-write")
        for direction in ("read", "write"):
            found.append(Cell(goal, f"{what}, {both}{direction}", _share(result, direction, bound),
                HOST, "% of bound", blame(result, direction), asked=asked))
    return found

# AN 456, AN 855 -----------------------------------------------------------------------------------


def measured_for(row, cell, results, chained=False):
    """Our results under a printed figure's link and sequence, by when credits come back."""
    sequence = "read-and-write" if cell.startswith("both_") else "write-then-read"
    return {r.point.update_fc: r for r in results if r.point.sweep == "notes"
        and (r.point.link, r.point.sequence) == ((row.gen, row.lanes, row.width), sequence)
        and r.point.design == OURS and (r.point.batch > 1) == chained and not r.failure}


def judged(row, cell, results):
    """(result, whether its credits come back at the least) a printed figure is held against, or None.

    The specification's guideline, unless the figure is above what an ideal card reaches under it.
    """
    mine      = measured_for(row, cell, results)
    guideline = mine.get("guideline")
    if guideline is None:
        return None
    above = row.rates[cell] > alone_bound(guideline, cell.removeprefix("both_"))
    if above and "minimum" in mine:
        return mine["minimum"], True
    return guideline, False


def _peer_cells(results):
    """Every printed figure of AN 456 and AN 855, as a share of its row's theory."""
    found = []
    for row in application_notes():
        for cell, printed in row.rates.items():
            direction = cell.removeprefix("both_")
            choice    = judged(row, cell, results)
            if choice is None or row.misprint(cell):
                continue
            result, minimum = choice
            best  = 100*alone_bound(result, direction)/row.theory
            must  = 100*printed/row.theory
            above = f"printed above the bound here, {best:.1f} %; "*(must > best)
            chain = measured_for(row, cell, results, chained=True).get(result.point.update_fc)
            if chain:
                above += f"{100*rate(chain, direction)/row.theory:.1f} % with 20 behind one doorbell; "
            found.append(Cell("every cell of AN 456, AN 855", f"{row.name}, Gen{row.gen} "
                f"x{row.lanes}: {cell.replace('_', ': ')}{' (UpdateFC minimum)'*minimum}",
                100*rate(result, direction)/row.theory, must, "% of theory",
                above + blame(result, direction)))
    return found

# Small transfers ----------------------------------------------------------------------------------


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
    found = []
    for (link, size), result in sorted(longest_chains(results).items()):
        for direction in ("read", "write"):
            calculated = msc_calculated(size, *link[:2], direction)
            found.append(Cell("small transfers", f"{link_name(*link)}, {size} B {direction}",
                100*rate(result, direction)/calculated, SMALL, "% of calculated",
                blame_small(result, direction)))
    return found


def fixed_costs(results, design=OURS):
    """``FixedCost`` of chained transfers, by link and direction."""
    by_link = {}
    for (link, size), result in longest_chains(results, design=design).items():
        for direction in ("read", "write"):
            by_link.setdefault((link, direction), {})[size] = rate(result, direction)
    return {key: fit(rates) for key, rates in sorted(by_link.items()) if len(rates) > 1}


def _half_peak(results):
    return [Cell("half-peak size", f"{link_name(*link)}, {direction}", cost.half_peak, HALF_PEAK,
        "B", f"t0 {1e9*cost.t0:.0f} ns a descriptor", least=False)
        for (link, direction), cost in fixed_costs(results).items() if link[:2] == (2, 4)]

# DDR ----------------------------------------------------------------------------------------------


def _ddr(results):
    """DDR as a share of block RAM, every point of its sweep; where the link is faster than the DDR, by the way."""
    found, bram = [], {replace(r.point, memory="ddr"): r for r in results if r.point.memory == "bram"}
    for result in results:
        point, other = result.point, bram.get(result.point)
        if other is None:
            continue
        how   = f"{point.batch} behind one doorbell" if point.batch > 1 else "one a doorbell"
        both  = "both: "*(point.sequence == "read-and-write")
        asked = (point.gen, point.lanes) == (2, 4)
        goal  = "DDR3-1600 of 64 bit" + f", Gen{point.gen} x{point.lanes}"*(not asked)
        for direction in ("read", "write"):
            found.append(Cell(goal, f"{point.where}, {how}, {both}{direction}",
                100*rate(result, direction)/rate(other, direction), DDR, "% of block RAM",
                blame(result, direction), asked=asked))
    return found

# All ----------------------------------------------------------------------------------------------


def _pio(results):
    return [Cell("PIO", "Gen1 x1, write-combined stores of 64 B", rate(result, "write")/1e6,
        WRITE_COMBINED, "MB/s") for result in results
        if result.point.gen == 1 and result.point.store == 64]


def _area(records):
    return [Cell(*figures) for figures in area.judged(records)]


def cells(results, synth=()):
    """All goals a run measured, reached or not; ``synth``: records of ``make synth``."""
    good  = [result for result in results if not result.failure]
    sweep = lambda *names: [r for r in good if r.point.sweep in names]
    found = [*_throughput(sweep("notes", "gen3", "shapes")), *_host(sweep("completions", "latency")),
        *_peer_cells(good), *_size_cells(good), *_half_peak(good), *_pio(sweep("pio")),
        *_ddr(sweep("ddr")), *_area(synth)]
    order = list(dict.fromkeys(GOALS + tuple(cell.goal for cell in found)))
    return sorted(found, key=lambda cell: (not cell.asked, order.index(cell.goal)))


# In the order of the report; those with more in their name come where they first appear.
GOALS = tuple(f"{name}, {how}" for how in ("20 behind one doorbell",
    "one a doorbell, net of start-up", "one a doorbell, start-up counted")
    for name in ("one direction", "both at once"))
