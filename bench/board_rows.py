#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Rows and goals of real boards."""

from dataclasses import dataclass

from litepcie_bench.board_sweeps import DESCRIPTORS
from litepcie_bench.bounds import bound, buffer_bound, doorbell_bound, rate

SWEEPS = ("boards", "links")

# Shares of the bound to reach, %.
READ, READ_X16  = 98, 95       # Reads at 1 us.
SPLIT           = 95           # The same with completions of 64 bytes.
TOLERATED       = 95           # Reads at the latency that a board tolerates.
SMALLEST, SMALL = 90, 97       # Small transfers to 32 bytes, and longer ones.
ALONE           = {(2, 4): 97.5, (3, 8): 91}  # One read of 100 KB, by link.


def share(result, direction):
    """Returns a figure of a result as % of its bound, or None."""
    return result and 100*rate(result, direction)/bound(result, direction)


def allowed(result):
    """Returns reads as % of what the link and the completion buffer allow, or None."""
    return result and 100*rate(result, "read")/min(bound(result, "read"), buffer_bound(result))


def buffered(result):
    """Returns what the completion buffer allows as % of the link's bound of reads, or None."""
    return result and 100*buffer_bound(result)/bound(result, "read")


def of_chain(result, direction):
    """Returns a figure of a chain as % of the bound that counts its descriptors and its start-up."""
    return 100*rate(result, direction)/doorbell_bound(result, direction)


def least_of(size):
    """Returns the share that transfers of `size` bytes in a chain are to reach, %."""
    return SMALLEST if size <= 32 else SMALL


@dataclass(frozen=True)
class BoardRow:
    """The results of one ``Hardware``; None: not measured.

    one, both, split : 20 x 100 KB at 1 us: one direction at a time, both at once, completions of 64 bytes.
    alone, direct    : one transfer per doorbell at 1 us; with its descriptor in the card's registers.
    latencies        : results of ``one`` by latency in ns.
    """
    hardware:  object
    one:       object
    both:      object
    split:     object
    alone:     object
    direct:    object
    latencies: dict

    @property
    def tolerated(self):
        """Largest measured latency in ns up to which reads reach TOLERATED, or None."""
        reached = None
        for ns, result in sorted(self.latencies.items()):
            if share(result, "read") < TOLERATED:
                break
            reached = ns
        return reached


def rows(results, sweeps=SWEEPS):
    """Returns a ``BoardRow`` for each ``Hardware`` that was measured."""
    good  = [r for r in results if r.point.sweep in sweeps and not r.failure]
    found = []
    for hardware in dict.fromkeys(r.point.hardware for r in good):
        mine    = [r for r in good if r.point.hardware == hardware]
        chained = [r for r in mine if r.point.batch > 1]
        plain   = {r.point.latency_ns: r for r in chained
            if r.point.sequence == "write-then-read" and not r.point.completion}

        def only(some):
            return next(iter(some), None)
        found.append(BoardRow(hardware, plain.get(1000),
            only(r for r in chained if r.point.sequence == "read-and-write"),
            only(r for r in chained if r.point.completion == 64),
            *(only(r for r in mine if r.point.batch == 1 and r.point.direct == direct) for direct in (False, True)),
            plain))
    return found


def judged(results):
    """Yields (goal, what, value, must, unit, result, direction, asked) for each figure of a board."""
    for row in rows(results):
        link, where = row.hardware.link, f"{row.hardware.title}, Gen{row.hardware.gen} x{row.hardware.lanes}, " \
            f"{row.hardware.width} bit"
        must = READ_X16 if link[1] == 16 else READ
        for name, result, direction, least, asked in (
            ("reads at 1 us",                   row.one,   "read",  must,  True),
            ("reads, 64-byte completions",      row.split, "read",  SPLIT, True),
            ("writes",                          row.one,   "write", must,  False),
            ("both at once, read",              row.both,  "read",  must,  False),
            ("both at once, write",             row.both,  "write", must,  False),
            ("one read of 100 KB alone",        row.direct, "read", ALONE.get(link), True),
            ("one read of 100 KB alone, descriptor fetched", row.alone, "read", ALONE.get(link), False),
        ):
            if result and least:
                yield (f"boards: {name}", where, share(result, direction), least, "% of bound", result, direction,
                    asked)
    for result in results:
        point = result.point
        if point.sweep == "board_sizes" and not result.failure:
            for direction in ("read", "write"):
                yield (f"boards: small transfers, {DESCRIPTORS} descriptors", f"Gen{point.gen} x{point.lanes}, "
                    f"{point.bytes} B {direction}", of_chain(result, direction), least_of(point.bytes),
                    "% of bound with descriptors", result, direction, True)
