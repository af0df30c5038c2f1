#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Rates of streams: a beat per cycle across packets and descriptors, and the sums of the counters."""

from math import ceil

import pytest

from test.gateware.dma.bench import HOST_HIGH, HOST_LOW
from test.gateware.simulation import full
from test.gateware.stream_dma.bench import Descriptor, started

WIDTHS = (128, 512, *full(64, 256))
WAITS  = ("WAIT_DESCRIPTOR", "WAIT_TAG", "WAIT_LINK", "WAIT_DATA")


@pytest.mark.parametrize("width", WIDTHS)
def test_reader_beat_per_cycle(width):
    """Once data flows, the user gets a beat per cycle across packets and descriptors, except for the headers."""
    bench = started("reader", width)
    bench.push(*[Descriptor(2048, HOST_LOW + 2048 * n, last=n % 3 == 2) for n in range(15)])
    bench.finish()
    bench.until(lambda: len(bench.user.packets) == 6)
    beats = bench.user.beats
    assert len(beats) == 15 * 2048 * 8 // width
    assert beats[-1] - beats[0] + 1 <= len(beats) * 33 // 32


@pytest.mark.parametrize("latency, bound", ((60, 33/32), (200, 33/32), (400, 1.35)))
def test_reader_latency(latency, bound):
    """The RAM covers a host latency of up to three quarters of its words; ``bound`` is in cycles per beat."""
    bench = started("reader", latency=latency, mrrs=512)
    bench.push(*[Descriptor(4096, HOST_LOW + 4096 * n) for n in range(16)])
    bench.finish()
    bench.until(lambda: len(bench.user.taken) == 16 * 4096)
    beats = bench.user.beats
    assert (beats[-1] - beats[0] + 1) / len(beats) <= bound


@pytest.mark.one_at_a_time
@pytest.mark.parametrize("base", (HOST_LOW, HOST_HIGH), ids=("3dw", "4dw"))
@pytest.mark.parametrize("width", WIDTHS)
def test_writer_tlps_back_to_back(width, base):
    """TLPs of 256 bytes follow each other across buffers, with only the report of each buffer between."""
    bench = started("writer", width)
    bench.user.give(bytes(32768))
    bench.push(*[Descriptor(4096, base + 4096 * n) for n in range(8)])
    bench.finish()
    packets = bench.data.packets[4:]
    word    = width // 8
    beats   = {length: ceil(((12 if base == HOST_LOW else 16) % word + length) / word)
        for length in (4, 256)}
    data    = sum(length == 256 for _, _, length in packets) - 1
    reports = sum(length == 4 for _, _, length in packets)
    assert (data, reports) == (123, 8)
    # The descriptor after a report has been read by then.
    assert packets[-1][0] - packets[0][0] <= data * beats[256] + reports * (beats[4] + 1)


@pytest.mark.parametrize("width", WIDTHS)
def test_writer_small_packets(width):
    """A packet of one beat takes the cycles of its data and its report, and at most six more."""
    bench = started("writer", width, ring_log2=9, latency=1)
    for _ in range(300):
        bench.user.give(bytes(width // 8))
    bench.push(*[Descriptor(64, HOST_LOW + 64 * n) for n in range(300)])
    bench.finish()
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
        for _ in range(30):
            bench.user.give(bytes(1000))
    bench.push(*[Descriptor(1000, HOST_LOW + 1000 * n, last=True) for n in range(30)])
    bench.finish(100000)
    waits = {name: bench.read(name) for name in WAITS}
    assert bench.read64("ACTIVE") == moved + sum(waits.values())
    assert max(waits, key=waits.get) == "WAIT_DATA" and waits["WAIT_DATA"] > 10000
    assert bench.read64("BYTES") == 30000
