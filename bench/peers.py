#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Our results that figures of AN 456 and AN 855 are compared with, and how many of these are reached."""

from litepcie_bench.bounds import doorbell_bound, rate
from litepcie_bench.points import OURS
from litepcie_bench.published import application_notes


def measured_for(row, cell, results, chained=False):
    """Returns our results for the link and sequence of a printed figure, by credit policy.

    ``results`` are of one latency of the host, on the ideal PHY or on one board. A board has a data path of its own.
    """
    sequence = "read-and-write" if cell.startswith("both_") else "write-then-read"
    return {r.point.update_fc: r for r in results if r.point.design == OURS and not r.failure
        and (r.point.gen, r.point.lanes) == (row.gen, row.lanes) and (r.point.hardware or r.point.width == row.width)
        and r.point.sequence == sequence and (r.point.batch > 1) == chained}


def judged(row, cell, results):
    """Returns (result, whether its policy is "minimum") that a printed figure is compared with, or None.

    The result under the specification's guideline, unless the printed figure exceeds what an ideal card reaches there.
    """
    mine      = measured_for(row, cell, results)
    guideline = mine.get("guideline")
    if guideline is None:
        return None
    above = row.rates[cell] > doorbell_bound(guideline, cell.removeprefix("both_"))
    if above and "minimum" in mine:
        return mine["minimum"], True
    return guideline, False


def _reached(results):
    """Returns (printed figures of AN 456 and AN 855 that are reached, printed figures)."""
    choices = [(printed, cell, judged(row, cell, results)) for row in application_notes()
        for cell, printed in row.rates.items() if not row.misprint(cell)]
    held    = [(printed, cell, choice[0]) for printed, cell, choice in choices if choice]
    return sum(rate(result, cell.removeprefix("both_")) >= printed for printed, cell, result in held), len(held)


def published_counts(results):
    """Returns (printed figures that are reached, printed figures) by place, and by latency of the host in ns.

    Places are "ideal PHY" with the data paths of the notes, and the boards, with the links that each has.
    """
    mine   = [r for r in results if r.point.sweep in ("notes", "published") and not r.failure]
    builds = {}
    for hardware in dict.fromkeys(r.point.hardware for r in mine):
        for name in hardware.names if hardware else ("ideal PHY",):
            builds.setdefault(name, []).append(hardware)
    places = {}
    for name, some in builds.items():
        places.setdefault(tuple(some), []).append(name)
    found = {}
    for some, names in places.items():
        here = [r for r in mine if r.point.hardware in some]
        found[", ".join(names)] = {ns: _reached([r for r in here if r.point.latency_ns == ns])
            for ns in sorted({r.point.latency_ns for r in here})}
    return found
