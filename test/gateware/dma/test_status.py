#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Status block and MSI: when, what, in which order, how many."""

import pytest

from test.gateware.dma.bench import Bench

pytestmark = pytest.mark.unit

DIRECTIONS = ("reader", "writer")


def moderation(count, us):
    return us << 16 | count


def with_interrupts(bench, count, length=64):
    descriptors = bench.place_apart([length] * count)
    for descriptor in descriptors:
        descriptor.interrupt = True
    return descriptors


@pytest.mark.parametrize("status", (0x0030_0040, 0x56_0000_1230), ids=("3dw", "4dw"))
@pytest.mark.parametrize("width", (64, 128, 256))
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_block(direction, width, status):
    """Without INTERRUPT: one block when everything is done, and no message."""
    bench = Bench(direction, width, status=status)
    bench.start()
    bench.push(*bench.place_apart([100, 200, 300]))
    bench.finish()
    bench.cycles(200)
    block = bench.blocks[-1]
    assert (block.completed, block.reason, block.stopped, block.bytes) == (3, 0, 0, 600)
    assert len(bench.blocks) == 1 and not bench.msi.times


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_interrupt(direction):
    """A descriptor with INTERRUPT is told of while others follow it, then its message comes."""
    bench = Bench(direction)
    bench.start()
    descriptors = bench.place_apart([100, 3000, 3000, 3000])
    descriptors[0].interrupt = True
    bench.push(*descriptors)
    bench.until(lambda: bench.blocks)
    assert bench.completed < 4 and not bench.msi.times
    bench.until(lambda: bench.msi.times, 20)
    bench.finish()
    bench.cycles(200)
    assert [block.completed for block in bench.blocks][-1] == 4
    assert len(bench.msi.times) == 1


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_every_interrupt_is_told(direction):
    """Messages stand behind blocks that report the descriptors they are for."""
    bench = Bench(direction, stall=0.2)
    bench.start()
    descriptors = with_interrupts(bench, 40)
    bench.push(*descriptors)
    bench.finish()
    bench.until(lambda: bench.msi.times and bench.msi.times[-1] > bench.blocks[-1].cycle)
    bench.cycles(100)
    # Blocks coalesce, but each has its message, and the last block has everything.
    assert 1 < len(bench.blocks) <= 40
    times = [block.cycle for block in bench.blocks]
    for before, after in zip(times, [*times[1:], bench.now]):
        assert sum(before < time <= after for time in bench.msi.times) == 1


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_moderation_count(direction):
    bench = Bench(direction)
    bench.start(moderation(8, 60000))
    for descriptor in with_interrupts(bench, 32, 8):
        bench.push(descriptor)
        bench.finish()       # One at a time: one interrupt a block.
    bench.cycles(100)
    assert len(bench.blocks) == 32
    assert len(bench.msi.times) == 4


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_moderation_time(direction):
    """Four cycles are a microsecond; the first interrupt that waits starts the time."""
    bench = Bench(direction)
    bench.start(moderation(1000, 250))
    for descriptor in with_interrupts(bench, 5, 8):
        bench.push(descriptor)
        bench.finish()
    first = bench.blocks[0].cycle
    bench.until(lambda: bench.msi.times, 1200)
    assert 950 < bench.msi.times[0] - first < 1050
    bench.cycles(2000)
    assert len(bench.msi.times) == 1
    bench.push(*with_interrupts(bench, 1, 8))
    bench.finish()
    bench.until(lambda: len(bench.msi.times) == 2, 1200)
    assert 950 < bench.msi.times[1] - bench.blocks[-1].cycle < 1050


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_moderation_while_busy(direction):
    """Interrupts without end: messages come as often as they may, blocks more often."""
    bench = Bench(direction, ring_log2=4)
    bench.start(moderation(65535, 100))
    start = bench.now
    bench.feed(with_interrupts(bench, 300, 64))
    time = bench.now - start
    assert time / 400 - 2 <= len(bench.msi.times) <= time / 400 + 1
    assert len(bench.msi.times) >= 2
    assert all(b - a >= 400 for a, b in zip(bench.msi.times, bench.msi.times[1:]))


@pytest.mark.parametrize("zero", (moderation(0, 1000), moderation(1000, 0)))
def test_moderation_zero(zero):
    bench = Bench("reader")
    bench.start(zero)
    for descriptor in with_interrupts(bench, 4, 8):
        bench.push(descriptor)
        bench.finish()
        bench.cycles(20)
    assert len(bench.msi.times) == 4


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_stop_is_not_moderated(direction):
    bench = Bench(direction)
    bench.start(moderation(1000, 60000))
    descriptors = with_interrupts(bench, 4, 8)
    descriptors[3].length = 0
    bench.push(*descriptors)
    block = bench.stop(1000)
    assert block.completed == 3
    assert len(bench.msi.times) == 1 and bench.msi.times[0] > block.cycle


def test_slow_block():
    """What is completed while a block is on its way is told by the next one."""
    bench = Bench("reader", latency=400)
    bench.start()
    first, second = with_interrupts(bench, 2)
    bench.push(first)
    bench.until(lambda: bench.blocks_port.packets)
    bench.timing.latency = 10
    bench.push(second)
    bench.finish()
    assert [block.completed for block in bench.blocks] == [1, 2]
    bench.until(lambda: len(bench.msi.times) == 2, 50)
