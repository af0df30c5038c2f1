# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The writer of a stream: bytes, packets, reports, and the flush of what waits."""

import pytest

from test.gateware.dma.bench import HOST_HIGH, HOST_LOW, TABLES, Link
from test.gateware.dma.dut import CLK_FREQ
from test.gateware.stream_dma.bench import Bench, Descriptor, fill, started

LENGTHS = (1, 2, 3, 4, 63, 64, 65, 255, 256, 257, 1000, 4097)
OFFSETS = (0, 1, 3, 31, 4095)


def run(bench, packets, slots):
    """Sends ``packets``, which must fill all of ``slots``; checks host memory and reports."""
    expected = fill(packets, slots)
    assert len(expected) == len(slots), "packets do not fill the slots"
    for packet in packets:
        bench.user.give(packet)
    while slots:
        now, slots = slots[:1 << bench.ring_log2], slots[1 << bench.ring_log2:]
        first = bench.doorbell
        bench.expect()
        low, high = bytearray(bench.low), bytearray(bench.high)
        bench.execute(*now, limit=100000)
        for n, (report, pieces) in enumerate(expected[:len(now)]):
            assert bench.report((first + n) % (1 << bench.ring_log2)) == report, f"slot {n}"
            for host, data in pieces:
                image, base = (low, HOST_LOW) if host < HOST_HIGH else (high, HOST_HIGH)
                image[host - base:host - base + len(data)] = data
        assert bench.low == low and bench.high == high
        expected = expected[len(now):]
    assert not bench.user.queue


def apart(bench, lengths):
    """Descriptors of ``lengths`` at separate addresses."""
    at = {HOST_LOW: HOST_LOW + bench.rng.randrange(4096), HOST_HIGH: HOST_HIGH + 5}
    descriptors = []
    for length in lengths:
        base = bench.rng.choice((HOST_LOW, HOST_HIGH))
        descriptors.append(Descriptor(length, at[base], bench.rng.random() < 0.2))
        at[base] += length + bench.rng.randint(1, 40)
    return descriptors


@pytest.mark.parametrize("width, base", [(128, HOST_LOW), (64, HOST_HIGH)])
def test_lengths_and_offsets(width, base):
    """One packet per buffer, at every alignment."""
    bench = started("writer", width)
    for offset in OFFSETS:
        packets = [bench.rng.randbytes(length) for length in LENGTHS]
        run(bench, packets, [Descriptor(5000, base + 8192 * n + offset) for n in range(len(packets))])
    assert bench.read("DESCRIPTORS") == len(OFFSETS) * len(LENGTHS)
    assert bench.read64("BYTES") == len(OFFSETS) * sum(LENGTHS)


@pytest.mark.parametrize("width, seed", [(512, 1), (64, 3)])
def test_random(width, seed):
    """Packets across several buffers, stalls on all ports, a ring that wraps."""
    bench = Bench("writer", width, seed=seed, ring_log2=1 + seed, latency=10,
        stall=(0, 0.1, 0.3, 0.6)[seed], mps=(128, 256, 512, 128)[seed])
    bench.start()
    for _ in range(3):
        run(bench, *packets_and_buffers(bench, 30, 2000))


def packets_and_buffers(bench, count, longest):
    packets, slots = [bench.rng.randbytes(length) for length in bench.random_lengths(count, longest)], []
    while sum(ends for (_, ends), _ in fill(packets, slots)) < count:
        slots = apart(bench, bench.random_lengths(4 * count, 1000))
    return packets, slots[:len(fill(packets, slots))]


def test_buffer_as_long_as_its_packet():
    """A packet that ends with its buffer full uses one buffer: no empty one follows."""
    bench = started("writer")
    lengths = (1, 16, 100, 256, 512, 1000)
    run(bench, [bench.rng.randbytes(length) for length in lengths], apart(bench, lengths))


def test_tables():
    """A table is one scattered buffer; the part that a packet does not fill is skipped."""
    bench = started("writer", stall=0.2)
    packets = [bench.rng.randbytes(length) for length in (10, 400, 401, 1000, 3, 800, 1)]
    tables  = [apart(bench, bench.random_lengths(6, 300)) for _ in range(40)]
    slots   = []
    for n, table in enumerate(tables):
        # Separate addresses for all of them.
        for m, descriptor in enumerate(table):
            descriptor.host = HOST_LOW + 3000 * n + 400 * m + bench.rng.randrange(100)
        slots.append(Link(table, TABLES + 1024 * n, interrupt=n % 3 == 0))
    run(bench, packets, slots[:len(fill(packets, slots))])


def test_largest_tlp():
    """With an MPS of the RAM's size, TLPs are half of the RAM, which always fit."""
    bench = started("writer", 64, mps=4096)
    run(bench, [bench.rng.randbytes(10000)], [Descriptor(12000, HOST_LOW + 100)])
    assert {length for _, _, length in bench.data.packets[1:4]} == {2048}


def test_interrupt_of_a_slot():
    """INTERRUPT of a LINK or anywhere in its table causes one interrupt for the buffer."""
    bench = started("writer")
    table = [Descriptor(100, HOST_LOW), Descriptor(100, HOST_LOW + 100, interrupt=True)]
    links = Link(table, TABLES), Link(table[:1] * 2, TABLES, interrupt=True), Link(table[::-1], TABLES)
    for n, (link, length) in enumerate(zip(links, (50, 50, 150))):
        bench.user.give(bytes(length))
        bench.execute(link)
        bench.cycles(100)
        assert len(bench.msi.times) == n + 1


