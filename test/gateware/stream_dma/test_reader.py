# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The reader of a stream: packets arrive with any timing of the host and the user; rates of both engines."""

from math import ceil

import pytest

from litepcie_soc.stream_dma.ram import WORDS
from test.gateware.dma.bench import HOST_HIGH, HOST_LOW, WAITS
from test.gateware.stream_dma.bench import Descriptor, packets_of, started

LENGTHS = (1, 2, 3, 64, 65, 1000, 4097)
OFFSETS = (0, 1, 3, 31, 4095)


def run(bench, descriptors):
    """Moves ``descriptors`` and checks the packets that the user gets."""
    bench.feed(descriptors, 100000)
    expected = packets_of(bench, descriptors)
    bench.until(lambda: len(bench.user.packets) == len(expected) and (
        len(bench.user.packets[-1]) >= len(expected[-1]) // bench.user.bytes * bench.user.bytes))
    # Bytes that do not fill a beat wait for the rest of their packet.
    whole = expected.pop()[:len(bench.user.packets[-1])]
    assert bench.user.packets == expected + [whole]
    assert bench.user.cut == 0


@pytest.mark.parametrize("width, base", [(128, HOST_LOW), (64, HOST_HIGH)])
def test_lengths_and_offsets(width, base):
    """Descriptors that are whole packets, and descriptors that form one packet without gaps."""
    bench = started("reader", width)
    places = [(length, base + 8192 + offset) for length in LENGTHS for offset in OFFSETS]
    run(bench, [Descriptor(*place, last=True) for place in places])
    bench.user.packets = [bytearray()]
    bench.rng.shuffle(places)
    ends = [n % 5 == 4 for n in range(len(places) - 1)] + [True]
    run(bench, [Descriptor(*place, last=end) for place, end in zip(places, ends)])
    assert bench.read("DESCRIPTORS") == 2 * len(places)


def test_longer_than_the_ram():
    """A packet end more than a RAM ahead is not mistaken for the end of words that leave before it."""
    bench = started("reader", reorder=True)
    run(bench, [Descriptor(70000 + n, HOST_LOW + n, last=True) for n in range(3)])


def test_more_packets_than_ends():
    bench = started("reader", ring_log2=8)
    bench.user.stall = lambda: bench.now < 3000
    run(bench, [Descriptor(1 + n % 20, HOST_LOW + 32 * n, last=True) for n in range(200)])


def test_user_that_accepts_nothing(width=128):
    """Requests stop when the RAM is full; nothing is lost, and what has landed counts as complete."""
    bench = started("reader", width, mrrs=256)
    blocked = True
    bench.user.stall = lambda: blocked
    bench.push(*[Descriptor(1001, HOST_LOW + 1001 * n) for n in range(60)])
    bench.cycles(4000)
    size = WORDS * width // 8
    # A full RAM, and up to eight words that have left it and wait for the user.
    asked = sum(length for _, _, length in bench.data.requests)
    assert size - 512 <= asked <= size + 8 * width // 8
    assert bench.read("COMPLETED") == asked // 1001
    assert bench.read("WAIT_DATA") > 1000
    blocked = False
    bench.finish()
    bench.execute(Descriptor(1, HOST_LOW, last=True))
    bench.until(lambda: len(bench.user.packets) == 2)
    assert bench.user.packets[0] == bench.host.read(HOST_LOW, 60060) + bench.host.read(HOST_LOW, 1)


def test_reader_beat_per_cycle(width=128):
    """Once data flows, the user gets a beat per cycle across packets and descriptors, except for the headers."""
    bench = started("reader", width)
    bench.execute(*[Descriptor(2048, HOST_LOW + 2048 * n, last=n % 3 == 2) for n in range(15)])
    bench.until(lambda: len(bench.user.packets) == 6)
    beats = bench.user.beats
    assert len(beats) == 15 * 2048 * 8 // width
    assert beats[-1] - beats[0] + 1 <= len(beats) * 33 // 32


@pytest.mark.parametrize("latency, bound", ((200, 33/32), (400, 1.35)))
def test_reader_latency(latency, bound):
    """The RAM covers a host latency of up to three quarters of its words; ``bound`` is in cycles per beat."""
    bench = started("reader", latency=latency, mrrs=512)
    bench.execute(*[Descriptor(4096, HOST_LOW + 4096 * n) for n in range(16)])
    bench.until(lambda: len(bench.user.taken) == 16 * 4096)
    beats = bench.user.beats
    assert (beats[-1] - beats[0] + 1) / len(beats) <= bound


def test_writer_tlps_back_to_back():
    """TLPs of 256 bytes follow each other across buffers, with only the report of each buffer between."""
    bench = started("writer")
    bench.user.give(bytes(32768))
    bench.execute(*[Descriptor(4096, HOST_LOW + 4096 * n) for n in range(8)])
    packets = bench.data.packets[4:]
    beats   = {length: ceil((12 + length) / 16) for length in (4, 256)}
    data    = sum(length == 256 for _, _, length in packets) - 1
    reports = sum(length == 4 for _, _, length in packets)
    assert (data, reports) == (123, 8)
    # The descriptor after a report has been read by then.
    assert packets[-1][0] - packets[0][0] <= data * beats[256] + reports * (beats[4] + 1)


def test_writer_small_packets(width=128):
    """A packet of one beat takes the cycles of its data and its report, and at most six more."""
    bench = started("writer", width, ring_log2=9, latency=1)
    for _ in range(300):
        bench.user.give(bytes(width // 8))
    bench.execute(*[Descriptor(64, HOST_LOW + 64 * n) for n in range(300)])
    sent = [cycle for cycle, _, length in bench.data.packets if length == 4]
    assert (sent[-1] - sent[0]) / 299 <= 6


def test_counters(direction):
    """ACTIVE is the cycles that moved data plus the wait counters; a slow user counts as WAIT_DATA."""
    bench = started(direction)
    bench.user.stall = lambda: bench.rng.random() < 0.95
    moved = 0
    clock = bench.data.clock
    def counting():
        nonlocal moved
        if direction == "reader":
            moved += bench.data.offered
        else:
            moved += bool(bench.data.ready and bench.dut.get("writer_data_sink_valid"))
        clock()
    bench.data.clock = counting
    if direction == "writer":
        for _ in range(16):
            bench.user.give(bytes(1000))
    bench.execute(*[Descriptor(1000, HOST_LOW + 1000 * n, last=True) for n in range(16)], limit=100000)
    waits = {name: bench.read(name) for name in WAITS}
    assert bench.read64("ACTIVE") == moved + sum(waits.values())
    assert max(waits, key=waits.get) == "WAIT_DATA" and waits["WAIT_DATA"] > 1000
    assert bench.read64("BYTES") == 16000
