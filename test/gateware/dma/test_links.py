#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""LINK descriptors: tables at any address, chains of tables, and descriptors prefetched after a LINK."""

import pytest

from test.gateware.dma.bench import TABLES, Bench, Link, started



def split(bench, descriptors, count):
    """Splits ``descriptors`` into ``count`` tables, none of them empty."""
    cuts = sorted(bench.rng.sample(range(1, len(descriptors)), count - 1))
    return [descriptors[a:b] for a, b in zip([0, *cuts], [*cuts, len(descriptors)])]


@pytest.mark.one_at_a_time(width=128)
@pytest.mark.parametrize("width", (64, 128, 256))
def test_tables(direction, width):
    """Ring slots are descriptors and tables in any order; a table counts as one slot."""
    bench = started(direction, width, ring_log2=3, stall=0.1, reorder=True)
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


def test_chain_over_pages(direction):
    """Each table ends at the end of its page with a LINK to the next table; then the ring continues."""
    bench = started(direction, ring_log2=2)
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
    # One request for each chunk of a table. The model checks that none crosses a page.
    assert {a // 4096 for _, a, _ in bench.descriptors.requests} >= {
        TABLES // 4096 + n for n in range(8)}


def test_links_in_a_row(direction):
    """Fifteen consecutive LINKs may lead to a descriptor, several times: each descriptor restarts the count."""
    bench = started(direction)
    descriptors = bench.place_apart(bench.random_lengths(2, 300))
    for n, descriptor in enumerate(descriptors):
        entry = descriptor
        for step in range(15):
            entry = Link([entry], TABLES + 16 * (16 * n + step))
        bench.push(entry)
    bench.finish()
    bench.check(descriptors)


def test_table_across_page(direction):
    bench = started(direction)
    descriptors = bench.place_apart(bench.random_lengths(90, 100))
    bench.push(Link(descriptors, TABLES + 4096 - 16 * 7))
    bench.finish()
    bench.check(descriptors)


def test_many_consecutive_links(direction):
    """Every slot is a LINK to one descriptor: each LINK discards everything prefetched."""
    bench = started(direction, ring_log2=5, jitter=30, reorder=True)
    descriptors = bench.place_apart(bench.random_lengths(64, 64))
    bench.feed(Link([d], TABLES + 48 * n) for n, d in enumerate(descriptors))
    bench.check(descriptors)
    assert bench.read("COMPLETED") == 64


def test_interrupt_of_link(direction):
    """INTERRUPT of a LINK reports the end of its table, INTERRUPT of a descriptor in it that descriptor."""
    bench = started(direction)
    descriptors = bench.place_apart([500] * 6)
    descriptors[1].interrupt = True
    bench.push(Link(descriptors, TABLES, interrupt=True))
    bench.finish()
    bench.cycles(200)
    assert len(bench.msi.times) == 2
    assert [block.completed for block in bench.blocks] == [0, 1]
    assert bench.blocks[0].bytes >= 1000


def test_failed_speculative_fetch_is_ignored():
    """The failure of a speculative fetch after a LINK in a table is ignored."""
    bench = started("reader", ring_log2=2)
    descriptors = bench.place_apart([64] * 4)
    # The table is fetched together with the slot after it; only its last entry, a LINK, continues it.
    chain = Link([descriptors[0], Link([descriptors[1]], TABLES + 8192)], TABLES)
    bench.push(chain, descriptors[2])
    # The first fetch has both slots; the speculative fetch after the table requests slot 1 only.
    bench.descriptors.faults = []
    seen = bench.descriptors.requests
    bench.until(lambda: len(seen) == 3)
    assert [length for _, _, length in seen] == [32, 32, 16]
    bench.descriptors.issued[-1].reason = 1
    bench.descriptors.issued[-1].landed = bench.descriptors.issued[-1].left = 0
    bench.finish()
    bench.check(descriptors[:3])
    assert bench.reason == 0


def test_speculative_fetch_lands_as_link_is_followed(direction):
    """Descriptors after a LINK land in every cycle around the one in which the LINK discards them."""
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
        at = -1 - bench.doorbell % 32 + 32      # The last of the 32 descriptors of a request.
        bench.push(*descriptors[:at], Link(descriptors[at:at + 3], TABLES + 16), *descriptors[at + 3:])
        bench.finish()
        bench.check(descriptors)


@pytest.mark.one_at_a_time(tags=4)
@pytest.mark.parametrize("tags", (2, 4))
def test_link_meets_retirement(direction, tags):
    """The descriptors that a LINK discards arrive before it is followed, in the same cycle, or long after its table."""
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
        # The second request comes after the LINK, or the LINK is parsed when the request ends.
        delays[:] = [0, late]
        bench.expect()
        descriptors = bench.place_apart(bench.random_lengths(160, 40))
        end = at + 80
        bench.push(*descriptors[:at], Link(descriptors[at:end], TABLES + 16), *descriptors[end:])
        bench.finish()
        bench.check(descriptors)
