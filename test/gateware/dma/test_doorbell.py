# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""Doorbells that the host must not write: the engine stops before it fetches anything for them.
That none of them reaches the ring, and every legal one does, at any time: test/formal/test_splitters.py."""

from dataclasses import replace

import pytest

from test.gateware.dma.bench import REASON, started
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


def check_stop(bench, descriptors, count, executed=RING):
    """The engine stopped because of the doorbell; at most ``count`` descriptors were fetched and ``executed`` executed.

    What the status block reports has landed. What a reader had outstanding besides may have landed, too.
    """
    block = bench.stop()
    assert block.reason == REASON["DOORBELL"]
    done = block.completed - bench.first & 0xffffffff
    assert done <= min(count, executed) and fetched(bench) <= count
    landed = descriptors[:done]
    if block.stopped:
        landed.append(replace(descriptors[done], length=block.stopped))
    bench.check(landed, touched=descriptors[done:count] if bench.direction == "reader" else ())
    if bench.first == 0:      # A reset returns COMPLETED of this DUT to its first count.
        run_clean(bench)


@pytest.mark.parametrize("first, wait, doorbell", [(0, 0, 23), (NEAR_WRAP, 30, 20), (0, 2, RING + 1)])
def test_wrong_value(direction, first, wait, doorbell):
    """Backwards or too far ahead at any time after the doorbell 24, also in the next cycle: the check takes two."""
    bench, descriptors = bench_with(direction, 24, first_count=first, latency=300)
    bench.cycles(wait)
    ring_at(bench, doorbell)
    check_stop(bench, descriptors, 24, executed=0)      # Their fetch takes 300 cycles.


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
