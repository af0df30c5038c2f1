#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Wait cycles of a transfer by cause, from the counters of the gateware."""

from litepcie_bench.points import OURS
from litepcie_bench.records import rate
from litepcie_soc.common.link_rates import link_rate
from litepcie_soc.common.pcie import RCB_BYTES

FRAMED_HEADER = 20  # Bytes on the link of a header of three dwords with its framing.

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


def clock_check(results):
    """Returns in words how far the gateware's counters differ from the model's clock; empty without our design."""
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

# Round trips before the first byte moves: the engine fetches the descriptor; a reader then requests its data.
ROUND_TRIPS = {"read": 2, "write": 1}


def start_up(point, direction):
    """Returns the start-up of a single transfer in seconds: the round trips to the host before data can move.

    A card that gets the descriptor with the doorbell would save the first of them.
    """
    return ROUND_TRIPS[direction]*point.latency_ns*1e-9


def excess(result, direction):
    """Returns in words what a single transfer took in addition to the link's time and its round trips."""
    size = result.point.bytes
    over = size/rate(result, direction) - size/alone_bound(result, direction)
    return f"{1e9*over:.0f} ns, {over*result.point.clock_hz:.0f} cycles, in addition to the link's time and the " \
        f"round trips: a descriptor, a request and the first data travel through the card and over the wire"


def bound(result, direction):
    """Returns the bound of the link model in bytes per second."""
    return result.data[direction]["bound_bytes_per_second"]


def buffer_bound(result):
    """Returns the rate of reads that the completion buffer of a real board allows, in bytes per second.

    Little's law: the bytes in flight, at most the blocks of the buffer, over the time for which a block is taken. An
    ideal card needs none of its own cycles for that: the request goes out, the host answers, the completion comes in.
    """
    point = result.point
    wire  = (2*FRAMED_HEADER + result.data["completion_bytes"])/link_rate(point.gen, point.lanes)
    return point.hardware.blocks*RCB_BYTES/(point.response_ns*1e-9 + wire)


def chain_bound(result, direction):
    """Returns the bound of one chain of descriptors, with their fetch and the start-up, in bytes per second.

    The descriptors come one round trip after the doorbell. From then on the receive path carries the rest of them and
    the data of reads, which comes one more round trip later.
    """
    size  = result.point.bytes*result.point.batch
    trip  = result.point.response_ns*1e-9
    plain = size/bound(result, direction)
    full  = size/result.data[direction]["bound_with_descriptors_bytes_per_second"]
    return size/(trip + (max(trip + plain, full) if direction == "read" else full))


def alone_bound(result, direction):
    """Returns the bound of one transfer per doorbell including its start-up, in bytes per second."""
    size = result.point.bytes
    return size/(size/bound(result, direction) + start_up(result.point, direction))