def test_reports_across_4_gib():
    """The order of data, reports and status blocks is a rule of the simulator: test/sim."""
    bench = started("writer", stall=0.2, latency=40, status=0x1_ffff_ff40)
    run(bench, *packets_and_buffers(bench, 40, 1200))
    assert bench.read("TLPS") == len(bench.data.packets) - bench.read("COMPLETED")


US = int(CLK_FREQ/1e6)  # Cycles.


def start(*args, us, **kwargs):
    bench = started("writer", *args, **kwargs)
    bench.write("FLUSH_US", us)
    return bench


def contents(bench, slot, entry):
    """What the report of a slot says: (bytes in the buffer, whether the packet ends)."""
    length, ends = bench.report(slot % (1 << bench.ring_log2))
    pieces, left = b"", length
    for descriptor in entry.table if isinstance(entry, Link) else [entry]:
        pieces += bench.host.read(descriptor.host, min(left, descriptor.length))
        left   -= min(left, descriptor.length)
    assert not left, "more bytes than the buffer has"
    return pieces, ends


def test_data_without_an_end():
    """Bytes that do not fill a TLP arrive; the rest of the packet goes to the next buffer."""
    bench = start(us=20, mps=256)
    first, second = Descriptor(8192, HOST_LOW + 16), Descriptor(8192, HOST_LOW + 16384)
    data = bench.rng.randbytes(1024)
    bench.push(first, second)
    bench.user.give(data, last=False)
    bench.until(lambda: not bench.user.queue, 2000)
    given = bench.now
    bench.until(lambda: bench.report(0)[0], 2000)
    assert bench.now - given <= 21*US + 40
    assert contents(bench, 0, first) == (data, False)
    assert [length for _, _, length in bench.data.packets] == [240, 256, 256, 256, 16, 4]
    bench.user.give(b"end", first=False)
    bench.finish()
    assert contents(bench, 1, second) == (b"end", True)


def test_data_before_the_buffer():
    """The time begins when there is a buffer."""
    bench = start(us=30)
    bench.push(Descriptor(16, HOST_LOW))
    bench.user.give(bytes(16 + 512 + 16), last=False)
    bench.until(lambda: not bench.user.queue, 2000)
    bench.cycles(100*US)
    slot = Descriptor(4096, HOST_LOW + 64)
    bench.push(slot)
    began = bench.now
    bench.until(lambda: bench.report(1)[0], 2000)
    assert bench.now - began > 29*US
    assert bench.report(1) == (528, False)


@pytest.mark.parametrize("width, seed", [(128, 0), (128, 1)])
def test_no_byte_is_lost(width, seed):
    """Packets that arrive in parts, with pauses about as long as the limit: the buffers together hold all bytes.

    The user cuts some of them.
    """
    bench   = start(width, us=3 + seed, seed=seed, ring_log2=4, stall=(0, 0.2, 0.5)[seed % 3], mps=128 << seed % 3)
    rng     = bench.rng
    entries = []
    for n in range(1000):
        at = HOST_LOW + 1250*(n % 100) + rng.randrange(40)
        lengths = [rng.randint(1, 400) for _ in range(rng.randint(1, 3))]
        parts   = [Descriptor(length, at + sum(lengths[:m]), interrupt=True) for m, length in enumerate(lengths)]
        entries.append(parts[0] if len(parts) == 1 else Link(parts, TABLES + 64*(n % 100), interrupt=True))
    sent, packets, got, cut, used, step = b"", [], [b""], [], 0, width//8
    def serve():
        nonlocal used
        while used < bench.completed:
            data, ends = contents(bench, used, entries[used])
            if bench.after_cut(used % (1 << bench.ring_log2)):
                cut.append(len(got))
                got.append(b"")
            got[-1] += data
            if ends:
                got.append(b"")
            used += 1
        ready = min(len(entries), used + (1 << bench.ring_log2))
        if bench.doorbell < ready:
            bench.push(*entries[bench.doorbell:ready])
    serve()
    expected_cut = []
    for _ in range(60):
        part = rng.randbytes(rng.randint(1, 40)*step)
        ends = rng.random() < 0.4
        if ends:
            part = part[:-rng.randrange(step) or None]
        first = not sent or rng.random() < 0.3
        if first and sent:
            packets.append(sent)
            expected_cut.append(len(packets))
            sent = b""
        bench.user.give(part, last=ends, first=first)
        sent += part
        if ends:
            packets.append(sent)
            sent = b""
        for _ in range(rng.choice((1, 3, 12))):
            bench.cycles(US)
            serve()
    total, limit = sum(map(len, packets)) + len(sent), bench.now + 100000
    while sum(map(len, got)) < total and bench.now < limit:
        bench.cycles(US)
        serve()
    assert not bench.user.queue and used < len(entries)
    assert got == [*packets, sent] and cut == expected_cut


def test_register():
    """FLUSH_US is a register of stream writers alone: elsewhere it stays 0. A reset that forgets clears it."""
    bench = start(us=0x1234)
    bench.cycles(2)
    assert bench.read("FLUSH_US") == 0x1234
    reader = Bench("reader")
    reader.write("FLUSH_US", 5)
    reader.cycles(2)
    assert reader.read("FLUSH_US") == 0
