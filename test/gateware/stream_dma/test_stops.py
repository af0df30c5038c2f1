# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Errors, resets and pauses of streams, what the user sees of them, and a clean run after each."""

import pytest

from test.gateware.dma.bench import HOST_LOW, REASON
from test.gateware.stream_dma.bench import Bench, Descriptor, fill, started

COUNT  = 20
LENGTH = 700


def descriptors(**kwargs):
    return [Descriptor(LENGTH, HOST_LOW + 3 + 1000 * n, **kwargs) for n in range(COUNT)]


def clean_reader(bench):
    """Resets a reader and moves packets: of the old data, only beats that had left the RAM may still come."""
    bench.user.stall = lambda: True
    bench.reset()
    assert bench.read("STATUS") == 2   # IDLE.
    offered = bench.user.held
    bench.user.packets, before = [bytearray()], bench.user.cut
    bench.user.stall = bench.timing.stalls
    if offered and not offered[2]:
        # It continues a packet whose beginning was accepted.
        bench.user.packets[-1] = bytearray(b"?")
    bench.start()
    bench.feed([Descriptor(LENGTH, HOST_LOW + 5 + 1000 * n, last=True) for n in range(5)])
    clean = [bench.host.read(HOST_LOW + 5 + 1000 * n, LENGTH) for n in range(5)]
    # The old beats may end the packet that was under way, so the packets are not counted.
    bench.until(lambda: len(bench.user.packets) > 5 and bench.user.packets[-2] == clean[-1])
    assert bench.user.packets[-6:-1] == clean
    assert bench.user.cut - before <= 1
    # No byte is counted twice, or not at all: not those that the reset dropped, and those that still came.
    assert bench.read("PASSED") == bench.user.count


def clean_writer(bench):
    """Resets a writer and moves packets: the first beat after the reset begins a packet."""
    bench.user.queue.clear()
    bench.user.offered = False
    bench.reset()
    assert bench.read("STATUS") == 2
    assert bench.read("PASSED") == bench.user.count
    bench.start()
    packets = [bench.rng.randbytes(length) for length in (1, LENGTH, 1500)]
    for packet in packets:
        bench.user.give(packet)
    slots = descriptors()[:5]
    bench.execute(*slots)
    assert [bench.report(n) for n in range(5)] == [report for report, _ in fill(packets, slots)]
    assert bench.host.read(slots[1].host, LENGTH) == packets[1]
    assert bench.read("PASSED") == bench.user.count


