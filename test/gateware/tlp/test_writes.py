# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Writes, and the attributes of all ports."""

import random

import pytest

from test.gateware.simulation import WIDTHS, Stalls, full, memory_read
from test.gateware.tlp.bench import Bench, Reader, Writer
from test.gateware.tlp.host import HOST, Host


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


@pytest.mark.parametrize("data_width, shape, endianness", [(128, "shared", "big"), (512, "split", "little"),
    *full((64, "split", "big"))])
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
    bus = bench.layer.csr_bus
    bench.comb += bus.dat_r.eq(bus.adr)
    bench.sync += bus.ack.eq(bus.cyc & bus.stb & ~bus.ack)


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


# Rules: 2.2.7
def test_dropped_without_bus_master():
    bench  = Bench(64)
    writer = Writer(bench.layer.add_write_port("writer"), [(0x1000, bytes(40))]*5)
    bench.run([writer], bus_master=0, cycles=500)
    assert writer.sent == [1]*5
    assert not bench.host.writes


def test_too_many_write_ports():
    bench = Bench(64)
    for n in range(32):
        bench.layer.add_write_port(f"port{n}")
    with pytest.raises(ValueError, match="is one too many; a layer can have 32"):
        bench.layer.add_write_port("one more")


# Rules: TXN.2.8#1; TXN.2.9#1
@pytest.mark.parametrize("options, attributes", [(dict(relaxed_ordering=True), 2), (dict(no_snoop=True), 1)])
def test_attributes_of_bulk_ports_only(options, attributes):
    """Status blocks and descriptors never have attributes: they must not overtake the data or bypass a cache."""
    bench   = Bench(64, **options)
    layer   = bench.layer
    clients = []
    for n, bulk in enumerate((False, True)):
        clients.append(Writer(layer.add_write_port(f"writer{n}", bulk=bulk), [(0x1000 + n*0x10_0000, bytes(8))]*4))
        clients.append(Reader(layer.add_read_port(f"reader{n}", 2, bulk=bulk),
            [(0x2000 + n*0x10_0000 + 64*m, 16, 64*m) for m in range(4)], Stalls()))
    bench.run(clients)
    for tlps in (bench.host.writes, bench.host.reads):
        assert len(tlps) == 8
        assert all(tlp.attr == (attributes if tlp.address & 0x10_0000 else 0) for tlp in tlps)
