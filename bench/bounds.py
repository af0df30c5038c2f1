#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The rate of a result, and what the link model lets any card reach.

docs/benchmark.md derives the bounds.
"""

from litepcie_bench.points import OURS, STOCK
from litepcie_soc.common.link_rates import link_rate
from litepcie_soc.common.pcie import RCB_BYTES

ONE_CLOCK     = ("alone", "equal_chains")  # Sweeps that compare start-ups with those of stock.
FRAMED_HEADER = 20  # Bytes on the link of a header of three dwords with its framing.

ABOVE = "†"  # Marks a share above 100 % in the report. The reasons are below its table.

# Why a figure is above its bound.
BURSTS = "requests left in bursts, which are acknowledged together; the bound counts them at even distances"
EDGE   = "the run ended a SKP ordered set or a clock cycle before its average"
FEWER  = "fewer requests left beside the writes than the reads' average says, by no more than may be outstanding"
SKP_S  = 20e-9  # Longest SKP ordered set.


def rate(result, direction):
    """Returns bytes per second of "read" or "write" in a result, or None if nothing moved in that direction.

    This project is measured by the counters of its gateware, as the application notes do it: from the doorbell in its
    register until the last byte has left the card. Stock LitePCIe has no such counters and is measured by the clock of
    the model, from the write to its register at the PHY until the last byte has arrived. Where that difference matters,
    in the sweeps ``ONE_CLOCK``, both are measured by the model's clock.
    """
    if result.point.sequence == "pio":
        return result.data[f"{direction}_bytes_per_second"]
    moved = result.data.get(direction)
    return moved and moved[f"{'model' if result.point.sweep in ONE_CLOCK else 'average'}_bytes_per_second"]


def bound(result, direction):
    """Returns the bound of the link model in bytes per second."""
    return result.data[direction]["bound_bytes_per_second"]


def most(result, direction):
    """Returns the bound without ACKs and UpdateFCs, which nothing exceeds, however it bunches its TLPs."""
    return result.data[direction]["bound_without_dllps_bytes_per_second"]


def share_words(value, unit=" %", digits=1):
    """Returns a share of a bound in percent as text, marked if it is above 100; a dash if there is none."""
    return "-" if value is None else f"{value:.{digits}f}{unit}" + f" {ABOVE}"*(value > 100)


def why_above(result, direction):
    """Returns why a figure is above its bound; empty if it is not, or if there is no reason."""
    point, value = result.point, rate(result, direction)
    size         = point.bytes*point.batch
    if value <= bound(result, direction):
        return ""
    if value <= most(result, direction):
        return BURSTS
    early = size/most(result, direction) - size/value
    edge  = SKP_S + 1/point.clock_hz
    if early <= edge:
        return EDGE
    beside = direction == "write" and point.sequence == "read-and-write"
    return FEWER if beside and early <= edge + outstanding(point)*request_s(point) else ""


def outstanding(point):
    """Returns how many requests may be outstanding."""
    return point.pending if point.design == STOCK else point.tags


def request_s(point):
    """Returns the seconds that a request keeps the link or the data path busy, whichever is longer."""
    return max(FRAMED_HEADER/link_rate(point.gen, point.lanes), 1/point.clock_hz)


def buffer_bound(result):
    """Returns the rate of reads that the completion buffer of a real board allows, in bytes per second.

    Little's law: the bytes in flight, at most the blocks of the buffer, over the time for which a block is taken. An
    ideal card needs none of its own cycles for that: the request goes out, the host answers, the completion comes in.
    """
    point = result.point
    wire  = (2*FRAMED_HEADER + result.data["completion_bytes"])/link_rate(point.gen, point.lanes)
    return point.hardware.blocks*RCB_BYTES/(point.response_ns*1e-9 + wire)


def fetches(point):
    """Returns whether the card fetches its descriptors from the host after the doorbell.

    Stock LitePCIe has them in a table of its own, and with DIRECT the host writes them into the card's registers.
    """
    return point.design == OURS and not point.direct


def start_up(point, direction):
    """Returns the seconds from the doorbell until data can move: a round trip to the host for the descriptor, unless
    the card has it, and for a read one for its data."""
    return (fetches(point) + (direction == "read"))*point.response_ns*1e-9


def doorbell_bound(result, direction):
    """Returns the bound of all transfers of one doorbell, with their descriptors and the start-up, in bytes per second.

    The descriptors come one round trip after the doorbell, if they are fetched. From then on the receive path carries
    the rest of them and the data of reads, which comes one more round trip later.
    """
    point = result.point
    size  = point.bytes*point.batch
    plain = start_up(point, direction) + size/bound(result, direction)
    if not fetches(point) or point.batch == 1:
        return size/plain
    full = start_up(point, "write") + size/result.data[direction]["bound_with_descriptors_bytes_per_second"]
    return size/max(plain, full)


def alone_most(result, direction):
    """Returns what no card exceeds with one transfer per doorbell, in bytes per second: requests that leave during the
    start-up are acknowledged before their data come, so the data is counted without ACKs and UpdateFCs."""
    size = result.point.bytes
    return size/(start_up(result.point, direction) + size/most(result, direction))
