#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Goals, cell by cell. A cell below its goal says what the engine waited for."""

import json

from dataclasses import dataclass, replace

from litepcie_bench import figures
from litepcie_bench.bounds import bound, doorbell_bound, fit, rate, start_up
from litepcie_bench.points import DEFAULT_TAGS, OURS, STOCK, link_name
from litepcie_bench.published import MSC_MPS, application_notes, msc_calculated
from litepcie_bench.waits import blame, blame_small, excess

# Shares of the bound to reach, %: one direction at a time, each of both at once, and with a slow host.
ONE, BOTH, HOST = 99, 98, 98
HALF_PEAK       = 64     # Bytes.
SMALL           = 95     # % of the calculated column of the MSC notes.
DDR             = 95     # % of the rate of block RAM.
WRITE_COMBINED  = 180    # MB/s.


def figure(value):
    """Returns a figure as text: one decimal from 10 on, two below."""
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


@dataclass(frozen=True)
class Cell:
    """One figure and its goal: at least ``must`` if ``least``, else at most ``must``."""
    goal:   str
    what:   str
    value:  float
    must:   float
    unit:   str
    why:    str = ""
    least:  bool = True
    asked:  bool = True   # False: shown for comparison, not a goal of the project.

    @property
    def reached(self):
        return self.value >= self.must if self.least else self.value <= self.must

    @property
    def measured(self):
        """The figure as text, with a further decimal if it would look as if it reached the goal."""
        text = figure(self.value)
        return text if self.reached or text != self.bar else f"{self.value:.2f}"

    @property
    def bar(self):
        return figure(self.must)

    @property
    def margin(self):
        """1 if the goal is just reached, less if it is missed."""
        if not self.value or not self.must:
            return float(self.reached)
        return self.value/self.must if self.least else self.must/self.value

# 100 KB x 20 --------------------------------------------------------------------------------------


def _share(result, direction, of):
    return 100*rate(result, direction)/of(result, direction)


def _throughput(results):
    """Both readings of "100 KB x 20": 20 transfers per doorbell, and one per doorbell."""
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
                found.append(Cell(f"{name}, 20 per doorbell", what, of, must, "% of bound",
                    blame(result, direction)))
                continue
            best = 100*doorbell_bound(result, direction)/bound(result, direction)
            found.append(Cell(f"{name}, one per doorbell, start-up counted", what, of, must,
                "% of bound", f"round trips of {1e6*start_up(point, direction):.0f} us "
                f"before the first byte leave at most {best:.1f} %; {blame(result, direction)}"))
            found.append(Cell(f"{name}, one per doorbell, net of start-up", what,
                _share(result, direction, doorbell_bound), must, "% of bound, net",
                excess(result, direction)))
    return found

def _alone(results):
    """One transfer per doorbell with its descriptor in the card's registers, compared with stock."""
    found, stock = [], {r.point.link: r for r in results if r.point.design == STOCK and not r.point.fill}
    for result in results:
        point, other = result.point, stock.get(result.point.link)
        if point.direct and other:
            found += [Cell("one transfer alone with DIRECT, beside stock", f"{point.where}, {direction}",
                100*rate(result, direction)/rate(other, direction), 100, "% of stock", blame(result, direction))
                for direction in ("read", "write")]
    return found

# The host -----------------------------------------------------------------------------------------


def _host(results):
    """64-byte completions; latency with and without jitter."""
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


def _peer_cells(results):
    """Every printed figure of AN 456 and AN 855 as a share of the theory of its row."""
    found = []
    for row in application_notes():
        for cell, printed in row.rates.items():
            direction = cell.removeprefix("both_")
            choice    = figures.judged_note(row, cell, results)
            if choice is None or row.misprint(cell):
                continue
            result, minimum = choice
            best  = 100*doorbell_bound(result, direction)/row.theory
            must  = 100*printed/row.theory
            above = f"the printed figure exceeds the bound of this model, {best:.1f} %; "*(must > best)
            chain = figures.measured_for(row, cell, results, chained=True).get(result.point.update_fc)
            if chain:
                above += f"{100*rate(chain, direction)/row.theory:.1f} % with 20 transfers per doorbell; "
            found.append(Cell("every cell of AN 456, AN 855", f"{row.name}, Gen{row.gen} "
                f"x{row.lanes}: {cell.replace('_', ': ')}{' (UpdateFC minimum)'*minimum}",
                100*rate(result, direction)/row.theory, must, "% of theory",
                above + blame(result, direction)))
    return found

