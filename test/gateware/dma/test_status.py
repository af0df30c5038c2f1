# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Status block and MSI: their times, contents, order and number. Both engines have the same unit."""

import pytest

from test.gateware.dma.bench import REASON, REGS, Bench, started


@pytest.fixture
def direction():
    return "writer"


def moderation(count, us):
    return us << 16 | count


def with_interrupts(bench, count, length=64):
    descriptors = bench.place_apart([length] * count)
    for descriptor in descriptors:
        descriptor.interrupt = True
    return descriptors


@pytest.mark.parametrize("direction, width, status", [("reader", 128, 0x0030_0040), ("writer", 64, 0x56_0000_1230)])
def test_block(direction, width, status):
    """Without INTERRUPT there is one block when everything is done, and no MSI."""
    bench = started(direction, width, status=status)
    bench.execute(*bench.place_apart([100, 200, 300]))
    bench.cycles(200)
    block = bench.blocks[-1]
    assert (block.completed, block.reason, block.stopped, block.bytes) == (3, 0, 0, 600)
    assert len(bench.blocks) == 1 and not bench.msi.times


def test_every_interrupt_is_reported(direction):
    """Each MSI comes after a block that reports the descriptors it is for."""
    bench = started(direction, stall=0.2)
    descriptors = with_interrupts(bench, 40)
    bench.execute(*descriptors)
    bench.until(lambda: bench.msi.times and bench.msi.times[-1] > bench.blocks[-1].cycle)
    bench.cycles(100)
    # Blocks may report several interrupts, but each block has its MSI, and the last block reports everything.
    assert 1 < len(bench.blocks) <= 40
    times = [block.cycle for block in bench.blocks]
    for before, after in zip(times, [*times[1:], bench.now]):
        assert sum(before < time <= after for time in bench.msi.times) == 1


def test_moderation_count(direction):
    bench = Bench(direction)
    bench.start(moderation(8, 60000))
    for descriptor in with_interrupts(bench, 32, 8):
        bench.push(descriptor)
        bench.finish()       # One at a time: one interrupt per block.
    bench.cycles(100)
    assert len(bench.blocks) == 32
    assert len(bench.msi.times) == 4


def test_moderation_time(direction):
    """The time starts with the first interrupt that waits. A microsecond is four cycles here."""
    bench = Bench(direction)
    bench.start(moderation(1000, 250))
    for descriptor in with_interrupts(bench, 5, 8):
        bench.execute(descriptor)
    first = bench.blocks[0].cycle
    bench.until(lambda: bench.msi.times, 1200)
    assert 950 < bench.msi.times[0] - first < 1050
    bench.cycles(2000)
    assert len(bench.msi.times) == 1
    bench.execute(*with_interrupts(bench, 1, 8))
    bench.until(lambda: len(bench.msi.times) == 2, 1200)
    assert 950 < bench.msi.times[1] - bench.blocks[-1].cycle < 1050


@pytest.mark.parametrize("zero", (moderation(0, 1000), moderation(1000, 0)))
def test_moderation_zero(zero):
    bench = Bench("reader")
    bench.start(zero)
    for descriptor in with_interrupts(bench, 4, 8):
        bench.execute(descriptor)
        bench.cycles(20)
    assert len(bench.msi.times) == 4


def test_an_idle_engine_does_not_moderate(direction):
    """A lone descriptor has its MSI at once; while descriptors follow, the count decides."""
    bench = Bench(direction, ring_log2=5)
    bench.start(moderation(8, 60000), REGS["ENGINE_INTERRUPT_IDLE"])
    for n, descriptor in enumerate(with_interrupts(bench, 4, 64)):
        bench.execute(descriptor)
        bench.until(lambda: len(bench.msi.times) == n + 1, 20)
    before = len(bench.msi.times)
    bench.execute(*with_interrupts(bench, 30, 1000))
    bench.until(lambda: bench.msi.times[-1] > bench.blocks[-1].cycle, 20)
    assert 2 <= len(bench.msi.times) - before <= 4


def test_vector():
    bench = Bench("writer")
    bench.msi.vector = 21
    bench.start(interrupt=21)
    bench.execute(*with_interrupts(bench, 3))
    bench.until(lambda: bench.msi.times)


def test_stop_is_not_moderated(direction):
    bench = Bench(direction)
    bench.start(moderation(1000, 60000))
    descriptors = with_interrupts(bench, 4, 8)
    descriptors[3].length = 0
    bench.push(*descriptors)
    block = bench.stop(1000)
    assert block.completed == 3
    assert len(bench.msi.times) == 1 and bench.msi.times[0] > block.cycle


def test_block_ends_when_engine_stops(direction):
    """A stop is reported, with an MSI, in any state of the previous block."""
    for latency in range(5, 60, 2):
        bench = started(direction, latency=10)
        descriptors = with_interrupts(bench, 3, 8)
        descriptors[2].length = 0
        take_blocks_after(bench, latency)
        bench.push(*descriptors)
        block = bench.stop(1000)
        assert (block.completed, block.reason) == (2, REASON["ZERO_LENGTH"])
        bench.cycles(200)
        assert bench.blocks[-1] == block and bench.msi.times[-1] > block.cycle
        assert bench.flag("IDLE")


