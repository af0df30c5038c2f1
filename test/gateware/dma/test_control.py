# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""ENABLE, RESET, DOORBELL and the registers, at any time of a transfer; doorbells that the host must not write.
That every legal one reaches the ring, at any time: test/formal/test_splitters.py."""

from dataclasses import replace

import pytest

from test.gateware.dma.bench import Bench, Descriptor, HOST_LOW, REASON, REGS, started, WAITS
from test.gateware.dma.dut import NEAR_WRAP
from test.gateware.dma.test_stops import run_clean


def test_largest_ring():
    bench = started("reader", ring_log2=12, reorder=True)
    descriptors = bench.place_apart([bench.rng.randint(1, 6) for _ in range(4096)], guard=2)
    bench.execute(*descriptors, limit=100000)
    bench.check(descriptors)


def test_pause(direction):
    """Without ENABLE the engine pauses after a whole descriptor; with it, the rest follows."""
    bench = started(direction, stall=0.2, reorder=True, jitter=30, mrrs=128)
    descriptors = bench.place_apart(bench.rng.choices((1, 40, 300, 2500), k=40))
    bench.push(*descriptors)
    paused = set()
    while bench.completed < 40:
        bench.enable(False)
        bench.until(lambda: bench.flag("IDLE"))
        assert not bench.flag("RUNNING")
        done = bench.read("COMPLETED")
        assert bench.completed == done
        assert bench.read64("BYTES") == sum(d.length for d in descriptors[:done])
        bench.check(descriptors[:done])
        active = bench.read64("ACTIVE")
        bench.cycles(50)
        assert (bench.read("COMPLETED"), bench.read64("ACTIVE")) == (done, active)
        paused.add(done)
        bench.enable()
        assert bench.flag("RUNNING")
        bench.cycles(bench.rng.randint(10, 150))
    assert len(paused) > 5
    bench.finish()
    bench.check(descriptors)


@pytest.mark.parametrize("direction, by_register", [("reader", True), ("writer", True), ("writer", False)])
def test_reset_at_any_time(direction, by_register):
    """A reset in each phase of a transfer drains the requests in flight, and the next run is clean."""
    bench = Bench(direction, stall=0.2, reorder=True, jitter=100, latency=60)
    for delay in (0, 1, 3, 10, 40, 65, 75, 90, 150, 200, 300):
        bench.start()
        bench.push(*bench.place_apart(bench.random_lengths(30, 1000)))
        bench.cycles(delay)
        if not by_register:
            bench.dut.set(f"{direction}_reset", 1)
            bench.cycle()
            bench.dut.set(f"{direction}_reset", 0)
            bench.cycle()
            assert bench.dut.get(f"{direction}_resetting")
            bench.until(lambda: not bench.dut.get(f"{direction}_resetting"), 2000)
        bench.reset()
        assert not bench.descriptors.issued and bench.data.idle
        assert bench.read("CONTROL") == 0 and bench.read("STATUS") == 2
        assert bench.read("DOORBELL") == bench.read("COMPLETED") == bench.read64("BYTES") == 0
        for name in ("DESCRIPTORS", "TLPS", *WAITS):
            assert bench.read(name) == 0
        requests = len(bench.descriptors.requests)
        bench.cycles(50)
        assert len(bench.descriptors.requests) == requests
        bench.expect()
        descriptors = bench.place_apart(bench.random_lengths(10, 300))
        bench.start()
        bench.execute(*descriptors)
        bench.check(descriptors)
        assert bench.completed == 10
        bench.reset()


def test_reset_of_waiting_msi(direction="reader"):
    bench = Bench(direction)
    bench.msi.block = True
    bench.start()
    bench.execute(Descriptor(8, 0, HOST_LOW, interrupt=True))
    bench.cycles(50)
    bench.reset(100)
    bench.msi.block = False
    bench.cycles(100)
    assert not bench.msi.times


def test_registers_read_back():
    bench = Bench("writer")
    for name, value in (("RING_LO", 0x12345678), ("RING_HI", 0x9abcdef0), ("RING_LOG2", 12),
        ("STATUS_ADDRESS_LO", 0xdeadbee0), ("STATUS_ADDRESS_HI", 0x01020304),
        ("MODERATION", 0x00640010), ("INTERRUPT", 0x11f)):
        bench.write(name, value)
        bench.cycles(2)   # The value reads back two cycles after the write; LiteX's bridge reads no earlier.
        assert bench.read(name) == value
    for offset in range(0x2c, 0x40, 4):
        REGS["ENGINE_HOLE"] = offset
        bench.write("HOLE", 0xffffffff)
        assert bench.read("HOLE") == 0
    del REGS["ENGINE_HOLE"]


def test_ring_registers_while_enabled(direction="reader"):
    """Writes to the registers of ring and status block do nothing while the engine is enabled, and read back as before;
    the same holds in a pause before the engine is idle."""
    bench = Bench(direction, ring_log2=3, stall=0.1)
    names = ("RING_LO", "RING_HI", "RING_LOG2", "STATUS_ADDRESS_LO", "STATUS_ADDRESS_HI")
    bench.start()
    before = [bench.read(name) for name in names]
    bench.expect()
    descriptors = bench.place_apart([30] * 60, guard=4)
    for at, descriptor in enumerate(descriptors):
        descriptor.interrupt = at % 4 == 0
        bench.until(lambda: bench.doorbell - bench.completed < 8)
        fetches = len(bench.descriptors.requests)
        bench.push(descriptor)
        bench.write(bench.rng.choice(names), bench.rng.getrandbits(32))
        if at % 10 == 3:
            # The fetch is outstanding for twenty cycles, so the engine is not idle.
            bench.until(lambda: len(bench.descriptors.requests) > fetches)
            bench.enable(False)
            bench.write(bench.rng.choice(names), bench.rng.getrandbits(32))
            bench.enable()
    bench.finish()
    bench.check(descriptors)
    assert [bench.read(name) for name in names] == before


def test_ring_registers_while_paused():
    """In a pause the host may move ring and status block, once the engine is idle."""
    bench = started("reader", ring_log2=3)
    descriptors = bench.place_apart([30] * 8)
    bench.execute(*descriptors[:3])
    bench.enable(False)
    bench.until(lambda: bench.flag("IDLE"))
    bench.ring   += 0x8000
    bench.status += 0x1000
    bench.host.add(bench.ring, bytes(128))
    bench.host.add(bench.status, bytes(16))
    bench.start()
    bench.execute(*descriptors[3:])
    bench.check(descriptors)


def test_low_half_latches_high():
    """ACTIVE is one consistent value, although the two halves are read while it wraps at 2^32."""
    bench = started("reader", latency=2000, first_count=NEAR_WRAP)
    bench.push(*bench.place_apart([100]))
    low = bench.read("ACTIVE_LO")
    assert NEAR_WRAP <= low
    bench.cycles(100)                          # Past 2^32.
    assert bench.read("ACTIVE_HI") == 0
    assert bench.read("ACTIVE_LO") < 200
    assert bench.read("ACTIVE_HI") == 1


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
