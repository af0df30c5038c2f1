#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The sweeps: lists of points. Each has a quick form that ends in seconds."""

from dataclasses import replace

from litepcie_bench.points import OURS, STOCK, Point, narrowest
from litepcie_bench.published import application_notes

DEFAULT = dict(gen=2, lanes=4, width=128)
BOTH    = (OURS, STOCK)

MSC_SIZES   = tuple(8 << n for n in range(13))      # 8 B to 32 KB.
MSC_BATCHES = (1, 4, 8)
LATENCIES   = (300, 500, 1000, 1500, 2000, 3000, 4000)
COMPLETIONS = (64, 128, 256)

CHAIN_US      = 200    # So long that the first round trip is less than a hundredth,
CHAIN_LONGEST = 4096   # within one ring of descriptors.
STOCK_TABLE   = 256    # Descriptors the stock table holds.

# Helpers ------------------------------------------------------------------------------------------


def chain_length(gen, lanes, size, design=OURS):
    """Descriptors behind one doorbell that keep the link busy for CHAIN_US."""
    bytes_per_us = {1: 250, 2: 500, 3: 985}[gen]*lanes
    longest      = STOCK_TABLE if design == STOCK else CHAIN_LONGEST
    return max(8, min(longest, CHAIN_US*bytes_per_us//(size + 45)))


def directions(**options):
    """One direction at a time, and both at once."""
    return [Point(sequence=sequence, **options)
        for sequence in ("write-then-read", "read-and-write")]


def chained(point):
    """The same transfers behind one doorbell: what the link sustains, without the first latency."""
    return replace(point, batch=point.iterations, iterations=1)

# Sweeps -------------------------------------------------------------------------------------------


def notes(quick):
    """The rows of AN 456 and AN 855: 100 KB x 20, one transfer a doorbell and all behind one."""
    links = sorted({(row.gen, row.lanes, row.width) for row in application_notes()})
    if quick:
        links = [tuple(DEFAULT.values())]
    points = []
    for gen, lanes, width in links:
        for design in BOTH:
            alone = directions(sweep="notes", design=design, gen=gen, lanes=lanes, width=width)
            points += alone + [chained(point) for point in alone]
    return points


def gen3(quick):
    """Gen3 at 256 bit."""
    points = []
    for lanes in (4, 8):
        for design in BOTH:
            alone = directions(sweep="gen3", design=design, gen=3, lanes=lanes, width=256)
            points += alone + [chained(point) for point in alone]
    return points


def completions(quick):
    """Sizes of the host's completions."""
    return [chained(point) for size in COMPLETIONS for design in BOTH
        for point in directions(sweep="completions", design=design, completion=size, **DEFAULT)]


def latency(quick):
    """The host's round trip."""
    return [chained(point) for ns in LATENCIES[::3 if quick else 1] for design in BOTH
        for point in directions(sweep="latency", design=design, latency_ns=ns, **DEFAULT)]


def sizes(quick):
    """Chained descriptors of 8 B to 32 KB, as the MSC8156 (Gen1) and MSC8157 (Gen2) notes."""
    if quick:
        return _sizes_of(Point("sizes", OURS, **DEFAULT, mrrs=256, iterations=1), MSC_SIZES[::4])
    points = []
    links  = [(gen, lanes, narrowest(gen, lanes)) for gen in (1, 2) for lanes in (1, 2, 4)]
    for gen, lanes, width in [*links, tuple(DEFAULT.values())]:
        for mps in (256, 128) if lanes == 4 else (256,):
            point   = Point("sizes", OURS, gen, lanes, width, mps=mps, mrrs=256, iterations=1)
            points += _sizes_of(point, MSC_SIZES)
    return points


def _sizes_of(point, sizes):
    points = []
    for size in sizes:
        point = replace(point, bytes=size)
        chain = chain_length(point.gen, point.lanes, size)
        batches = [chain] if point.mps == 128 else [*MSC_BATCHES, chain]
        points += [replace(point, batch=batch) for batch in sorted(set(batches))]
        # Stock moves whole words of its data path.
        if point.lanes == 4 and point.mps == 256 and size >= point.width//8:
            stock   = replace(point, design=STOCK,
                batch=chain_length(point.gen, point.lanes, size, STOCK))
            points += [stock, replace(stock, fill=True)]
    return points


def pio(quick):
    """The processor's own loads and stores, through the window."""
    return [Point("pio", OURS, gen, lanes, width, sequence="pio", bytes=4096, store=store)
        for gen, lanes, width in [(1, 1, 64)] + ([] if quick else [(2, 4, 128)])
        for store in (4, 64)]


SWEEPS = {sweep.__name__: sweep for sweep in (notes, gen3, completions, latency, sizes, pio)}
