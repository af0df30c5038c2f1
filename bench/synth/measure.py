#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Measures designs, two in parallel, and makes the records of ``synth.json``.

Keys of a record: ``design``, ``part`` ("layer+reader+writer"), ``family`` ("ecp5" or "xc7"), ``width``
(bits), ``tags`` (ours), ``luts`` (all), ``luts_as_logic``, ``luts_as_carry``, ``luts_as_memory``,
``ffs``, ``brams`` of ``bram_unit``, ``dsps``, ``tools`` (versions). Where the clock was measured:
``fmax_hz`` (median of the seeds), ``fmax_best_hz``, ``speed_grade``, ``seeds``, ``critical_path``
(first and last register of the median's longest path, and its delay in ns). An absent key was not measured.
"""

import os

from functools import partial

from litepcie_bench import boards
from litepcie_bench.synth import designs, harness, tools
from litepcie_bench.synth.count import BRAM_UNIT, area
from litepcie_bench.synth.paths import register

PART        = "layer+reader+writer"
SPEED_GRADE = 8  # The fastest ECP5.
SEEDS       = (1, 2, 3)

# Jobs ---------------------------------------------------------------------------------------------


def _run(jobs, step):
    """Calls the functions in ``jobs`` and returns their results by key; calls ``step(key)`` after each."""
    def work(key):
        return key, jobs[key]()

    found = boards.side_by_side(work, list(jobs), min(2, os.cpu_count()), lambda done: step(done[0]))
    return {key: result for key, (_, result) in found.items()}


def areas(chosen, step):
    """Returns the ``Area`` of each (design, family)."""
    sources = {design: design.sources() for design, _ in chosen}  # Outside the threads, because LiteX has global state.
    found   = _run({(design, family): partial(tools.synthesised_cells, sources[design], family, designs.TOP)
        for design, family in chosen}, step)
    return {key: area(cells, key[1]) for key, cells in found.items()}


def clocks(chosen, step):
    """Returns the results of ``place_and_route`` for each design, sorted by clock, slowest first."""
    netlists = _run({(design, "netlist"): partial(tools.synthesise, harness.sources(design), "ecp5",
        harness.TOP) for design in chosen}, step)
    routed   = _run({(design, f"seed {seed}"): partial(tools.place_and_route, netlist["folder"],
        SPEED_GRADE, seed) for (design, _), netlist in netlists.items() for seed in SEEDS}, step)
    return {design: sorted((done for (other, _), done in routed.items() if other == design),
        key=lambda done: done["hz"]) for design in chosen}

# Records ------------------------------------------------------------------------------------------


def record(design, family, resources, runs=None):
    """Returns one record; ``runs`` are the results from ``clocks``."""
    line = {"design": design.name, "part": PART, "family": family, "width": design.width}
    if design.tags:
        line["tags"] = design.tags
    line.update(resources.record(), luts_as_logic=resources.luts_as_logic,
        bram_unit=BRAM_UNIT[family], tools=tools.versions())
    if runs:
        median = runs[len(runs)//2]
        stops  = median["path"]
        ends   = [register(stops[n][1]).removeprefix("core.") for n in (0, -1)]
        line.update(fmax_hz=median["hz"], fmax_best_hz=runs[-1]["hz"], speed_grade=SPEED_GRADE,
            seeds=list(SEEDS), critical_path=[*ends, stops[-1][0]])
    return line


def measure(chosen, clocked, progress):
    """Returns a record for each (design, family) in ``chosen``, with the ECP5 clock of designs in ``clocked``.

    ``progress`` has ``step(text)``.
    """
    step  = lambda key: progress.step(f"{key[0]}, {key[1]}")
    found = areas(chosen, step)
    runs  = clocks(clocked, step)
    return [record(design, family, found[design, family], runs.get(design) if family == "ecp5" else None)
        for design, family in chosen]


def steps(chosen, clocked):
    """Returns the number of steps of ``measure``."""
    return len(chosen) + len(clocked)*(1 + len(SEEDS))
