#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Doorbells that the host must not write: the engine stops before it fetches anything for them.

That none of them reaches the ring: test/formal/test_splitters.py.
"""

from dataclasses import replace

import pytest

from test.gateware.dma.bench import REASON, Bench, started
from test.gateware.dma.dut import NEAR_WRAP
from test.gateware.dma.test_stops import run_clean

RING = 32


def bench_with(direction, count, **kwargs):
    """A ring that is full of descriptors, of which the doorbell makes ``count`` available."""
    bench = started(direction, ring_log2=5, **kwargs)
    descriptors = bench.place_apart([50] * RING)
    bench.push(*descriptors, ring=False)
    bench.doorbell = bench.first + count & 0xffffffff
    bench.write("DOORBELL", bench.doorbell)
    return bench, descriptors


def ring_at(bench, count):
    bench.write("DOORBELL", bench.first + count & 0xffffffff)


def fetched(bench):
    """Highest number of descriptors that a fetch asked for, counted from the start of the test."""
    first = bench.first % RING
    asked = {(address + at - bench.ring) // 16 for _, address, length in bench.descriptors.requests
        for at in range(0, length, 16)}
    return max(((slot - first) % RING + 1 for slot in asked), default=0)


def check_landed(bench, descriptors, block):
    """What the status block reports has landed. What a reader had outstanding besides may have landed, too."""
    done   = block.completed - bench.first & 0xffffffff
    landed = descriptors[:done]
    if block.stopped:
        landed.append(replace(descriptors[done], length=block.stopped))
    bench.check(landed, touched=descriptors[done:] if bench.direction == "reader" else ())


def check_stop(bench, descriptors, count):
    """The engine stopped because of the doorbell; at most ``count`` descriptors were fetched or executed."""
    block = bench.stop()
    assert block.reason == REASON["DOORBELL"]
    done = block.completed - bench.first & 0xffffffff
    assert done <= count and fetched(bench) <= count
    check_landed(bench, descriptors[:count], block)
    if bench.first == 0:      # A reset returns COMPLETED of this DUT to its first count.
        run_clean(bench)

# Wrong values -------------------------------------------------------------------------------------


@pytest.mark.parametrize("first, wait, doorbell", [(0, 0, 23), (NEAR_WRAP, 30, 20), (0, 2, RING + 1)])
def test_wrong_value(direction, first, wait, doorbell):
    """Backwards or too far ahead at any time after the doorbell 24, also in the next cycle: the check takes two."""
    bench, descriptors = bench_with(direction, 24, first_count=first, latency=300)
    bench.cycles(wait)
    ring_at(bench, doorbell)
    check_stop(bench, descriptors, 24)

# While disabled -----------------------------------------------------------------------------------


@pytest.mark.parametrize("values, good", (((20,), False), ((20, 30), True)))
def test_while_paused(values, good):
    bench, descriptors = bench_with("reader", 24, latency=100)
    bench.until(lambda: bench.descriptors.requests)
    bench.enable(False)
    bench.until(lambda: bench.flag("IDLE"))
    for value in values:
        ring_at(bench, value)
        bench.cycles(3)
    assert bench.reason == 0
    bench.enable()
    if good:
        bench.doorbell = values[-1]
        bench.finish()
        bench.check(descriptors[:values[-1]])
    else:
        check_stop(bench, descriptors, 24)

# At Random ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 3, 5])
def test_random_doorbells(seed):
    """Doorbells at random times, pauses between them; one of them may be wrong."""
    bench = Bench(("reader", "writer")[seed % 2], ring_log2=5, seed=seed, stall=0.1, jitter=60, reorder=True,
        first_count=(0, NEAR_WRAP)[seed // 2 % 2])
    rng, first = bench.rng, bench.first
    bench.start()
    bench.expect()
    descriptors = bench.place_apart([40] * 200)
    accepted, bad = 0, rng.randrange(60) if seed % 4 < 3 else None
    for n in range(60):
        done = bench.completed - first & 0xffffffff
        if n == bad:
            # Behind what was accepted, or past the ring whatever has completed in the meantime.
            ring_at(bench, rng.choice([accepted - rng.randint(1, RING), accepted + rng.randint(RING + 1, 4000)]))
            break
        step = min(rng.randint(0, 5), done + RING - accepted, len(descriptors) - accepted)
        bench.push(*descriptors[accepted:accepted + step], ring=False)
        accepted += step
        ring_at(bench, accepted)
        bench.cycles(rng.choice((0, 0, 0, 1, 2, 3, 20, 100)))
        if rng.random() < 0.1:
            bench.enable(False)
            bench.cycles(rng.randrange(60))
            bench.enable()
            bench.cycles(5)     # The last doorbell is accepted now.
    if bad is None:
        bench.finish()
        bench.check(descriptors[:accepted])
        assert bench.reason == 0
        return
    block = bench.stop()
    done  = block.completed - first & 0xffffffff
    assert block.reason == REASON["DOORBELL"] and done <= accepted
    check_landed(bench, descriptors[:accepted], block)
