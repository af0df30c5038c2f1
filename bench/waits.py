#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What the cycles of a transfer were spent on, by the counters of the gateware."""

from litepcie_bench.points import OURS
from litepcie_bench.records import rate

WAITS = {
    "wait_descriptor": "descriptors from the host, or its own work between them",
    "wait_tag":        "a tag or room in the completion buffer",
    "wait_link":       "the link",
    "wait_data":       "data: completions of the host, or the endpoint memory",
}


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
    """In words, how far the gateware's counters are from the model's clock; empty if ours did not run."""
    off, worst, runs = 0, "", 0
    for result in results:
        if result.failure or result.point.design != OURS or result.point.sequence == "pio":
            continue
        for run in result.data["runs"]:
            for one in run.values():
                apart = abs(one["active_cycles"] - one["model_cycles"])
                runs += 1
                if apart > off:
                    off, worst = apart, f" ({result.point}, {one['model_cycles']} cycles)"
    return f"at most {off} cycles apart in {runs} transfers{worst}" if runs else ""

# Start-up -----------------------------------------------------------------------------------------

# Before the first byte moves: the descriptor is fetched, and a reader's data is asked for.
ROUND_TRIPS = {"read": 2, "write": 1}


def start_up(point, direction):
    """Seconds of a transfer alone in which no card can move data: the host's round trips."""
    return ROUND_TRIPS[direction]*point.latency_ns*1e-9


def excess(result, direction):
    """What a transfer alone took beyond the link's time and its round trips, in words."""
    size = result.point.bytes
    over = size/rate(result, direction) - size/alone_bound(result, direction)
    return f"{1e9*over:.0f} ns, {over*result.point.clock_hz:.0f} cycles, beyond the link's time and the round " \
        f"trips: the way of a descriptor, a request and the first data through card and wire"


def bound(result, direction):
    """The link model's own ceiling, bytes a second."""
    return result.data[direction]["bound_bytes_per_second"]


def alone_bound(result, direction):
    """The ceiling of one transfer behind one doorbell, its start-up counted, bytes a second."""
    size = result.point.bytes
    return size/(size/bound(result, direction) + start_up(result.point, direction))