# Small transfers ----------------------------------------------------------------------------------


def longest_chains(results, mps=MSC_MPS, design=OURS, fill=False):
    """Returns the results of the sizes sweep with the most descriptors per doorbell, by link and size."""
    chains = {}
    for result in results:
        point = result.point
        if (point.sweep, point.mps, point.design, point.fill, result.failure) == ("sizes", mps, design, fill, ""):
            key = (point.link, point.bytes)
            if key not in chains or chains[key].point.batch < point.batch:
                chains[key] = result
    return chains


def _size_cells(results):
    """Chains of small transfers against the bound with descriptors and start-up, and against the notes' formula."""
    found = []
    for (link, size), result in sorted(longest_chains(results).items()):
        for direction in ("read", "write"):
            what, why = f"{link_name(*link)}, {size} B {direction}", blame_small(result, direction)
            found.append(Cell("small transfers, ideal PHY", what, figures.of_chain(result, direction),
                figures.least_of(size), "% of bound with descriptors", why))
            found.append(Cell("small transfers, formula of the MSC notes", what,
                100*rate(result, direction)/msc_calculated(size, *link[:2], direction), SMALL, "% of calculated", why))
    return found


def fixed_costs(results, design=OURS):
    """Returns the ``FixedCost`` of chained transfers, by link and direction."""
    by_link = {}
    for (link, size), result in longest_chains(results, design=design).items():
        for direction in ("read", "write"):
            by_link.setdefault((link, direction), {})[size] = rate(result, direction)
    return {key: fit(rates) for key, rates in sorted(by_link.items()) if len(rates) > 1}


def equal_costs(results):
    """Returns (design, direction, ``FixedCost``) of chains that are as long for ours as for stock."""
    by_design = {}
    for result in results:
        if result.point.sweep == "equal_chains" and not result.failure:
            name = "ours" if result.point.design == OURS else f"stock, {result.point.pending} pending requests"
            for direction in ("read", "write"):
                by_design.setdefault((name, direction), {})[result.point.bytes] = rate(result, direction)
    return [(*key, fit(rates)) for key, rates in by_design.items() if len(rates) > 1]


def _half_peak(results):
    return [Cell("half-peak size", f"{link_name(*link)}, {direction}", cost.half_peak, HALF_PEAK,
        "B", f"t0 {1e9*cost.t0:.0f} ns per descriptor", least=False)
        for (link, direction), cost in fixed_costs(results).items() if link[:2] == (2, 4)]

# DDR ----------------------------------------------------------------------------------------------


def _ddr(results):
    """DDR as a share of block RAM. Where the link is faster than the DDR, the figure has no goal."""
    found, bram = [], {replace(r.point, memory="ddr"): r for r in results if r.point.memory == "bram"}
    for result in results:
        point, other = result.point, bram.get(result.point)
        if other is None:
            continue
        how   = f"{point.batch} per doorbell" if point.batch > 1 else "one per doorbell"
        both  = "both: "*(point.sequence == "read-and-write")
        asked = (point.gen, point.lanes) == (2, 4)
        goal  = "DDR3-1600 of 64 bit" + f", Gen{point.gen} x{point.lanes}"*(not asked)
        for direction in ("read", "write"):
            found.append(Cell(goal, f"{point.where}, {how}, {both}{direction}",
                100*rate(result, direction)/rate(other, direction), DDR, "% of block RAM",
                blame(result, direction), asked=asked))
    return found

