#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Arbitration between ports under saturation, request rates, and the attributes of each port."""

import pytest

from test.gateware.simulation import Stalls, full, memory_read
from test.gateware.tlp.bench import Bench, Reader, Writer
from test.gateware.tlp.host import HOST, Host
from test.gateware.tlp.test_reads import NO_ERRORS

# Arbitration --------------------------------------------------------------------------------------

WRITERS = 3
READERS = 3
COUNT   = 24     # TLPs of each port.


def saturated(data_width):
    """Port numbers of the card's TLPs, in order, with all ports busy; "host" for completions of register reads."""
    bench   = Bench(data_width, host=Host(latency=20), buffer_blocks=1000)
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


@pytest.mark.parametrize("data_width", [64, *full(256)])
def test_no_port_starves(data_width):
    """Three writers and the reads are served round robin, and so are the readers among the reads.

    Completions of the host's reads can go between any two requests.
    """
    order     = saturated(data_width)
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


# Rates --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("data_width", [512, *full(256)])
def test_read_every_two_cycles(data_width):
    """The layer issues a request every two cycles, and completes and retires one every two cycles.

    This holds for three clients together; towards the end only the first client is left.
    """
    bench   = Bench(data_width, host=Host(latency=400), buffer_blocks=1000)
    readers = [Reader(bench.layer.add_read_port(f"port{n}", tags),
        [(0x10000*(n + 1) + 64*m, 16, 64*m) for m in range(tags)], Stalls()) for n, tags in enumerate((24, 4, 4))]
    bench.run(readers)
    for stream in (bench.tx[0], bench.rx[0]):
        cycles = [beat["cycle"] for beat in stream.beats]
        assert cycles[-1] - cycles[0] <= 2*31 + 4, cycles
    retired = sorted(cycle for reader in readers for cycle in reader.cycles)
    assert retired[-1] - retired[0] <= 2*31 + 6, retired
    alone = readers[0].cycles
    assert max(b - a for a, b in zip(alone[8:], alone[9:])) <= 4, alone


# Attributes ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("options, attributes", [
    ({}, 0), (dict(relaxed_ordering=True), 2), (dict(no_snoop=True), 1),
    (dict(relaxed_ordering=True, no_snoop=True), 3),
])
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
