#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Sweeps with the parameters of real boards: clock, data width, completion buffer, tags, clock crossing."""

from dataclasses import replace

from litepcie_bench import lone as lone_transfers
from litepcie_bench.hardware import defaults, everything, hardware
from litepcie_bench.points import AN_BYTES, HOSTS, OURS, PENDING, STOCK, Point
from litepcie_soc.build.targets import load
from litepcie_soc.dma.engine import DIRECT_BITS

# Latencies of the host in ns.
LATENCIES = (300, 600, 1000, 1250, 1500, 1750, 2000, 2500, 3000, 3500, 4000)

SIZES       = tuple(8 << n for n in range(13))  # 8 B to 32 KB.
DESCRIPTORS = 256                               # In a chain of small transfers.

# Boards and links of the small transfers; None: the default build. With 64 tags the KCU105 cannot cover a round trip.
SMALL = (("sqrl_acorn", None), ("xilinx_kcu105", None), ("sqrl_xcu1525", (3, 8)))

# Helpers ------------------------------------------------------------------------------------------


def _point(sweep, found, **options):
    return Point(sweep, OURS, found.gen, found.lanes, found.width, tags=found.tags,
        phy="split" if found.split else "shared", hardware=found, **options)


def _chained(point):
    return replace(point, batch=point.iterations, iterations=1)


def _at_1_us(sweep, found):
    """20 x 100 KB after one doorbell: one direction at a time, both, and with completions of 64 bytes."""
    one = _chained(_point(sweep, found))
    return [one, replace(one, sequence="read-and-write"), replace(one, completion=64)]


def _alone(found):
    """One transfer per doorbell, also with its descriptor in the card's registers if the card has them."""
    one = _point("boards", found)
    return [one, replace(one, direct=True)] if found.width >= DIRECT_BITS else [one]

# Sweeps -------------------------------------------------------------------------------------------


def boards(quick, only=()):
    """Each board's default build and its widest link; ``only``: names of targets."""
    points = []
    for found in defaults(only):
        points += _at_1_us("boards", found)
        points += [replace(points[-3], latency_ns=ns) for ns in LATENCIES if ns != 1000 and not quick]
        points += _alone(found)
    return points


def hosts(quick):
    """Each board's default build and its widest link on each host."""
    points = [(_chained(_point("hosts", found)), found.lanes) for found in defaults()[:1 if quick else None]]
    return [replace(point, host=host, mps=min(point.mps, kind.mps)) for point, lanes in points
        for host, kind in HOSTS.items() if lanes <= kind.lanes]


def stock(quick):
    """Ours and stock, with more and more pending requests, on the hard block, data path and clock of each board."""
    points = []
    for found in defaults()[:1 if quick else None]:
        one     = replace(_chained(_point("stock", found)), bytes=AN_BYTES//(found.width//8)*(found.width//8))
        points += [one, *(replace(one, design=STOCK, pending=pending) for pending in PENDING)]
    return points


def notes_on_boards(quick, links, latencies):
    """One transfer per doorbell on the boards that have one of these links (gen, lanes), for the sweep "published"."""
    return [] if quick else [_point("published", found, latency_ns=ns) for found in everything()
        if found.link in links for ns in latencies]


def links(quick):
    """All other links and data paths of the boards that keep up with the link."""
    known = {replace(found, names=()) for found in defaults()}
    return [] if quick else [point for found in everything() if replace(found, names=()) not in known
        for point in _at_1_us("links", found)]


def lone(quick):
    """One transfer of 64 bytes, on each board with DIRECT."""
    return lone_transfers.sweep([point for found in defaults()[:1 if quick else None] for point in _alone(found)])


def board_sizes(quick):
    """Chains of 256 descriptors of one size, one direction at a time."""
    points = []
    for name, link in SMALL[:1 if quick else None]:
        board = load(name).BOARD
        found = hardware(board, board.configure(*link or ()))
        points += [_point("board_sizes", found, bytes=size, batch=DESCRIPTORS, iterations=1)
            for size in SIZES[::6 if quick else 1]]
    return points
