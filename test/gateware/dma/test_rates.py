# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Rates in cycles: TLPs without gaps, small descriptors, start-up, and the sums of the counters."""

from math import ceil

import pytest

from litepcie_soc.common.pcie import HEADER_3DW
from litepcie_soc.dma.descriptor import PAIR_BITS
from test.gateware.dma.bench import HOST_HIGH, HOST_LOW, WAITS, Descriptor, started


@pytest.mark.parametrize("width, base, endpoint", [(128, HOST_LOW, 0), (128, HOST_HIGH, 77)])
def test_writer_packets_back_to_back(width, base, endpoint):
    """TLPs of 256 bytes follow each other without gaps: only the beats of their payload.

    With 128 bits and a header of three dwords that is 17 beats, the whole TLP. With four dwords it is 16:
    the header fills a beat of its own, which the builder adds.
    """
    bench = started("writer", width)
    bench.execute(*[Descriptor(4096, endpoint + 4096 * n, base + 4096 * n) for n in range(8)])
    word  = width // 8
    lane  = (12 if base == HOST_LOW else 16) % word
    beats = max(ceil((lane + 256) / word), ceil((endpoint % word + 256) / word))
    assert bench.data.packets[124][0] - bench.data.packets[4][0] == 120 * beats
    if (width, base) == (128, HOST_LOW):
        assert beats == 17


@pytest.mark.parametrize("width", (128, 256))
def test_reader_request_per_cycle(width):
    """Within the first KiB, a request leaves in each cycle, with one cycle between descriptors on a narrow path."""
    bench = started("reader", width, mrrs=128, latency=200)
    bench.execute(*[Descriptor(512, 512 * n, HOST_LOW + 512 * n) for n in range(4)])
    cycles = [cycle for cycle, _, _ in bench.data.requests]
    assert cycles[7] - cycles[0] == 7 + (width < PAIR_BITS)


@pytest.mark.parametrize("width, mrrs", [(64, 128), (256, 512)])
def test_reader_no_faster_than_data(width, mrrs):
    """After the first KiB, requests leave at the rate of the data path, headers included."""
    bench = started("reader", width, mrrs=mrrs, latency=2000)
    bench.execute(*[Descriptor(4096, 4096 * n, HOST_LOW + 4096 * n) for n in range(4)], limit=40000)
    requests = bench.data.requests[:bench.data.tags]
    assert sum(length for _, _, length in requests) > 3000
    spent = requests[-1][0] - requests[0][0]
    beats = lambda length: length * 8 // width + length * 8 // width // 32
    asked = sum(beats(length) for _, _, length in requests[:-1])
    # The last request of the first KiB, and the one after it, may come early.
    assert asked - beats(1024) - 2 * beats(mrrs) <= spent <= asked + 8