@pytest.mark.parametrize("reason, position", [("UNSUPPORTED_REQUEST", 0), ("TIMEOUT", 13)])
def test_data_fails(reason, position):
    """The user gets what landed before the failure, in whole beats, and nothing after it."""
    bench = started("reader", seed=position, stall=0.1, reorder=True, jitter=40)
    all_   = descriptors()
    byte   = all_[position].host + bench.rng.randrange(LENGTH)
    bench.data.faults = [(byte, REASON[reason])]
    bench.push(*all_)
    block  = bench.stop()
    landed = max(0, (byte & ~63) - all_[position].host)
    assert (block.reason, block.completed, block.stopped) == (REASON[reason], position, landed)
    good   = b"".join(bench.host.read(d.host, d.length) for d in all_)[:position * LENGTH + landed]
    bench.cycles(1000)
    assert bench.user.taken == good[:len(good) // bench.user.bytes * bench.user.bytes]
    bench.data.faults = []
    clean_reader(bench)


def test_reason_does_not_wait_for_the_user():
    """A bad descriptor is reported at once, even when the RAM before it is full."""
    bench = started("reader")
    bench.user.stall = lambda: True
    bench.push(Descriptor(7000, HOST_LOW), Descriptor(0, HOST_LOW))
    block = bench.stop()
    assert (block.reason, block.completed) == (REASON["ZERO_LENGTH"], 1)
    clean_reader(bench)


def test_zero_length(direction, position=13):
    bench = started(direction, stall=0.1)
    all_ = descriptors()
    all_[position].length = 0
    if direction == "writer":
        bench.user.give(bytes(COUNT * LENGTH))
    bench.push(*all_)
    block = bench.stop()
    assert (block.reason, block.completed, block.stopped) == (REASON["ZERO_LENGTH"], position, 0)
    (clean_reader if direction == "reader" else clean_writer)(bench)


@pytest.mark.parametrize("position", (0, 1, 40))
def test_write_dropped(position):
    """With bus mastering off, the buffer does not complete; earlier ones are counted."""
    bench = started("writer", latency=5)
    bench.user.give(bytes(COUNT * LENGTH))
    sent = 0
    def dropping():
        nonlocal sent
        bench.data.drop = bench.blocks_port.drop = sent >= position
        drive()
        sent += bench.data.sent
    drive, bench.data.drive = bench.data.drive, dropping
    bench.push(*descriptors())
    bench.until(lambda: bench.flag("STOPPED"))
    # A buffer is three TLPs and its report; a dropped report is an error too.
    assert bench.reason == REASON["BUS_MASTER"]
    reports = sum(address >= bench.status for _, address, _ in bench.data.packets[:position])
    assert bench.read("COMPLETED") == reports
    bench.data.drive = drive
    bench.data.drop  = bench.blocks_port.drop = False
    clean_writer(bench)


@pytest.mark.parametrize("cycles", (20, 45, 100, 333))
def test_reset_in_the_middle(direction, cycles):
    bench = started(direction, seed=cycles, stall=0.1, reorder=True, jitter=40)
    if direction == "writer":
        for n in range(COUNT):
            bench.user.give(bytes(LENGTH + 100 * (n % 3)))
    bench.push(*descriptors(last=True))
    bench.cycles(cycles)
    (clean_reader if direction == "reader" else clean_writer)(bench)


def test_reset_does_not_wait_for_the_user():
    """A reset completes even if the user accepts nothing, or sends nothing."""
    reader = started("reader")
    reader.user.stall = lambda: True
    reader.push(*descriptors())
    reader.cycles(2000)
    reader.reset(limit=50)
    writer = started("writer")
    writer.push(*descriptors())
    writer.user.give(bytes(64), last=False)
    writer.cycles(500)
    writer.reset(limit=50)

@pytest.mark.parametrize("marks", (True, False))
def test_the_rest_of_a_cut_packet_is_dropped(marks):
    """A user that runs freely: what the host gets after a reset in the middle of a packet begins with a packet."""
    bench = Bench("writer", stall=0.2)
    bench.start()
    packets = [bench.rng.randbytes(LENGTH) for _ in range(8)]
    for packet in packets:
        bench.user.give(packet)
    if not marks:
        bench.user.queue = [(dat, be, 0, last) for dat, be, _, last in bench.user.queue]
    bench.push(*descriptors())
    bench.until(lambda: len(bench.user.queue) <= 5.5*len(bench.user.queue + bench.user.beats)/8)
    bench.reset()
    cut = LENGTH*8 - bench.user.count   # Bytes that the user still has: the rest of a packet, and whole ones.
    assert cut % LENGTH, f"the reset came between two packets: {bench.user.count} bytes were taken"
    bench.start()
    slots = descriptors()[:8]
    bench.push(*slots)
    bench.until(lambda: not bench.user.queue)
    bench.cycles(2000)
    whole = packets[-(cut // LENGTH):]
    got   = [bench.report(n) for n in range(len(whole))]
    assert got == [report for report, _ in fill(whole, slots)], f"buffers (bytes, end) {got}"
    assert [bench.host.read(slot.host, LENGTH) for slot in slots[:len(whole)]] == whole
    assert bench.read("PASSED") == 8*LENGTH


def test_nothing_of_a_stream_without_packets_is_dropped():
    bench = Bench("writer")
    bench.start()
    data = bench.rng.randbytes(16*400)
    bench.user.give(data, last=False)
    bench.push(*descriptors())
    bench.until(lambda: len(bench.user.beats) > 100)
    bench.reset()
    left = data[bench.user.count:]
    bench.start()
    slots = [Descriptor(1024, HOST_LOW + 1024*n) for n in range(4)]
    bench.push(*slots)
    bench.until(lambda: not bench.user.queue)
    bench.cycles(1000)
    count = len(left) // 1024
    assert count and b"".join(bench.host.read(slot.host, 1024) for slot in slots)[:len(left) // 1024*1024] == \
        left[:min(count, 4)*1024]


@pytest.mark.parametrize("width, stall, ends", [(64, 0.2, True), (512, 0, True), (64, 0, False), (512, 0.2, False)])
def test_a_packet_without_an_end(width, stall, ends):
    """A user that forwards packets which a reset cut, or whose logic has no `last`: each arrives by itself, and none of
    these looks whole. Without any `last`, a flush often sends all of a packet before the next one cuts it."""
    bench = Bench("writer", width, seed=width, stall=stall, ring_log2=9, mps=128)
    bench.start()
    lanes, expected = width // 8, []
    if not ends:
        bench.write("FLUSH_US", 1)
        bench.user.stall = lambda: bench.rng.random() < 0.95
    for _ in range(60):
        cut    = not ends or bench.rng.random() < 0.5
        packet = bench.rng.randbytes(bench.rng.randint(1, 6)*lanes - (0 if cut else bench.rng.randrange(lanes)))
        expected.append((packet, "cut" if cut else "whole"))
        bench.user.give(packet, last=not cut)
    bench.user.give(b"end" if ends else bytes(lanes), last=ends)
    expected += [(b"end", "whole"), (b"", "goes on")] if ends else [(bytes(lanes), "goes on")]
    slots = [Descriptor(bench.rng.choice((100, 128, 256, 512)), HOST_LOW + 512*n) for n in range(400)]
    bench.push(*slots)
    bench.until(lambda: not bench.user.queue)
    bench.cycles(1000)
    slots = slots[:bench.read("COMPLETED")]
    assert bench.received(slots) == expected
    assert all(bench.report(n)[0] for n in range(len(slots)))
    assert ends or len(slots) > 2*len(expected), "no flush divides the packets"


def test_the_rest_of_the_first_packet():
    """Before its first ``last``, a user may have no packets, so the rest is not dropped. It must not look whole."""
    bench = Bench("writer", stall=0.2)
    bench.start()
    first, second = bench.rng.randbytes(LENGTH), bench.rng.randbytes(LENGTH)
    bench.user.give(first)
    bench.push(*descriptors())
    bench.until(lambda: len(bench.user.beats) > 20)
    bench.reset()
    rest = first[bench.user.count:]
    bench.start()
    bench.user.give(second)
    slots = descriptors()[:4]
    bench.push(*slots)
    bench.until(lambda: not bench.user.queue)
    bench.cycles(1000)
    assert rest and bench.received(slots[:bench.read("COMPLETED")]) == [
        (rest, "cut"), (second, "whole"), (b"", "goes on")]


def test_sink_is_not_ready_while_off():
    bench = Bench("writer")
    bench.user.give(bytes(100))
    bench.cycles(100)
    assert not bench.user.beats
    bench.start()
    bench.cycles(100)
    taken = len(bench.user.beats)
    assert taken == 7
    bench.reset()
    bench.user.give(bytes(100))
    bench.cycles(100)
    assert len(bench.user.beats) == taken


def test_pause_loses_nothing():
    """Without ENABLE the buffer that has begun still fills, but no other; with it, the packets continue."""
    bench = started("writer")
    packets = [bench.rng.randbytes(1000) for _ in range(8)]
    bench.user.give(packets[0][:512], last=False)
    slots = descriptors()[:16]
    bench.push(*slots)
    bench.cycles(300)
    bench.enable(False)
    bench.cycles(300)
    assert bench.read("COMPLETED") == 0 and not bench.flag("IDLE")
    bench.user.give(packets[0][512:], first=False)
    for packet in packets[1:]:
        bench.user.give(packet)
    bench.cycles(2000)
    assert bench.read("COMPLETED") == 1 and bench.flag("IDLE")
    bench.enable()
    bench.finish()
    expected = fill(packets, slots)
    assert [bench.report(n) for n in range(16)] == [report for report, _ in expected]
    for _, pieces in expected:
        assert all(bench.host.read(host, len(data)) == data for host, data in pieces)
