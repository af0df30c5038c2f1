#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A stream writer with FLUSH_US does not keep data from the host for longer, and loses none of it."""

import pytest

from test.gateware.dma.bench import HOST_LOW, TABLES, Link
from test.gateware.dma.dut import CLK_FREQ
from test.gateware.simulation import full
from test.gateware.stream_dma.bench import Bench, Descriptor, started

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
    bench.user.give(b"end")
    bench.finish()
    assert contents(bench, 1, second) == (b"end", True)


def test_whole_tlps_without_an_end():
    """A buffer with nothing left to send is completed, too. An empty one waits for data."""
    bench = start(us=20, mps=256)
    slots = [Descriptor(8192, HOST_LOW), Descriptor(8192, HOST_LOW + 8192)]
    bench.push(*slots)
    bench.user.give(bytes(range(256)), last=False)
    bench.until(lambda: bench.report(0)[0], 2000)
    assert contents(bench, 0, slots[0]) == (bytes(range(256)), False)
    bench.cycles(100*US)
    assert bench.report(1) == (0, False) and bench.read("DESCRIPTORS") == 1
    assert [length for _, _, length in bench.data.packets] == [256, 4]


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


@pytest.mark.parametrize("blocks", (1, 0))
def test_table(blocks):
    """The part of a scattered buffer that a flush leaves empty is skipped, also after a whole TLP."""
    bench = start(us=10, mps=128)
    table = Link([Descriptor(300, HOST_LOW), Descriptor(300, HOST_LOW + 1024)], TABLES, interrupt=True)
    after = Descriptor(100, HOST_LOW + 4096)
    data  = bench.rng.randbytes(128 + 16*blocks)
    bench.push(table, after)
    bench.user.give(data, last=False)
    bench.until(lambda: bench.report(0)[0], 2000)
    bench.user.give(b"end")
    bench.finish()
    assert contents(bench, 0, table) == (data, False)
    assert contents(bench, 1, after) == (b"end", True)
    assert len(bench.msi.times) == 1


@pytest.mark.one_at_a_time
@pytest.mark.parametrize("seed", [*range(3), *full(3, 4, 5)])
@pytest.mark.parametrize("width", (128, *full(64, 256, 512)))
def test_no_byte_is_lost(width, seed):
    """Packets that arrive in parts, with pauses about as long as the limit: the buffers together hold all bytes."""
    bench   = start(width, us=3 + seed, seed=seed, ring_log2=4, stall=(0, 0.2, 0.5)[seed % 3], mps=128 << seed % 3)
    rng     = bench.rng
    entries = []
    for n in range(1000):
        at = HOST_LOW + 1250*(n % 100) + rng.randrange(40)
        lengths = [rng.randint(1, 400) for _ in range(rng.randint(1, 3))]
        parts   = [Descriptor(length, at + sum(lengths[:m]), interrupt=True) for m, length in enumerate(lengths)]
        entries.append(parts[0] if len(parts) == 1 else Link(parts, TABLES + 64*(n % 100), interrupt=True))
    sent, packets, got, used, step = b"", [], [b""], 0, width//8

    def serve():
        """Reads complete buffers and gives new ones."""
        nonlocal used
        while used < bench.completed:
            data, ends = contents(bench, used, entries[used])
            got[-1] += data
            if ends:
                got.append(b"")
            used += 1
        ready = min(len(entries), used + (1 << bench.ring_log2))
        if bench.doorbell < ready:
            bench.push(*entries[bench.doorbell:ready])

    serve()
    for _ in range(60):
        part = rng.randbytes(rng.randint(1, 40)*step)
        ends = rng.random() < 0.4
        if ends:
            part = part[:-rng.randrange(step) or None]
        bench.user.give(part, last=ends)
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
    assert got == [*packets, sent]


def test_register():
    """FLUSH_US is a register of stream writers alone: elsewhere it stays 0. A reset that forgets clears it."""
    bench = start(us=0x1234)
    bench.cycles(2)
    assert bench.read("FLUSH_US") == 0x1234
    reader = Bench("reader")
    reader.write("FLUSH_US", 5)
    reader.cycles(2)
    assert reader.read("FLUSH_US") == 0
