#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Time that the card itself takes for one transfer of 64 bytes, from the trace of the TLPs on the link.

The host writes the descriptor into the card's registers (DIRECT), so nothing is fetched. A write takes from this
doorbell until its data, and then its status block, have reached the host; a read from the doorbell until its request
has reached the host, and from the begin of the completion until the status block has. The card's time is the sum, less
the time that these TLPs take on the link: 20 bytes each for framing, sequence number, header and LCRC, and the payload.
The host, the hard block and its clock crossings are not in it.
"""

import re

from dataclasses import replace
from typing import NamedTuple

from litepcie_soc.common.link_rates import link_rate

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


def sweep(points):
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


def read(text):
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