def test_interrupt_while_block_begins(direction):
    """An interrupt in the same cycle in which a block begins is reported by the next block."""
    for latency in range(5, 60):
        bench = started(direction, latency=10, mrrs=128)
        take_blocks_after(bench, latency)
        bench.push(*with_interrupts(bench, 20, 8), *bench.place_apart([40000]))
        bench.until(lambda: bench.completed == 20, 300)
        bench.until(lambda: bench.msi.times and bench.msi.times[-1] > bench.blocks[-1].cycle, 50)
        assert bench.read("COMPLETED") == 20


def take_blocks_after(bench, latency):
    """Status blocks take ``latency`` cycles to the PHY; everything else is unchanged."""
    clock = bench.blocks_port.clock
    def slow():
        before, bench.timing.latency = bench.timing.latency, latency
        clock()
        bench.timing.latency = before
    bench.blocks_port.clock = slow


@pytest.mark.parametrize("beats", (1, 2, 3))
def test_reset_in_block(beats):
    """A block that has begun is sent whole at a reset; its ``sent`` does not count for the next block."""
    bench = started("reader", 64, latency=30)
    bench.push(*with_interrupts(bench, 1))
    bench.until(lambda: bench.blocks_port.beats == beats)
    bench.reset()
    assert bench.blocks_port.idle and bench.blocks_port.beats == 3
    bench.start()
    bench.push(*with_interrupts(bench, 1))
    bench.until(lambda: bench.msi.times)
    assert bench.blocks and bench.msi.times[0] > bench.blocks[0].cycle


def test_dropped_block_is_told_again(direction):
    """Blocks are dropped from any time on around the first; later there is a block, then its MSI."""
    for off in range(30, 130, 2):
        bench = started(direction, latency=10)
        bench.push(*with_interrupts(bench, 1))
        bench.until(lambda: bench.now >= off)
        bench.blocks_port.drop = True
        bench.dut.set(f"{direction}_can_send", 0)
        told, messages = len(bench.blocks), len(bench.msi.times)
        bench.cycles(200)
        assert bench.read("COMPLETED") == 1
        assert (len(bench.blocks), len(bench.msi.times)) == (told, messages)
        bench.bus_master(True)
        bench.finish(100)
        bench.cycles(50)
        assert len(bench.blocks) == 1 and bench.completed == 1
        assert len(bench.msi.times) == 1 and bench.msi.times[0] > bench.blocks[0].cycle


@pytest.mark.parametrize("direction", ("reader", "writer"))
def test_dropped_block_of_a_stop(direction):
    bench = started(direction)
    bench.bus_master(False)
    bench.push(*with_interrupts(bench, 2)) if direction == "writer" else bench.write("DOORBELL", 1000)
    bench.until(lambda: bench.flag("STOPPED"), 1000)
    bench.cycles(300)
    assert not bench.blocks and not bench.msi.times
    bench.bus_master(True)
    block = bench.stop(100)
    assert block.reason == REASON["BUS_MASTER" if direction == "writer" else "DOORBELL"]
    bench.cycles(100)
    assert len(bench.blocks) == len(bench.msi.times) == 1


def test_dropped_block_after_a_delayed_interrupt():
    """The MSI of an earlier block, which moderation delays, waits for the block that is told again."""
    bench = Bench("reader")
    bench.start(moderation(2, 60000))
    first, second = with_interrupts(bench, 2)
    bench.execute(first)
    bench.blocks_port.drop = True
    bench.push(second)
    packets = len(bench.blocks_port.packets)
    bench.until(lambda: len(bench.blocks_port.packets) > packets)
    bench.bus_master(False)
    bench.cycles(200)
    assert bench.completed == 1 and not bench.msi.times
    bench.bus_master(True)
    bench.finish(100)
    bench.cycles(50)
    assert len(bench.msi.times) == 1 and bench.msi.times[0] > bench.blocks[-1].cycle


def test_reset_while_a_block_waits(direction):
    bench = started(direction)
    bench.push(*with_interrupts(bench, 1))
    bench.until(lambda: bench.read("COMPLETED"))
    bench.bus_master(False)
    bench.cycles(100)
    bench.reset(200)
    bench.cycles(100)
    told = len(bench.blocks)
    bench.bus_master(True)
    bench.cycles(100)
    assert len(bench.blocks) == told, "a block of before the reset"


def test_no_msi_while_bus_mastering_is_off():
    """Also not if the block was sent before: an MSI is a memory write of the card."""
    bench = Bench("reader", latency=10)
    bench.msi.block = True
    bench.start()
    bench.push(*with_interrupts(bench, 1))
    bench.until(lambda: bench.dut.get("reader_msi_valid"))
    bench.bus_master(False)
    bench.msi.block = False
    bench.cycles(100)
    assert not bench.msi.times
    bench.bus_master(True)
    bench.until(lambda: bench.msi.times, 20)
