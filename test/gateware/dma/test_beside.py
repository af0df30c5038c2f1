#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A wrong ring stops only its own engine: the other one keeps working."""

import pytest

from test.gateware.dma.bench import MEMORY_SIZE, REASON, TABLES, Bench, Descriptor, Link

POSITION   = 5

# Errors -------------------------------------------------------------------------------------------


def length_zero(bench, good):
    bench.push(Descriptor(0, good.endpoint, good.host))


def past_the_memory(bench, good):
    bench.push(Descriptor(good.length, MEMORY_SIZE - good.length + 1, good.host))


def link_to_itself(bench, good):
    bench.push(Link([], bench.ring + 16 * POSITION, length=1))


def table_not_aligned(bench, good):
    bench.push(Link([good], TABLES + 8))


def doorbell_past_ring(bench, good):
    bench.write("DOORBELL", POSITION + 100)


WRONG = {
    length_zero:        "ZERO_LENGTH",
    past_the_memory:    "MEMORY_RANGE",
    link_to_itself:     "BAD_LINK",
    table_not_aligned:  "BAD_LINK",
    doorbell_past_ring: "DOORBELL",
}

# Test ---------------------------------------------------------------------------------------------


def moved_on(other, before):
    """Checks that the other engine completed more than ``before``; returns its count."""
    assert other.flag("RUNNING") and not other.flag("STOPPED")
    other.until(lambda: other.read("COMPLETED") > before, 500)
    return other.read("COMPLETED")


@pytest.mark.one_at_a_time
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_other_engine_keeps_working(direction, wrong):
    """The reason is in STATUS and in the block, nothing after it is counted; a reset affects that engine only."""
    bench = Bench(direction, stall=0.1, reorder=True, jitter=20, ring_log2=5)
    other = bench.beside(seed=2, stall=0.1, reorder=True, ring_log2=8)
    other.start()
    other.expect()
    work = other.place_apart([250] * 200)
    other.push(*work)
    bench.start()
    bench.expect()
    places = bench.place_apart(bench.random_lengths(POSITION + 1, 200))
    bench.push(*places[:POSITION])
    bench.until(lambda: bench.completed == POSITION)
    done = other.read("COMPLETED")

    wrong(bench, places[POSITION])
    block = bench.stop()
    assert (block.reason, block.completed, block.stopped) == (REASON[WRONG[wrong]], POSITION, 0)
    assert bench.read("DESCRIPTORS") == bench.read("COMPLETED") == POSITION
    assert bench.read64("BYTES") == block.bytes == sum(place.length for place in places[:POSITION])
    bench.check(places[:POSITION])
    done = moved_on(other, done)
    bench.cycles(200)
    assert bench.flag("STOPPED")
    done = moved_on(other, done)

    bench.reset()
    bench.start()
    bench.expect()
    bench.push(*places)
    bench.finish()
    bench.check(places)
    moved_on(other, done)
    other.finish(40000)
    other.check(work)
    assert other.read("DESCRIPTORS") == len(work) and other.reason == 0
