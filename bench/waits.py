#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Where the cycles of a transfer go: waits by the counters of the gateware, and what the card itself takes.

Time that the card itself takes for one transfer of 64 bytes, from the trace of the TLPs on the link.

The host writes the descriptor into the card's registers (DIRECT), so nothing is fetched. A write takes from this
doorbell until its data, and then its status block, have reached the host; a read from the doorbell until its request
has reached the host, and from the begin of the completion until the status block has. The card's time is the sum, less
the time that these TLPs take on the link: 20 bytes each for framing, sequence number, header and LCRC, and the payload.
The host, the hard block and its clock crossings are not in it.
"""

import re

from dataclasses import replace
from typing import NamedTuple

from litepcie_bench.bounds import doorbell_bound, rate
from litepcie_bench.points import OURS
from litepcie_soc.common.link_rates import link_rate

# Waits --------------------------------------------------------------------------------------------

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

# One transfer of 64 bytes -------------------------------------------------------------------------

LINE = re.compile(r"(\d+) \S+ ([<>]) (MWr|MRd|Cpl)\w* length (\d+) ")

BYTES    = 64
DATA     = BYTES//4  # Dwords.
DOORBELL = 5         # The descriptor and the count.
STATUS   = 4         # A status block.
OVERHEAD = 20        # Bytes of a TLP on the link beside its payload, with a header of three dwords.
LOADS    = (">", "MRd"), ("<", "Cpl")  # The host's reads of registers are not of the transfer.
FORMS    = {"write": [("<", "MWr", DATA)], "read": [("<", "MRd", DATA), (">", "Cpl", DATA)]}


class Lone(NamedTuple):
    """Cycles of a transfer: to its first TLP, then (of a read: from its completion) to its status block."""
    first:  int
    status: int


def lone_points(points):
    """Those of ``points`` that are one transfer for each doorbell with DIRECT, with one transfer of 64 bytes."""
    return [replace(point, sweep="lone", bytes=BYTES, iterations=1) for point in points if point.direct]


def _transfers(text):
    """Yields [(cycle, direction, kind, dwords)] of the TLPs from each doorbell to its status block."""
    found = []
    for cycle, way, kind, dwords in LINE.findall(text):
        tlp = (way, kind, int(dwords))
        if tlp == (">", "MWr", DOORBELL):
            found = [(int(cycle), *tlp)]
        elif found and (way, kind) not in LOADS:
            found.append((int(cycle), *tlp))
            if tlp == ("<", "MWr", STATUS):
                yield found
                found = []


def read_lone(text):
    """Returns {"write": ``Lone``, "read": ``Lone``} of the transfers of 64 bytes in a trace.

    Raises ``ValueError`` if it does not have both.
    """
    found = {}
    for doorbell, *moved, status in _transfers(text):
        for name, form in FORMS.items():
            if [tlp[1:] for tlp in moved] == form:
                found[name] = Lone(moved[0][0] - doorbell[0], status[0] - moved[-1][0])
    if len(found) != len(FORMS):
        raise ValueError(f"the trace has {len(found)} of the {len(FORMS)} transfers of {BYTES} bytes")
    return found


def own_ns(lone, name, point):
    """Returns the nanoseconds that the card takes for the transfer ``name`` of a ``Point``."""
    payloads = [DOORBELL, STATUS, *([DATA] if name == "write" else [0, DATA])]
    on_link  = sum(OVERHEAD + 4*dwords for dwords in payloads)/link_rate(point.gen, point.lanes)
    return 1e9*(sum(lone)/point.clock_hz - on_link)