def chain(direction, width, size, latency=1):
    """Runs many descriptors of ``size`` bytes, each in words of its own, after one doorbell; returns the bench."""
    bench = started(direction, width, ring_log2=10, latency=latency)
    bench.execute(*[Descriptor(size, max(size, width // 8) * n % 32768, HOST_LOW + size * n % 65536)
        for n in range(max(12, min(1024, 16384 // size)))], limit=100000)
    bench.cycles(31)        # The counters' words may be that old.
    return bench


def cycles_a_tlp(bench, skip=64):
    """Cycles per TLP, without the first TLPs, which wait for descriptors, and without those of the last descriptor."""
    pieces = bench.data.packets if bench.direction == "writer" else bench.data.requests
    per    = len(pieces) // len(bench.pushed)
    first  = min(skip, len(bench.pushed) // 4) * per
    last   = (len(bench.pushed) - 2) * per
    return (pieces[last][0] - pieces[first][0]) / (last - first)


@pytest.mark.parametrize("width, size", [(128, 8), (64, 4096), (256, 64)])
def test_writer_chain(width, size):
    """A PHY that is always ready gets a beat in every cycle: header and payload share one beat."""
    bench = chain("writer", width, size)
    word  = width // 8
    beats = ceil((HEADER_3DW % word + min(size, 256)) / word)
    assert cycles_a_tlp(bench) == beats


@pytest.mark.parametrize("width, size", [(64, 4096), (256, 64)])
def test_reader_chain(width, size):
    """The reader requests ahead: the host's data fills every cycle from the first completion on.

    One descriptor, and one request, per two cycles are enough for 64 bytes at up to 256 bits.
    """
    bench = chain("reader", width, size)
    beats = len(bench.pushed) * size * 8 // width
    waits = {name: bench.read(name) for name in WAITS}
    assert bench.read64("ACTIVE") == beats + sum(waits.values())
    # From the doorbell to the first data: a fetch of 512 bytes, and 20 cycles. This host model sends no headers.
    assert sum(waits.values()) <= 512 * 8 // width + 20 + beats // 32, waits


def test_small_descriptors_with_latency(direction):
    """The prefetch hides half a microsecond of latency at 125 MHz."""
    assert cycles_a_tlp(chain(direction, 128, 8, latency=60)) <= 2.3


def test_start_up(direction):
    """The engine's own cycles in each stage of one transfer, without those of the host."""
    bench = started(direction, 128, latency=20)
    bench.cycles(20)
    bench.push(Descriptor(600, 0, HOST_LOW, interrupt=True), ring=False)
    rung = bench.now
    bench.write("DOORBELL", 1)
    bench.until(lambda: bench.descriptors.retiring)
    landed = bench.now - 1
    done   = []                        # Cycles in which ``done`` reported the last request.
    while not bench.msi.times:
        bench.cycle()
        over = bench.data.retiring if direction == "reader" else bench.data.sent
        done += [bench.now - 1] * over
    if direction == "reader":
        begun = bench.data.requests[0][0]
    else:
        begun = bench.data.packets[0][0] - 16     # The first beat of 17.
    assert bench.descriptors.requests[0][0] - rung == 6
    # A writer does not wait for the retirement of the fetch, only for the data one cycle before it.
    assert begun - landed == {"reader": 6, "writer": 12}[direction]
    assert bench.blocks_port.packets[0][0] - done[-1] == 4
    assert bench.msi.times[0] - bench.blocks[0].cycle == 2


@pytest.mark.parametrize("stall", (0, 0.3))
def test_counters(direction, stall):
    """ACTIVE, the time from the doorbell to the last byte, is the cycles that moved data plus the wait counters."""
    bench = started(direction, stall=stall, reorder=stall > 0)
    moved = 0
    model = bench.models[-1] if direction == "reader" else bench.data
    clock = model.clock
    def counting():
        nonlocal moved
        clock()
        name = "reader_memory" if direction == "reader" else "writer_data_sink"
        moved += bool(model.ready and bench.dut.get(f"{name}_valid"))
    model.clock = counting
    total = 0
    for _ in range(3):
        descriptors = bench.place_apart(bench.random_lengths(20))
        start = bench.now
        bench.execute(*descriptors)
        total += bench.now - start
        bench.cycles(100)
    active = bench.read64("ACTIVE")
    assert active == moved + sum(bench.read(name) for name in WAITS)
    assert total - 3 * 80 < active < total
    pieces = bench.data.requests if direction == "reader" else bench.data.packets
    assert bench.read("TLPS") == len(pieces)
    assert bench.read64("BYTES") == sum(length for _, _, length in pieces)
    assert bench.read("DESCRIPTORS") == 60


@pytest.mark.parametrize("direction, slow, counter", (
    ("reader", "host", "WAIT_DATA"), ("reader", "tags", "WAIT_TAG"), ("reader", "link", "WAIT_LINK"),
    ("reader", "words", "WAIT_DATA"), ("reader", "fetch", "WAIT_DESCRIPTOR"), ("writer", "link", "WAIT_LINK"),
    ("writer", "words", "WAIT_DATA"), ("writer", "fetch", "WAIT_DESCRIPTOR")))
def test_wait_reason(direction, slow, counter):
    bench = started(direction, latency=10)
    slow_down(bench, slow)
    bench.execute(*bench.place_apart([600] * 4), limit=100000)
    waits = {name: bench.read(name) for name in WAITS}
    assert max(waits, key=waits.get) == counter, waits


def slow_down(bench, what):
    """Makes the host slow, leaves one tag, or makes a port ready in one of fifty cycles."""
    if what == "tags":
        bench.data.tags = 1
    elif what in ("host", "fetch"):
        model  = bench.data if what == "host" else bench.descriptors
        accept = model.accept
        def late():
            bench.timing.latency = 600
            accept()
            bench.timing.latency = 10
        model.accept = late
    else:
        model = bench.models[-1] if what == "words" else bench.data
        drive = model.drive
        attribute, name = {
            ("reader", "link"): ("can", "reader_data_request_ready"),
            ("reader", "words"): ("ready", "reader_memory_ready"),
            ("writer", "link"): ("ready", "writer_data_sink_ready"),
            ("writer", "words"): ("ready", "writer_command_ready")}[bench.direction, what]
        def seldom():
            drive()
            if bench.now % 50:
                setattr(model, attribute, False)
                bench.dut.set(name, 0)
        model.drive = seldom
