# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Every reason to stop, at the first, a middle and the last descriptor, each followed by a clean run."""

import struct
from dataclasses import replace

import pytest

from test.gateware.dma.bench import LINK, MEMORY_SIZE, REASON, RINGS, TABLES, Bench, Descriptor, Link, started

COUNT = 30


def run_clean(bench):
    """Resets the engine and runs a transfer, which must not be affected by the failure."""
    bench.reset()
    assert bench.read("STATUS") == 2            # IDLE.
    assert bench.read("CONTROL") == bench.read("DOORBELL") == bench.read("COMPLETED") == 0
    assert bench.read("STOPPED_BYTES") == bench.read64("BYTES") == bench.read64("ACTIVE") == 0
    messages = len(bench.msi.times)
    bench.expect()
    descriptors = bench.place_apart(bench.random_lengths(20, 500))
    descriptors[-1].interrupt = True
    bench.start()
    bench.feed(descriptors)
    bench.until(lambda: len(bench.msi.times) == messages + 1, 100)
    bench.check(descriptors)


def bench_with(direction, seed, **kwargs):
    bench = started(direction, seed=seed, stall=0.1, reorder=True, jitter=40, **kwargs)
    return bench, bench.place_apart(bench.random_lengths(COUNT, 600))


def check_stop(bench, descriptors, position, reason, stopped=0):
    block = bench.stop()
    bench.data.faults = []
    assert block.reason    == REASON[reason]
    assert block.completed == position
    assert block.stopped   == stopped
    assert block.bytes     == sum(d.length for d in descriptors[:position]) + stopped
    bench.cycles(100)
    assert bench.blocks[-1] == block and bench.read("COMPLETED") == position
    assert bench.flag("IDLE")
    # Descriptors after the failure may have landed, but are not counted.
    behind = descriptors[position:] if bench.direction == "reader" else ()
    bench.check(descriptors[:position], touched=behind)
    run_clean(bench)


@pytest.mark.parametrize("reason, position", [("TIMEOUT", 0), ("BAD_LENGTH", 13), ("POISONED", COUNT - 1)])
def test_data_fails(reason, position):
    bench, descriptors = bench_with("reader", position)
    failing = descriptors[position]
    byte = failing.host + bench.rng.randrange(failing.length)
    bench.data.faults = [(byte, REASON[reason])]
    bench.push(*descriptors)
    stopped = max(0, (byte & ~63) - failing.host)   # Completions end at multiples of 64.
    check_stop(bench, descriptors, position, reason, stopped)


@pytest.mark.parametrize("direction, position", [("reader", 0), ("writer", 13)])
def test_fetch_fails(direction, position):
    """When a fetch fails, the descriptors that arrived before the failure are executed."""
    bench, descriptors = bench_with(direction, position)
    byte = bench.ring + 16 * position
    bench.descriptors.faults = [(byte, REASON["COMPLETER_ABORT"])]
    bench.push(*descriptors)
    block = bench.stop()
    bench.descriptors.faults = []
    done = position // 4 * 4         # Completions end at multiples of 64.
    assert (block.reason, block.completed, block.stopped) == (REASON["COMPLETER_ABORT"], done, 0)
    bench.check(descriptors[:done])
    run_clean(bench)


def test_write_dropped():
    bench, descriptors = bench_with("writer", 1)
    bench.push(*descriptors)
    bench.until(lambda: len(bench.data.packets) > 10)
    bench.data.drop = bench.blocks_port.drop = True
    bench.until(lambda: bench.flag("STOPPED"))
    assert bench.reason == REASON["BUS_MASTER"]
    assert bench.read("COMPLETED") < COUNT
    bench.cycles(100)
    bench.data.drop = bench.blocks_port.drop = False
    run_clean(bench)


class Reserved(Descriptor):
    """With one reserved bit set, and LINK if ``link``."""
    bit, link = 26, False

    def pack(self):
        length, rest = struct.unpack("<I12s", Descriptor.pack(self))
        return struct.pack("<I12s", length | 1 << self.bit | LINK * self.link, rest)


def reserved(good, bit, link=False):
    wrong = Reserved(good.length, good.endpoint, good.host)
    wrong.bit, wrong.link = bit, link
    return wrong


@pytest.mark.parametrize("change, reason, position", [
    (lambda good: dict(length=0),                                   "ZERO_LENGTH",  0),
    (lambda good: dict(endpoint=MEMORY_SIZE - good.length + 1),     "MEMORY_RANGE", 13),
    (lambda good: dict(endpoint=0xffffff80),                        "MEMORY_RANGE", 13),
    (lambda good: dict(length=0xffffff),                            "MEMORY_RANGE", COUNT - 1),
], ids=["zero length", "beyond the memory", "far beyond", "too long"])
def test_wrong_descriptor(direction, change, reason, position):
    bench, descriptors = bench_with(direction, position)
    ring = list(descriptors)
    ring[position] = replace(ring[position], **change(ring[position]))
    bench.push(*ring)
    check_stop(bench, descriptors, position, reason)