# Area and clock -----------------------------------------------------------------------------------

# Of synth.json, which ``make synth`` writes: a list of records with design, part, family, width (bits), tags, luts,
# luts_as_memory, ffs, brams, bram_unit and fmax_hz. An absent key is not known.
FAMILIES  = {"ecp5": "ECP5", "xc7": "7-series"}
LUT_RATIO = 1.5      # At most, relative to stock LitePCIe.
CLOCK_MHZ = 125      # ECP5, 64 bit, at least.


def load_area(path):
    """Returns the records of synth.json; empty if there is no such file. Raises ``ValueError`` if it is malformed."""
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(records, list) or any("design" not in record for record in records):
        raise ValueError(f"{path}: not a list of records")
    return records


def area_pairs(records):
    """Returns pairs (ours, stock or None) of the same part and width."""
    key   = lambda record: (record.get("family"), record.get("part"), record.get("width"))
    stock = {key(record): record for record in records if record["design"] == STOCK}
    return [(record, stock.get(key(record))) for record in records if record["design"] == OURS]


def area_name(record):
    """Returns family, data width and tags in words."""
    tags = f", {record['tags']} tags" if record.get("tags") else ""
    return f"{FAMILIES.get(record.get('family'), record.get('family'))}, {record.get('width')} bit{tags}"


def judged_area(records):
    """Yields (goal, what, value, must, unit, why, at least) for each figure with a goal."""
    for ours, stock in area_pairs(records):
        what = area_name(ours)
        if stock and stock.get("luts") and "luts" in ours:
            yield "area", f"{what}, LUTs", ours["luts"]/stock["luts"], LUT_RATIO, "x stock", \
                f"{ours['luts']} LUTs, stock {stock['luts']}", False
        if stock and "brams" in ours and "brams" in stock:
            unit = ours.get("bram_unit", "BRAMs")
            yield "area", f"{what}, {unit}", ours["brams"], stock["brams"], unit, \
                f"{ours['brams']} {unit}, stock {stock['brams']}", False
        if ours.get("fmax_hz") and ours.get("width") == 64:
            yield "clock", what, ours["fmax_hz"]/1e6, CLOCK_MHZ, "MHz", "limited by the longest path", True

# All ----------------------------------------------------------------------------------------------


def _pio(results):
    return [Cell("PIO", "Gen1 x1, write-combined stores of 64 B", rate(result, "write")/1e6,
        WRITE_COMBINED, "MB/s") for result in results
        if result.point.gen == 1 and result.point.store == 64]


def _boards(results):
    """Figures with the parameters of real boards."""
    found = []
    for goal, what, value, must, unit, result, direction, asked in figures.judged_boards(results):
        why = blame_small if result.point.sweep == "board_sizes" else blame
        found.append(Cell(goal, what, value, must, unit, why(result, direction), asked=asked))
    return found


def _area(records):
    return [Cell(*one) for one in judged_area(records)]


def cells(results, synth=()):
    """Returns the cells of all goals that a run measured; ``synth``: records of ``make synth``."""
    good  = [result for result in results if not result.failure]
    sweep = lambda *names: [r for r in good if r.point.sweep in names]
    found = [*_boards(good), *_throughput(sweep("notes", "gen3", "shapes")),
        *_alone(sweep("alone")), *_host(sweep("completions", "latency")),
        *_peer_cells(sweep("notes")), *_size_cells(good), *_half_peak(good), *_pio(sweep("pio")),
        *_ddr(sweep("ddr")), *_area(synth)]
    order = list(dict.fromkeys(GOALS + tuple(cell.goal for cell in found)))
    return sorted(found, key=lambda cell: (not cell.asked, order.index(cell.goal)))


# Goals in the order of the report; other goals follow in the order in which they appear.
GOALS = tuple(f"{name}, {how}" for how in ("20 per doorbell",
    "one per doorbell, net of start-up", "one per doorbell, start-up counted")
    for name in ("one direction", "both at once"))
