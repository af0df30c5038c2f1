# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The direct descriptor: the host writes the next descriptor into registers, beside the ring."""

import struct

import pytest

from test.gateware.dma.bench import REASON, TABLES, Bench, Descriptor, Link, started
from test.gateware.dma.dut import NEAR_WRAP

WHOLE = (0, 1, 2, 3)


def write_direct(bench, at, dwords=WHOLE, tag=None):
    """Writes dwords of the descriptor with count ``at``, which is in the ring, into the registers."""
    slot    = at % (1 << bench.ring_log2)
    values  = list(struct.unpack("<4I", bench.host.read(bench.ring + 16 * slot, 16)))
    values[0] |= (at if tag is None else tag) % 32 << 26
    for n in dwords:
        bench.write(f"DIRECT{n}", values[n])


def push_direct(bench, *entries, **kwargs):
    before = bench.doorbell
    bench.push(*entries, ring=False)
    write_direct(bench, before, **kwargs)
    bench.write("DIRECT_DOORBELL", bench.doorbell)


def fetched(bench):
    return [(address - bench.ring) // 16 for _, address, _ in bench.descriptors.requests]


def test_alone(direction):
    """A descriptor in the registers is not fetched; DOORBELL reads as if it had been written."""
    bench = started(direction)
    descriptors = bench.place_apart([300, 1, 5000])
    for n, descriptor in enumerate(descriptors):
        descriptor.interrupt = True
        push_direct(bench, descriptor)
        bench.finish()
        assert bench.read("DOORBELL") == bench.read("COMPLETED") == n + 1
    bench.until(lambda: len(bench.msi.times) == 3, 100)
    bench.check(descriptors)
    assert not bench.descriptors.requests
    assert [bench.read(f"DIRECT{n}") for n in range(4)] == [0]*4 and bench.read("DIRECT_DOORBELL") == 0


def test_start_up(direction):
    bench = started(direction, latency=500)
    push_direct(bench, Descriptor(600, 0, bench.host.regions[0][0]))
    rung = bench.now
    bench.until(lambda: bench.data.requests if direction == "reader" else bench.data.packets)
    assert bench.now - rung <= {"reader": 7, "writer": 30}[direction]


def test_first_of_several(direction, count=20):
    """The engine fetches from the next slot on while it executes the direct descriptor; up to the doorbell."""
    bench = started(direction, mrrs=128, latency=60)
    descriptors = bench.place_apart([70] * count)
    push_direct(bench, *descriptors)
    bench.finish()
    bench.check(descriptors)
    assert fetched(bench)[0] == 1
    assert sum(length for _, _, length in bench.descriptors.requests) == 16 * (count - 1)


def test_wrong_descriptor():
    bench = started("reader")
    push_direct(bench, Descriptor(0, 0, bench.host.regions[0][0]))
    block = bench.stop()
    assert (block.reason, block.completed) == (REASON["ZERO_LENGTH"], 0)
    bench.check([])


@pytest.mark.parametrize("options", (dict(dwords=(0, 1, 2)), dict(dwords=(0, 2, 1, 3)), dict(tag=3)))
def test_not_whole(options):
    """Dwords that are missing, out of order, or of another slot: the descriptor is fetched."""
    bench = started("reader")
    descriptors = bench.place_apart([100, 200])
    for descriptor in descriptors:
        push_direct(bench, descriptor, **options)
        bench.finish()
    bench.check(descriptors)
    assert fetched(bench) == [0, 1]


def test_doorbell_first():
    """The doorbell overtakes the dwords: they do not count for the next descriptor, whatever its order."""
    bench = started("reader")
    descriptors = bench.place_apart([100] * 6)
    for at, descriptor in enumerate(descriptors):
        bench.push(descriptor, ring=False)
        bench.write("DIRECT_DOORBELL", bench.doorbell)
        bench.finish()
        write_direct(bench, at)
    bench.check(descriptors)
    assert fetched(bench) == list(range(6))


def test_same_doorbell():
    """A doorbell that makes nothing available executes nothing, but leaves the descriptor to the next one."""
    bench = started("reader")
    descriptor, = bench.place_apart([100])
    bench.push(descriptor, ring=False)
    write_direct(bench, 0)
    bench.write("DIRECT_DOORBELL", 0)
    bench.cycles(50)
    assert not bench.data.requests
    bench.write("DIRECT_DOORBELL", 1)
    bench.finish()
    bench.check([descriptor])


def some_dwords(rng):
    return rng.choice([WHOLE] * 4 + [rng.sample(WHOLE, rng.randint(0, 4))])


# Direction, ring, latency and first count are the bits of the seed: the two have both values of each.
@pytest.mark.parametrize("seed", (5, 10))
def test_random(seed):
    """Direct and plain doorbells at random times, whole or not, in pauses, with LINKs: each descriptor runs once.

    What is written twice at one place would not show, so each descriptor has its own place and its own data.
    """
    bench = Bench(("reader", "writer")[seed % 2], (64, 128, 256)[seed % 3], ring_log2=(3, 5)[seed // 2 % 2], seed=seed,
        latency=(5, 60)[seed // 4 % 2], stall=0.1, jitter=30, reorder=True, mrrs=128,
        first_count=(0, NEAR_WRAP)[seed // 8 % 2])
    rng, size = bench.rng, 1 << bench.ring_log2
    bench.start()
    bench.expect()
    descriptors = bench.place_apart([rng.randint(1, 90) for _ in range(150)], guard=4)
    waiting, tables = list(descriptors), TABLES
    while waiting:
        assert bench.now < 100000, bench.state()
        room  = size - (bench.doorbell - bench.completed & 0xffffffff)
        count = min(rng.choice((1, 1, 2, 4)), room, len(waiting))
        before = bench.doorbell
        for _ in range(count):
            if rng.random() < 0.15 and len(waiting) > 3:
                table, waiting = waiting[:3], waiting[3:]
                bench.push(Link(table, tables), ring=False)
                tables += 64
            elif waiting:
                bench.push(waiting.pop(0), ring=False)
        if count and rng.random() < 0.8:
            write_direct(bench, before, some_dwords(rng))
        bench.write(rng.choice(("DOORBELL", *["DIRECT_DOORBELL"] * 3)), bench.doorbell)
        if count and rng.random() < 0.1:
            write_direct(bench, before, some_dwords(rng))       # Too late.
        bench.cycles(rng.choice((0, 0, 1, 2, 3, 8, 40, 200)))
        if rng.random() < 0.1:
            bench.enable(False)
            bench.cycles(rng.randrange(80))
            bench.enable()
        if rng.random() < 0.3:
            bench.until(lambda: bench.completed == bench.doorbell or not bench.flag("RUNNING"))
    bench.finish()
    bench.check(descriptors)
    assert bench.reason == 0 and bench.read("DESCRIPTORS") == 150
