#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Rows of "100 KB x 20": the figures of one link and direction, for the table, the report and the plots."""

from dataclasses import dataclass

from litepcie_bench import bounds
from litepcie_bench.bounds import rate
from litepcie_bench.points import OURS, link_name
from litepcie_bench.published import application_notes

SWEEPS = ("notes", "gen3", "shapes")


@dataclass(frozen=True)
class Row:
    """One direction of one link.

    Attributes
    ----------
    where     : link and data path in words, with everything that differs from the default.
    both      : whether the other direction runs at the same time.
    direction : "read" or "write".
    found     : results by (design, whether chained).
    published : best figure of AN 456 and AN 855 in bytes per second, or None.
    """
    where:     str
    both:      bool
    direction: str
    found:     dict
    published: float

    @property
    def what(self):
        return "both: "*self.both + self.direction

    def _of(self, figure, design, chained):
        result = self.found.get((design, chained))
        return result and figure(result, self.direction)

    def rate(self, design, chained):
        """Returns bytes per second, or None if not measured."""
        return self._of(rate, design, chained)

    def bound(self, design=OURS, chained=True):
        """Returns the bound, or None if not measured. With both directions at once each design has its own."""
        return self._of(bounds.bound, design, chained)

    def net_bound(self, design):
        """Returns the bound of one transfer per doorbell with the design's start-up, or None if not measured."""
        return self._of(bounds.doorbell_bound, design, False)

    def alone_most(self, design):
        """Returns what one transfer per doorbell reaches at most, or None if not measured."""
        return self._of(bounds.alone_most, design, False)

    def theory(self):
        return next(iter(self.found.values())).data["theory_bytes_per_second"]


def _published():
    best = {}
    for row in application_notes():
        for cell, value in row.rates.items():
            if not row.misprint(cell):
                key = link_name(row.gen, row.lanes, row.width), cell
                best[key] = max(best.get(key, 0), value)
    return best


def note_rows(results):
    """Returns a ``Row`` for each measured link, direction and sequence under the UpdateFC guideline."""
    good = [r for r in results if r.point.sweep in SWEEPS and not r.failure
        and r.point.update_fc == "guideline"]
    printed, rows = _published(), []
    for where in dict.fromkeys(r.point.where for r in sorted(good, key=_order)):
        for both in (False, True):
            sequence = "read-and-write" if both else "write-then-read"
            found    = {(r.point.design, r.point.batch > 1): r for r in good
                if (r.point.where, r.point.sequence) == (where, sequence)}
            if found:
                rows += [Row(where, both, direction, found,
                    printed.get((where, "both_"*both + direction))) for direction in ("read", "write")]
    return rows


def _order(result):
    point = result.point
    return point.link, point.clock_hz, point.phy
