#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The rate of a result, and what the link model lets any card reach.

Let C be the rate of one direction of the link, less its SKP ordered sets. In T seconds, it carries C T bytes at
most, and one SKP ordered set more or less, in any order of the TLPs.

**Without ACKs and UpdateFCs.** A read puts its data and 20 bytes per completion (MPS at most) on the way to the card,
and 20 or 24 bytes per request (MRRS at most) on the way to the host. A write puts its data and 20 or 24 bytes per TLP
there. For one byte of data, let c, q and w be the bytes that completions, requests and writes take on the link. Then

    rate of reads * c <= C        rate of reads * q + rate of writes * w <= C

and the same holds for the beats of the data path. With both directions at once, q counts the requests that leave while
the writes run. If the reads end first, all of them do. If the writes end first, at Tw, the reads bring at most C/c per
second in the rest of their time Tr, so the requests of at least `bytes read - C/c * (Tr - Tw)` left before.
test/sim/src/link/test_rates.cpp lets 1500 random cards and hosts try to exceed this.

**The bound** subtracts an ACK for each TLP or each ACK interval, whichever is rarer, and as many UpdateFCs: what TLPs
at even distances need. Cards in test/sim/src/link/test_rates.cpp reach it. Bursts exceed it by less than 1 %.

**One doorbell.** With round trips of T to the host, D bytes of data, the bound without ACKs N, the plain bound P, and
the bound with descriptors F, which divides link and data path among data and descriptors (16 in 276 bytes on the path
of the data of reads, 20 bytes per request of 32 on the path of writes), a card needs at least:

    descriptors                              read                          write
    one, in the card (DIRECT, stock's table) T + D/N                       D/N
    one, fetched                             T + T + D/N                   T + D/N
    many, fetched                            max(T + T + D/P, T + D/F)     T + D/F
"""

from dataclasses import dataclass

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

# Fixed cost of a transfer -------------------------------------------------------------------------


@dataclass(frozen=True)
class FixedCost:
    """Fixed cost t0 in seconds and asymptotic rate Rinf in bytes per second."""
    t0:   float
    rinf: float

    @property
    def half_peak(self):
        """Bytes of a transfer that reaches half of Rinf."""
        return self.t0*self.rinf

    def rate(self, size):
        return size/(self.t0 + size/self.rinf)


def fit(rates):
    """Returns the ``FixedCost`` of ``rates``: bytes per second by bytes of a transfer.

    Fits a straight line through the times n/R(n) by least squares of the relative error. Short transfers determine t0,
    and with relative errors they weigh as much as long ones. Raises ``ValueError`` with fewer than two sizes.
    """
    if len(rates) < 2:
        raise ValueError("a fit needs at least two sizes")
    # t0/T + n/(Rinf*T) = 1, with T the measured time: normal equations in t0 and 1/Rinf.
    aa = ab = bb = a1 = b1 = 0.0
    for size, value in rates.items():
        a, b = value/size, value
        aa += a*a
        ab += a*b
        bb += b*b
        a1 += a
        b1 += b
    determinant = aa*bb - ab*ab
    t0          = (a1*bb - b1*ab)/determinant
    slope       = (aa*b1 - ab*a1)/determinant
    return FixedCost(t0, 1/slope)
