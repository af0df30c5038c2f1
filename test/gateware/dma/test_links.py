# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""LINK descriptors, shapes of the ring, and the fetch of descriptors."""

import pytest

from litepcie_soc.dma.fetch import DescriptorFetch
from litepcie_soc.tlp.ports import MemoryReadPort
from test.gateware.dma.bench import REASON, TABLES, Bench, Link, started
from test.gateware.dma.test_engine import engine
from test.gateware.simulation import simulate
from test.gateware.steps import wait


def split(bench, descriptors, count):
    """Splits ``descriptors`` into ``count`` tables, none of them empty."""
    cuts = sorted(bench.rng.sample(range(1, len(descriptors)), count - 1))
    return [descriptors[a:b] for a, b in zip([0, *cuts], [*cuts, len(descriptors)])]


def test_chain_over_pages(direction="reader"):
    """Each table ends at the end of its page with a LINK to the next table; then the ring continues."""
    bench = started(direction, ring_log2=2)
    descriptors = bench.place_apart(bench.random_lengths(100, 300))
    parts = split(bench, descriptors[:-3], 8)
    chain = None
    for page, part in enumerate(parts):
        table = part + ([chain] if chain else [])
        chain = Link(table, TABLES + 4096 * (page + 1) - 16 * len(table))
    bench.execute(descriptors[-1], chain, descriptors[-2], descriptors[-3])
    bench.check(descriptors)
    assert bench.completed == 4
    # One request for each chunk of a table. The model checks that none crosses a page.
    assert {a // 4096 for _, a, _ in bench.descriptors.requests} >= {TABLES // 4096 + n for n in range(8)}


def test_links_in_a_row(direction="reader"):
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


def test_interrupt_of_link(direction="reader"):
    """INTERRUPT of a LINK reports the end of its table, INTERRUPT of a descriptor in it that descriptor."""
    bench = started(direction)
    descriptors = bench.place_apart([500] * 6)
    descriptors[1].interrupt = True
    bench.execute(Link(descriptors, TABLES, interrupt=True))
    bench.cycles(200)
    assert len(bench.msi.times) == 2
    assert [block.completed for block in bench.blocks] == [0, 1]
    assert bench.blocks[0].bytes >= 1000


def test_failed_speculative_fetch_is_ignored():
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


def test_speculative_fetch_lands_as_link_is_followed(direction="writer"):
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
    for cycles in range(0, 60, 2):
        late = cycles
        bench.expect()
        descriptors = bench.place_apart([8] * 45)
        at = -1 - bench.doorbell % 32 + 32      # The last of the 32 descriptors of a request.
        bench.execute(*descriptors[:at], Link(descriptors[at:at + 3], TABLES + 16), *descriptors[at + 3:])
        bench.check(descriptors)


# Bits of the data path, descriptors in the RAM, tags. A request is for half the RAM.
SHAPES = ((64, 8, 1), (128, 128, 4))


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


@pytest.mark.parametrize("direction, width, descriptors, tags", [("writer", *SHAPES[0]), ("reader", *SHAPES[1])])
def test_shapes(direction, width, descriptors, tags):
    """A ring with tables wraps, with stalls on all ports; then a fetch fails, and a clean run follows."""
    bench = Bench(direction, width, ring_log2=5, stall=0.1, reorder=True, jitter=30, mrrs=4096,
        descriptors=descriptors, fetch_tags=tags)
    bench.start()
    bench.expect()
    places  = bench.place_apart(bench.random_lengths(150, 60))
    entries = entries_of(bench, places)
    bench.feed(entries)
    bench.check(places)
    assert bench.read("DESCRIPTORS") == 150 and bench.read("COMPLETED") == len(entries)
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


@pytest.mark.parametrize("early, mrrs, requests", [
    (0, 512, [32, 32, 32, 32, 32, 32]), (4, 512, [4, 12, 16, 16, 16, 32]), (8, 512, [8, 8, 16, 16, 16, 32]),
    (4, 128, [4, 4, 8, 8, 8, 8])])
def test_first_requests(early, mrrs, requests):
    """An early fetch begins with few descriptors, then up to a completion of 256 bytes; MRRS is kept."""
    port  = MemoryReadPort(128, 6)
    fetch = DescriptorFetch(port, 256, early)
    found = []
    def run():
        yield [fetch.size_log2.eq(8), fetch.base.eq(0x10000), fetch.max_request_size.eq(mrrs), port.request.ready.eq(1)]
        yield from wait(4)
        yield [fetch.doorbell.eq(200), fetch.run.eq(1)]
        for _ in range(60):
            yield
            if (yield port.request.valid):
                found.append((yield port.request.length) // 16)
    simulate(fetch, [run()])
    assert found == requests


@pytest.mark.parametrize("direction, width, early", [("reader", 128, 0), ("writer", 128, 4), ("writer", 512, 8)])
def test_engines_fetch_early(direction, width, early):
    assert engine(direction, width).ring.fetch.early == early


@pytest.mark.parametrize("width, lanes, landed", [
    (128, (1, 1, 1), (1, 2, 3)),
    (256, (2, 3, 1), (1, 3, 4)),                # Begins in the upper lane.
    (512, (0b1000, 0b1111, 0b0001, 0b1110), (1, 5, 6, 9)),
    (512, (0b0110,), (0,)),                     # A request began there that is not the oldest.
])
def test_descriptors_are_ready_when_their_data_comes(width, lanes, landed):
    """Descriptors can be used the cycle after their beat, and the retirement of their request adds no more."""
    port   = MemoryReadPort(width, 6)
    fetch  = DescriptorFetch(port, 256, early=4)
    each   = width // 128
    first  = {1: 0, 2: 1, 4: 3}[each]           # Place of the first descriptor in its beat.
    found  = []
    def run():
        yield [fetch.landed.eq(first), fetch.taken.eq(first), fetch.requested.eq(first + 9), fetch.pending.eq(1)]
        yield
        for enabled in lanes:
            yield [port.data.valid.eq(1), port.data.address.eq((first + (found or [0])[-1]) // each),
                port.data.be.eq(sum(0xffff << 16 * n for n in range(each) if enabled >> n & 1))]
            yield
            yield port.data.valid.eq(0)
            yield
            found.append((yield fetch.landed) - first)
            assert (yield fetch.ready) == (found[-1] > 0)
        yield [port.retire.valid.eq(1), port.retire.bytes.eq(16 * 9)]
        yield
        yield port.retire.valid.eq(0)
        yield
        assert (yield fetch.landed) == first + 9
        assert (yield fetch.lead) == 0
    simulate(fetch, [run()])
    assert tuple(found) == landed
