#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Wait cycles of a transfer by cause, from the counters of the gateware."""

from litepcie_bench.bounds import doorbell_bound, rate
from litepcie_bench.points import OURS

WAITS = {
    "wait_descriptor": "descriptors from the host, or the engine's own work between two descriptors",
    "wait_tag":        "a tag or room in the completion buffer",
    "wait_link":       "the link",
    "wait_data":       "data: completions from the host, or the endpoint memory",
}


def spent(result, direction):
    """Returns the share of active cycles that moved data ("moved"), and the share of each wait counter."""
    runs   = [run[direction] for run in result.data["runs"]]
    active = sum(run["active_cycles"] for run in runs)
    shares = {name: sum(run[name] for run in runs)/active for name in WAITS}
    return {"moved": 1 - sum(shares.values()), **shares}


def blame(result, direction):
    """Returns in words which wait took the most cycles."""
    shares = spent(result, direction)
    name   = max(WAITS, key=shares.get)
    return f"{name} {100*shares[name]:.1f} % of the cycles: {WAITS[name]}"


def blame_small(result, direction):
    """Does the same as ``blame`` for a chain of short descriptors; adds how many of them one round trip covers."""
    point, data = result.point, result.data
    in_flight   = rate(result, direction)/point.bytes*point.latency_ns*1e-9
    tags        = f", the reader has {data['tags']} tags" if direction == "read" else ""
    return f"{blame(result, direction)}; {in_flight:.0f} descriptors in flight during a round trip of " \
        f"{point.latency_ns} ns{tags}"


def _model_cycles(one, clock_hz):
    """Returns the model's time of a run in cycles of the card, whose clock may be slower than the model's."""
    return round(one["bytes"]*clock_hz/one["model_bytes_per_second"])


def clock_check(results):
    """Returns in words how far the gateware's counters differ from the model's clock; empty without our design."""
    off, worst, runs = 0, "", 0
    for result in results:
        if result.failure or result.point.design != OURS or result.point.sequence == "pio":
            continue
        for run in result.data["runs"]:
            for one in run.values():
                cycles = _model_cycles(one, result.data["clock_hz"])
                apart  = abs(one["active_cycles"] - cycles)
                runs  += 1
                if apart > off:
                    off, worst = apart, f" ({result.point}, {cycles} cycles)"
    return f"at most {off} cycles apart in {runs} transfers{worst}" if runs else ""


def excess(result, direction):
    """Returns in words what a single transfer took in addition to the link's time and its round trips."""
    size = result.point.bytes
    over = size/rate(result, direction) - size/doorbell_bound(result, direction)
    return f"{1e9*over:.0f} ns, {over*result.point.clock_hz:.0f} cycles, in addition to the link's time and the " \
        f"round trips: a descriptor, a request and the first data travel through the card and over the wire"
