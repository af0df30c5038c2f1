#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Writes, and the shares and attributes of all ports."""

import random

import pytest

from test.gateware.simulation import WIDTHS, Stalls, full, memory_read
from test.gateware.tlp.bench import Bench, Reader, Writer
from test.gateware.tlp.host import HOST, Host
from test.gateware.tlp.test_reads import NO_ERRORS

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
    """A register bus that acknowledges each access one cycle later."""
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

# Arbitration --------------------------------------------------------------------------------------

WRITERS = 3
READERS = 3
COUNT   = 12     # TLPs of each port.


def saturated():
    """Port numbers of the card's TLPs, in order, with all ports busy; "host" for completions of register reads."""
    bench   = Bench(64, host=Host(latency=20), buffer_blocks=1000)
    writers = [Writer(bench.layer.add_write_port(f"writer{n}"),
        [(0x100_0000*(n + 1) + 256*m, bytes(256)) for m in range(COUNT)]) for n in range(WRITERS)]
    readers = [Reader(bench.layer.add_read_port(f"reader{n}", tags),
        [(0x100_0000*(WRITERS + n + 1) + 64*m, 16, 64*m) for m in range(COUNT)], Stalls())
        for n, tags in enumerate((24, 4, 4))]
    bus = bench.layer.csr_bus
    bench.sync += bus.ack.eq(bus.cyc & bus.stb & ~bus.ack)
    bench.host.requests.extend(memory_read(4*n, 4, requester=HOST, tag=n) for n in range(COUNT))
    order = []
    take  = bench.host.take
    bench.host.take = lambda tlp: (order.append("host" if tlp.is_completion else tlp.address >> 24), take(tlp))
    bench.run([*writers, *readers])
    assert bench.errors == NO_ERRORS
    return order


def test_no_port_starves():
    """Three writers and the reads are served round robin, and so are the readers among the reads.

    Completions of the host's reads can go between any two requests.
    """
    order     = saturated()
    requests  = [port for port in order if port != "host"]
    saturated_requests = requests[:COUNT*WRITERS]      # After these the first writer has no more.
    sources   = WRITERS + 1
    for n in range(WRITERS + READERS):
        interval = sources if n < WRITERS else sources*READERS
        grants   = [at for at, port in enumerate(saturated_requests) if port == n + 1]
        gaps     = [b - a for a, b in zip([0] + grants, grants + [len(saturated_requests)])]
        assert max(gaps) <= interval + 2, (n, grants)
        assert len(grants) >= len(saturated_requests)//interval - 1
    answers = [at for at, port in enumerate(order) if port == "host"]
    assert len(answers) == COUNT and max(b - a for a, b in zip(answers, answers[1:])) <= 2*sources

# Attributes ---------------------------------------------------------------------------------------

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
