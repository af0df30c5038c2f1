#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""LINK descriptors: tables anywhere, chains of them, what is prefetched behind them."""

import pytest

from test.gateware.dma.bench import TABLES, Bench, Link

DIRECTIONS = ("reader", "writer")


def split(bench, descriptors, count):
    """``descriptors`` in ``count`` tables that are not empty."""
    cuts = sorted(bench.rng.sample(range(1, len(descriptors)), count - 1))
    return [descriptors[a:b] for a, b in zip([0, *cuts], [*cuts, len(descriptors)])]


@pytest.mark.parametrize("width", (64, 128, 256))
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_tables(direction, width):
    """Slots of the ring are descriptors and tables in any order; a table counts as one."""
    bench = Bench(direction, width, ring_log2=3, stall=0.1, reorder=True)
    bench.start()
    bench.expect()
    descriptors = bench.place_apart(bench.random_lengths(150, 400))
    entries, address = [], TABLES + 16
    for part in split(bench, descriptors, 40):
        if bench.rng.random() < 0.5:
            entries.append(Link(part, address))
            address += 16 * bench.rng.randint(len(part), len(part) + 3)
        else:
            entries += part
    bench.feed(entries)
    bench.check(descriptors)
    assert bench.read("COMPLETED")   == len(entries)
    assert bench.read("DESCRIPTORS") == len(descriptors)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_chain_over_pages(direction):
    """Tables that end in a LINK to the next, each at the end of its page; then the ring goes on."""
    bench = Bench(direction, ring_log2=2)
    bench.start()
    bench.expect()
    descriptors = bench.place_apart(bench.random_lengths(100, 300))
    parts = split(bench, descriptors[:-3], 8)
    chain = None
    for page, part in enumerate(parts):
        table = part + ([chain] if chain else [])
        chain = Link(table, TABLES + 4096 * (page + 1) - 16 * len(table))
    bench.push(descriptors[-1], chain, descriptors[-2], descriptors[-3])
    bench.finish()
    bench.check(descriptors)
    assert bench.completed == 4
    # One request for each chunk of a table, none across a page: the model checks that.
    assert {a // 4096 for _, a, _ in bench.descriptors.requests} >= {
        TABLES // 4096 + n for n in range(8)}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_links_in_a_row(direction):
    """Fifteen LINKs to LINKs lead to a descriptor; again, as each descriptor begins a new row."""
    bench = Bench(direction)
    bench.start()
    bench.expect()
    descriptors = bench.place_apart(bench.random_lengths(2, 300))
    for n, descriptor in enumerate(descriptors):
        entry = descriptor
        for step in range(15):
            entry = Link([entry], TABLES + 16 * (16 * n + step))
        bench.push(entry)
    bench.finish()
    bench.check(descriptors)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_table_across_page(direction):
    bench = Bench(direction)
    bench.start()
    bench.expect()
    descriptors = bench.place_apart(bench.random_lengths(90, 100))
    bench.push(Link(descriptors, TABLES + 4096 - 16 * 7))
    bench.finish()
    bench.check(descriptors)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_many_links_behind_each_other(direction):
    """Every slot is a LINK to one descriptor: all that is prefetched is thrown away every time."""
    bench = Bench(direction, ring_log2=5, jitter=30, reorder=True)
    bench.start()
    bench.expect()
    descriptors = bench.place_apart(bench.random_lengths(64, 64))
    bench.feed(Link([d], TABLES + 48 * n) for n, d in enumerate(descriptors))
    bench.check(descriptors)
    assert bench.read("COMPLETED") == 64


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_interrupt_of_link(direction):
    """INTERRUPT of a LINK tells of its table's end; of a descriptor in it, of that."""
    bench = Bench(direction)
    bench.start()
    descriptors = bench.place_apart([500] * 6)
    descriptors[1].interrupt = True
    bench.push(Link(descriptors, TABLES, interrupt=True))
    bench.finish()
    bench.cycles(200)
    assert len(bench.msi.times) == 2
    assert [block.completed for block in bench.blocks] == [0, 1]
    assert bench.blocks[0].bytes >= 1000


def test_guess_may_fail():
    """A fetch that fails behind a LINK in a table is forgotten: it was not yet wanted."""
    bench = Bench("reader", ring_log2=2)
    bench.start()
    bench.expect()
    descriptors = bench.place_apart([64] * 4)
    # The table is asked for with the slot behind it; only its last entry says that it goes on.
    chain = Link([descriptors[0], Link([descriptors[1]], TABLES + 8192)], TABLES)
    bench.push(chain, descriptors[2])
    # The first fetch has both slots; the guess behind the table asks for slot 1 alone.
    bench.descriptors.faults = []
    seen = bench.descriptors.requests
    bench.until(lambda: len(seen) == 3)
    assert [length for _, _, length in seen] == [32, 32, 16]
    bench.descriptors.issued[-1].reason = 1
    bench.descriptors.issued[-1].landed = bench.descriptors.issued[-1].left = 0
    bench.finish()
    bench.check(descriptors[:3])
    assert bench.reason == 0


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_guess_lands_as_link_is_followed(direction):
    """What is behind a LINK that ends its request lands in every cycle around the one that drops it."""
    bench = Bench(direction, latency=10, ring_log2=7)
    late  = 0
    accept = bench.descriptors.accept

    def later_behind_the_first():
        bench.timing.latency = 10 + late*bool(bench.descriptors.issued)
        accept()
        bench.timing.latency = 10

    bench.descriptors.accept = later_behind_the_first
    bench.start()
    for cycles in range(60):
        late = cycles
        bench.expect()
        descriptors = bench.place_apart([8] * 45)
        at = -1 - bench.doorbell % 32 + 32      # The last of the 32 that a request asks for.
        bench.push(*descriptors[:at], Link(descriptors[at:at + 3], TABLES + 16), *descriptors[at + 3:])
        bench.finish()
        bench.check(descriptors)


@pytest.mark.parametrize("tags", (2, 4))
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_link_meets_retirement(direction, tags):
    """What a LINK throws away arrives before it, in its very cycle, or long after the table did."""
    bench = Bench(direction, latency=10, ring_log2=7)
    bench.descriptors.tags = tags
    accept = bench.descriptors.accept
    delays = []

    def delayed():
        bench.timing.latency = 10 + (delays.pop(0) if delays else 0)
        accept()
        bench.timing.latency = 10

    bench.descriptors.accept = delayed
    bench.start()
    places = [(at, 0) for at in range(40)] + [(0, late) for late in (1, 200, 400)]
    for at, late in places:
        # The second request is behind the LINK, or the LINK is parsed when it ends.
        delays[:] = [0, late]
        bench.expect()
        descriptors = bench.place_apart(bench.random_lengths(160, 40))
        end = at + 80
        bench.push(*descriptors[:at], Link(descriptors[at:end], TABLES + 16), *descriptors[end:])
        bench.finish()
        bench.check(descriptors)
