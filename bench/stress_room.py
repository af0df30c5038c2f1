#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tells from the TLPs of a random load whether reads without an answer kept too much of the completion buffer.

A read whose completions were lost keeps their room for 67 seconds, because they may still come. While nothing else is
outstanding, a read that does not fit beside them ends at once with TIMEOUT (docs/contracts/transaction-layer.md). In a
buffer as small as that of a hard block this can happen in the clean run after a load, and is no fault of the card. It
also happens if the completions come after the read was refused.
"""

import re

from litepcie_soc.common.pcie import RCB_BYTES

READ       = re.compile(r" < MRd\d+ length (\d+) requester 0100 tag (\w+) address 0x(\w+)")
COMPLETION = re.compile(r" > Cpl(D?)\S* length (\d+) .*status (\d) byte count (\d+) requester 0100 tag (\w+)")

# Cycles after which a read that still lacks completions is one of an earlier load: the clean run's own take hundreds.
LATE = 4000

# Events after which no completion of before can come, and no room is kept.
FREED = ("link-down", "hot-reset")


def blocks_of(address, length):
    """Blocks of one Read Completion Boundary that a read touches."""
    return -(-(address % RCB_BYTES + length)//RCB_BYTES)


def kept_and_largest(trace):
    """Returns (most blocks that unanswered reads kept, blocks of the largest read) of the lines of `--trace`.

    Kept is the room of reads without an answer at the end, or at any time that of reads sent LATE cycles earlier.
    """
    missing, kept, largest = {}, 0, 0    # By tag: address of the next byte, bytes that are missing, cycle of the read.
    for line in trace:
        cycle = int(line.split()[0])
        kept  = max(kept, sum(blocks_of(*read[:2]) for read in missing.values() if cycle - read[2] > LATE))
        if found := READ.search(line):
            address, length = int(found[3], 16), 4*int(found[1])
            missing[found[2]] = address, length, cycle
            largest = max(largest, blocks_of(address, length))
        elif (found := COMPLETION.search(line)) and found[5] in missing:
            address, length, sent = missing.pop(found[5])
            came = 4*int(found[2]) if found[1] else length
            if found[3] == "0" and came < length:
                missing[found[5]] = address + came, length - came, sent
    return max(kept, sum(blocks_of(*read[:2]) for read in missing.values())), largest


def explains(failure, trace, room):
    """Returns in words why the clean run of a load may end with TIMEOUT, or "" if it may not.

    failure : dict of `litepcie_host --stress --json`: `event`, `phase`, `message`.
    trace   : lines of `--trace` of this load.
    room    : int, blocks of the completion buffer.
    """
    if failure["phase"] != "clean run" or "stopped: TIMEOUT" not in failure["message"] or failure["event"] in FREED:
        return ""
    kept, largest = kept_and_largest(trace)
    return f"unanswered reads keep {kept} of {room} blocks, and a read needs up to {largest}" \
        if kept and kept + largest > room else ""
