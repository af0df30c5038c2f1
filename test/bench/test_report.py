#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The report: each share of a bound above 100 % has its reason beside it."""

import html
import re

import pytest

from litepcie_bench import bounds, goals, report, tables
from litepcie_bench.runner import Result
from litepcie_bench.sweeps import SWEEPS

# Sweeps whose tables show shares of a bound.
SHOWN = ("notes", "boards", "hosts", "stock", "board_sizes", "alone", "sizes", "latency", "outliers", "tags",
    "completions", "lane", "addresses")
BOUND = 1e9


def above(point, share=1.007):
    """A result of which every figure is that share of its bound."""
    figures = {f"{name}_bytes_per_second": BOUND for name in ("bound", "bound_with_descriptors")}
    start   = bounds.doorbell_bound if point.sweep == "board_sizes" else bounds.bound
    moved   = figures | {"bound_without_dllps_bytes_per_second": 1.01*BOUND, "average_bytes_per_second": BOUND,
        "model_bytes_per_second": BOUND, "share_of_bound": share}
    run     = {"bytes": 100000, "active_cycles": 1000, "model_cycles": 1000, "model_bytes_per_second": BOUND,
        **{f"wait_{what}": 1 for what in ("descriptor", "tag", "link", "data")}}
    ways    = ("read", "write")
    result  = Result(point, {"clock_hz": point.clock_hz, "tags": 64, "completion_bytes": 256,
        "theory_bytes_per_second": BOUND, "runs": [{way: run for way in ways}], **{way: dict(moved) for way in ways}})
    for way in ways:
        value = share*start(result, way)
        result.data[way] |= {"average_bytes_per_second": value, "model_bytes_per_second": value}
    return result


@pytest.fixture(scope="module")
def results():
    return [above(point) for name in SHOWN for point in SWEEPS[name](False)]


def test_every_share_above_its_bound_is_marked_and_explained(results):
    pages = [make(results) for _, _, _, texts in report.SECTIONS for make in texts]
    pages.append(tables.goal_cells(goals.cells(results)))
    marked = 0
    for page in pages:
        for made in re.split(r'(?=<div class="wide">)', page):
            cells   = re.findall(r"<td[^>]*>([^<]*)</td>", made)
            shares  = [cell for cell in cells if re.search(r"\b100\.7\b", cell)]
            marked += len(shares)
            assert all(re.search(rf"100\.7( %)? {bounds.ABOVE}", cell) for cell in shares), shares
            if shares:
                assert all(reason in html.unescape(made) for reason in (bounds.BURSTS, bounds.EDGE, bounds.FEWER))
    assert marked > 500


def test_what_is_not_above_has_no_mark():
    results = [above(point, 0.99) for name in ("boards", "latency") for point in SWEEPS[name](False)]
    for make in (tables.by_board, tables.latency):
        assert bounds.ABOVE not in make(results) and "99.0" in make(results)