@pytest.mark.parametrize("bit, link, position", [(26, False, 0), (27, True, 13), (28, False, 13), (29, True, 0),
    (30, False, 13)])
def test_reserved_bit(bit, link, position):
    """Also in a LINK, which is not followed: no descriptor is read from its address."""
    bench, descriptors = bench_with("reader", bit)
    ring = list(descriptors)
    ring[position] = reserved(descriptors[position], bit, link)
    bench.push(*ring)
    check_stop(bench, descriptors, position, "RESERVED")
    assert all(bench.ring <= address < bench.ring + 1024 for _, address, _ in bench.descriptors.requests)


def test_last_is_no_reserved_bit():
    """LAST has a meaning for streams; other engines ignore it."""
    bench, descriptors = bench_with("reader", 1)
    marked = [reserved(descriptor, 25) for descriptor in descriptors]
    bench.execute(*marked)
    bench.check(descriptors)


@pytest.mark.parametrize("direction, position", [("reader", 13), ("writer", COUNT - 1)])
def test_wrong_descriptor_in_table(direction, position):
    """COMPLETED counts up to the table's slot; BYTES shows how far the table got."""
    bench, descriptors = bench_with(direction, position)
    table = list(descriptors)
    table[position] = replace(descriptors[position], length=0)
    bench.push(Link(table, TABLES))
    block = bench.stop()
    assert (block.reason, block.completed, block.stopped) == (REASON["ZERO_LENGTH"], 0, 0)
    assert block.bytes == sum(d.length for d in descriptors[:position])
    bench.check(descriptors[:position])
    run_clean(bench)


def in_a_row(good, count):
    for step in range(count):
        good = Link([good], TABLES + 16 * step)
    return good


# The wrong LINK in place of a descriptor, and whether the descriptor is executed before the error.
LINKS = {
    "empty":          (lambda slot, good: Link([good], TABLES, length=0), 0),
    "unaligned":      (lambda slot, good: Link([good], TABLES + 8), 0),
    "to itself":      (lambda slot, good: Link([], slot, length=1), 0),
    "table to itself": (lambda slot, good: Link([good, Link([], TABLES + 16, length=1)], TABLES), 1),
    "circle":         (lambda slot, good: Link([good, Link([Link([], TABLES + 16, length=1)], TABLES + 256)], TABLES),
        1),
    "without end":    (lambda slot, good: in_a_row(good, 16), 0),
    "in the middle":  (lambda slot, good: Link([good, Link([good], TABLES + 256), good], TABLES), 1)}


@pytest.mark.parametrize("wrong, position", [*((wrong, 13) for wrong in LINKS), ("to itself", 0)])
def test_wrong_link(wrong, position):
    bench, descriptors = bench_with("writer", position, ring=RINGS)
    ring = list(descriptors)
    make, inner    = LINKS[wrong]
    ring[position] = make(bench.ring + 16 * position, descriptors[position])
    bench.push(*ring)
    block = bench.stop()
    assert (block.reason, block.completed, block.stopped) == (REASON["BAD_LINK"], position, 0)
    assert block.bytes == sum(d.length for d in descriptors[:position + inner])
    bench.check(descriptors[:position + inner])
    run_clean(bench)


@pytest.mark.parametrize("ring_log2, ring, good", (
    (0, RINGS, False), (13, RINGS, False), (1, RINGS + 32, False), (1, RINGS + 64, True), (3, RINGS + 64, False),
    (8, RINGS + 4096, True), (12, RINGS + 2048, False)))
def test_ring_alignment(ring_log2, ring, good):
    bench = Bench("reader", ring_log2=min(ring_log2, 12), ring=ring)
    bench.ring_log2, log2 = ring_log2, bench.ring_log2
    bench.start()
    bench.ring_log2 = log2
    if good:
        descriptors = bench.place_apart([40] * (1 << min(log2, 6)))
        bench.execute(*descriptors)
        assert bench.reason == 0
    else:
        block = bench.stop()
        assert (block.reason, block.completed) == (REASON["BAD_RING"], 0)
        assert not bench.descriptors.requests
        bench.ring, bench.ring_log2 = RINGS + (1 << 19), 1
        bench.host.add(bench.ring, bytes(32))
        bench.reset()
        bench.start()
        bench.execute(*bench.place_apart([40, 50]))


def test_status_block_not_aligned():
    """No block is written, as its address is not valid; the MSI makes the driver read the registers."""
    bench = started("reader", status=RINGS - 0x1000 + 8)
    bench.until(lambda: bench.msi.times, 200)
    assert bench.flag("STOPPED") and bench.reason == REASON["BAD_RING"]
    assert not bench.blocks_port.packets
