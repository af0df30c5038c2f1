#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Writes to host memory through the whole layer, together with reads and completions."""

import random

import pytest

from test.gateware.simulation import WIDTHS, Stalls, memory_read
from test.gateware.tlp.bench import Bench, Reader, Writer
from test.gateware.tlp.host import HOST, Host

# Helpers ------------------------------------------------------------------------------------------

def random_writes(rng, count, longest, base):
    writes = []
    for n in range(count):
        length = rng.choice([1, 2, 3, 4, 5, 16, longest, rng.randrange(1, longest + 1)])
        offset = rng.randrange(0, 4096 - length + 1)
        writes.append((base + 4096*n + offset, bytes(rng.randrange(256) for _ in range(length))))
    return writes


def expected(writers):
    memory = {}
    for writer in writers:
        for address, data in writer.writes:
            memory.update({address + n: byte for n, byte in enumerate(data)})
    return memory

# Tests --------------------------------------------------------------------------------------------

@pytest.mark.one_at_a_time(data_width=128)
@pytest.mark.parametrize("data_width", WIDTHS)
@pytest.mark.parametrize("shape, endianness", [("shared", "big"), ("split", "little")])
def test_writes_and_reads_together(data_width, shape, endianness):
    """Three writers and a reader, with register reads of the host in between and stalls at all streams."""
    rng     = random.Random(data_width)
    bench   = Bench(data_width, shape=shape, endianness=endianness, stall=0.2, host=Host(latency=30, reorder=True))
    reader  = Reader(bench.layer.add_read_port("reader", 4),
        [(0x100_0000 + 4096*n + rng.randrange(3000), rng.randrange(1, 300), 0x2000*n) for n in range(12)],
        bench.stalls())
    writers = [Writer(bench.layer.add_write_port(f"writer{n}"), random_writes(rng, 25, longest, base), bench.stalls())
        for n, (longest, base) in enumerate([(256, 0x10_0000), (16, 0x7_0000_0000), (64, 0xfff0_0000)])]
    registers(bench)
    bench.host.requests.extend(memory_read(4*n, 4, requester=HOST, tag=n) for n in range(10))
    bench.run([reader, *writers])
    assert bench.host.written == expected(writers)
    assert all(not dropped for writer in writers for dropped in writer.sent)
    assert [tlp.tag for tlp in bench.host.completions] == list(range(10))


def registers(bench):
    """A register bus that acknowledges each access one cycle later."""
    bus = bench.layer.csr_bus
    bench.comb += bus.dat_r.eq(bus.adr)
    bench.sync += bus.ack.eq(bus.cyc & bus.stb & ~bus.ack)


@pytest.mark.parametrize("data_width", WIDTHS)
def test_no_idle_beat(data_width):
    """While two writers and a reader have packets, every cycle carries a beat."""
    bench   = Bench(data_width, host=Host(latency=3000), buffer_blocks=1000)
    writers = [Writer(bench.layer.add_write_port(f"writer{n}"),
        [(base + 64*m, bytes(64)) for m in range(40)]) for n, base in enumerate((0x10000, 0x1_0000_0000))]
    reader  = Reader(bench.layer.add_read_port("reader", 28), [(0x9000 + 64*n, 64, 64*n) for n in range(20)],
        Stalls())
    bench.run([*writers, reader])
    cycles = [beat["cycle"] for packet in bench.tx[0].packets() for beat in packet]
    assert cycles == list(range(cycles[0], cycles[0] + len(cycles)))


@pytest.mark.parametrize("data_width", WIDTHS)
def test_no_idle_beat_at_any_length(data_width):
    """Writes of 1 to 512 bytes, aligned or not, with both header sizes in turn: every cycle carries a beat."""
    rng     = random.Random(data_width)
    lengths = [1, 4, 5, 8, 16, 20, 32, 52, 60, 64, 68, 127, 128, 200, 256, 500, 508, 512]*2
    offsets = [0, 0, 1, 2, 3, 4, 32, 60, 63]
    bench   = Bench(data_width)
    writers = [Writer(bench.layer.add_write_port(f"writer{n}"),
        [(base + 4096*m + rng.choice(offsets), rng.randbytes(length)) for m, length in enumerate(lengths)])
        for n, base in enumerate((0x10000, 0x1_0000_0000))]
    bench.run(writers)
    cycles = [beat["cycle"] for packet in bench.tx[0].packets() for beat in packet]
    assert cycles == list(range(cycles[0], cycles[0] + len(cycles)))
    assert bench.host.written == expected(writers)


def test_round_robin():
    """Write ports and reads are served round robin, at packet boundaries."""
    bench   = Bench(64, host=Host(latency=3000), buffer_blocks=1000)
    writers = [Writer(bench.layer.add_write_port(f"writer{n}"),
        [(base + 256*m, bytes(256)) for m in range(6)]) for n, base in enumerate((0x10000, 0x20000))]
    reader  = Reader(bench.layer.add_read_port("reader", 28), [(0x30000 + 64*n, 64, 64*n) for n in range(6)], Stalls())
    order   = []
    take    = bench.host.take
    bench.host.take = lambda tlp: (order.append(tlp.address >> 16), take(tlp))
    bench.run([*writers, reader])
    grants = order[1:16]
    assert all(len(set(grants[n:n + 3])) == 3 for n in range(0, 13)), order


def test_dropped_without_bus_master():
    bench  = Bench(64)
    writer = Writer(bench.layer.add_write_port("writer"), [(0x1000, bytes(40))]*5)
    bench.run([writer], bus_master=0, cycles=500)
    assert writer.sent == [1]*5
    assert not bench.host.writes


def test_completions_are_not_starved():
    """While two writers send continuously, register reads are still completed within a few TLPs."""
    bench   = Bench(64)
    writers = [Writer(bench.layer.add_write_port(f"writer{n}"),
        [(0x10000*(n + 1) + 256*m, bytes(256)) for m in range(30)]) for n in range(2)]
    registers(bench)
    bench.host.requests.extend(memory_read(4*n, 4, requester=HOST, tag=n) for n in range(8))
    order = []
    take  = bench.host.take
    bench.host.take = lambda tlp: (order.append(tlp.is_completion), take(tlp))
    bench.run(writers)
    assert sum(order[:30]) == 8, order


def test_too_many_write_ports():
    bench = Bench(64)
    for n in range(32):
        bench.layer.add_write_port(f"port{n}")
    with pytest.raises(ValueError, match="is one too many; a layer can have 32"):
        bench.layer.add_write_port("one more")
