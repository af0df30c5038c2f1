#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The descriptor ring at every size of its RAM, with any number of requests in flight."""

import pytest

from test.gateware.dma.bench import REASON, TABLES, Bench, Link, started
from test.gateware.simulation import full


# Bits of the data path, descriptors in the RAM, tags. A request is for half the RAM.
SHAPES = (
    (64,  8,   1),
    (64,  256, 8),
    (512, 8,   3),
    (512, 256, 2),
)


def entries_of(bench, descriptors):
    """Ring slots: descriptors, with a table of some of them now and then."""
    entries, address, rest = [], TABLES + 16, list(descriptors)
    while rest:
        if bench.rng.random() < 0.2:
            count = min(len(rest), bench.rng.choice((1, 2, 9, 40)))
            entries.append(Link(rest[:count], address))
            address += 16 * (count + bench.rng.randrange(3))
            rest     = rest[count:]
        else:
            entries.append(rest.pop(0))
    return entries


@pytest.mark.parametrize("width, descriptors, tags", SHAPES)
@pytest.mark.parametrize("direction", ("reader", *full("writer")))
def test_shapes(direction, width, descriptors, tags):
    """A ring with tables wraps, with stalls on all ports; then a fetch fails, and a clean run follows."""
    bench = Bench(direction, width, ring_log2=5, stall=0.1, reorder=True, jitter=30, mrrs=4096,
        descriptors=descriptors, fetch_tags=tags)
    bench.start()
    bench.expect()
    places  = bench.place_apart(bench.random_lengths(300, 60))
    entries = entries_of(bench, places)
    bench.feed(entries)
    bench.check(places)
    assert bench.read("DESCRIPTORS") == 300 and bench.read("COMPLETED") == len(entries)
    longest = max(length for _, _, length in bench.descriptors.requests)
    assert longest <= 16 * descriptors // 2

    # The ring keeps its old slots: only the slot whose fetch fails matters.
    slot = bench.doorbell % 32
    bench.descriptors.faults = [(bench.ring + 16 * slot, REASON["UNSUPPORTED_REQUEST"])]
    bench.push(places[0])
    assert bench.stop().reason == REASON["UNSUPPORTED_REQUEST"]
    bench.descriptors.faults = []
    bench.reset()
    bench.start()
    bench.expect()
    bench.feed(places[:50])
    bench.check(places[:50])


@pytest.mark.parametrize("width, descriptors, tags", SHAPES)
def test_fetches_ahead(width, descriptors, tags):
    """Outstanding requests are limited by tags and by room in the RAM, and by nothing else."""
    bench = started("reader", width, ring_log2=9, latency=400, mrrs=4096, descriptors=descriptors, fetch_tags=tags)
    bench.push(*bench.place_apart([4] * 500))
    bench.until(lambda: bench.descriptors.requests)
    bench.cycles(100)
    assert len(bench.descriptors.issued) == min(tags, 2)   # Each request is for half of the RAM.
    assert len(bench.descriptors.requests) == len(bench.descriptors.issued)
    bench.finish(60000)
