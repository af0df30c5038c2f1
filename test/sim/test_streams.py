# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A looped-back stream of the whole card: the host's packets return unchanged."""

import random

import pytest

from test.conftest import FULL_BOARD
from test.sim.scripts import HIGH, LOW, PREPARE, REORDER, do, transfer
from test.sim.scripts import passes as run

# litepcie_regs.h.
CAPABILITIES, GEOMETRY, STREAMS = 0x0008, 0x000c, 0x003c
STATUS, COMPLETED = 0x04, 0x20
WRITER            = 0x3800   # Writer of the stream, after two memory channels.
REPORT_OFFSET   = 64
REPORT_LAST     = 0x1000000

REPORTS_AT = 0x1c0000 + 3*0x5000 + 0x4000 + REPORT_OFFSET   # After the status block of writer2.


@pytest.fixture(scope="module")
def host(build_board):
    return build_board(**FULL_BOARD) / "simulator" / "litepcie_host"


def prepare(ring_log2=6):
    return [*PREPARE[:2], *[do("configure", engine=engine, ring_log2=ring_log2) for engine in ("reader2", "writer2")]]


def peek(address, size):
    return do("peek", address=address, bytes=size)


def cut(rng, length):
    """Random lengths of the descriptors of a packet."""
    while length:
        part = min(length, rng.randint(1, rng.choice((10, 300, 3000))))
        length -= part
        yield part


def random_packets(rng, count):
    """Packets at separate addresses in both regions: lists of (address, length)."""
    at, packets = {LOW: LOW + rng.randrange(4096), HIGH: HIGH + 1}, []
    for _ in range(count):
        packets.append([])
        for part in cut(rng, rng.randint(1, rng.choice((20, 500, 6000)))):
            base = rng.choice((LOW, HIGH))
            packets[-1].append((at[base], part))
            at[base] += part + rng.randrange(9)
    return packets


def sent(packets):
    return [{"host": address, "length": length, "last": (address, length) == packet[-1]}
        for packet in packets for address, length in packet]


def filled(packets, buffers):
    """Returns the places of each packet, as (address, length), and the report dwords that the card writes for it."""
    places, reports, buffers = [], [], iter(buffers)
    for packet in packets:
        left = sum(length for _, length in packet)
        places.append([])
        while left:
            buffer = next(buffers)
            part   = min(left, buffer["length"])
            left  -= part
            places[-1].append((buffer["host"], part))
            reports.append(part | (0 if left else REPORT_LAST))
    return places, reports


def contents(gave):
    return [bytes.fromhex(step["hex"]) for step in gave if step["do"] == "peek"]


def random_buffers(rng, count):
    """Buffers at separate addresses, after those that ``random_packets`` uses."""
    at, buffers = LOW + (2 << 20), []
    for _ in range(count):
        length = rng.randint(1, rng.choice((100, 1500, 4096)))
        buffers.append({"host": at, "length": length})
        at += length + rng.randrange(9)
    return buffers


@pytest.mark.parametrize("args, setup", [(REORDER, {}),
    pytest.param(("--latency-ns", "300", "--reorder"), {"mps": 128, "mrrs": 128}, marks=pytest.mark.full)])
def test_loopback_beside_the_memory_channel(host, tmp_path, args, setup):
    """Random packets, split at random into descriptors and buffers; neither channel gets the other's data or memory."""
    rng     = random.Random(1)
    packets = random_packets(rng, 60)
    buffers = random_buffers(rng, 400)
    places, reports = filled(packets, buffers)
    reads   = [(HIGH + (2 << 20) + 8192 * n + n, 8192 * n, 8000) for n in range(20)]
    gave = run(host, tmp_path, prepare(ring_log2=9) + PREPARE[2:] + [do("post", engine="writer2", descriptors=buffers),
        do("post", engine="reader2", descriptors=sent(packets)), {**transfer("reader", *reads), "do": "post"},
        *[do("doorbell", engine=engine) for engine in ("writer2", "reader2", "reader")],
        do("wait", engine="reader"), do("wait", engine="reader2"), do("run", cycles=20000),
        do("read_register", offset=WRITER + COMPLETED, expect=len(reports)),
        peek(REPORTS_AT, 4 * len(reports) + 4), *[peek(*place) for packet in packets for place in packet],
        *[peek(*place) for packet in places for place in packet],
        # The memory channel's bytes return to the other half of the region.
        transfer("writer", *[(HIGH + (3 << 20) + 8192 * n, 8192 * n, 8000) for n in range(20)]),
        do("reset_engine", engine="writer2"), *[peek(host, size) for host, _, size in reads],
        *[peek(HIGH + (3 << 20) + 8192 * n, 8000) for n in range(20)]], *args, setup=setup)
    written, *data = contents(gave)
    assert written == b"".join(word.to_bytes(4, "little") for word in [*reports, 0])
    memory = data[-40:]
    assert memory[:20] == memory[20:]
    count = sum(len(packet) for packet in packets)
    assert b"".join(data[:count]) == b"".join(data[count:-40])


def test_error_stops_the_stream_alone(host, tmp_path):
    """The reader stops with the reason; resetting it is enough, and the next packet is whole."""
    data   = LOW + 77
    packet = [{"host": data, "length": 3000, "last": True}]
    post   = [do("post", engine="writer2", descriptors=[{"host": HIGH + 8192 * n, "length": 8192} for n in range(4)]),
        do("doorbell", engine="writer2")]
    gave   = run(host, tmp_path, prepare() + post + [do("configure", engine="reader"),
        do("write_register", offset=0x30, value=100),
        do("post", engine="reader2", descriptors=packet), do("run", cycles=1000),
        # Faults count from here: a descriptor fetch, then data.
        do("inject", fault="drop@9"), do("doorbell", engine="reader2"),
        do("wait", engine="reader2", reason="TIMEOUT", completed=0),
        do("read_register", offset=WRITER + STATUS, expect=1, mask=5), transfer("reader", (LOW, 0, 100)),
        # The source is reset first, then the sink: nothing of the packet that was cut is left in between.
        do("configure", engine="reader2"), do("run", cycles=1000), peek(REPORTS_AT, 8),
        do("configure", engine="writer2"), *post, do("transfer", engine="reader2", descriptors=packet),
        do("run", cycles=5000), peek(REPORTS_AT, 8), peek(HIGH, 3000), peek(data, 3000),
    ], setup={"mps": 256, "mrrs": 256})
    before, after, came, went = contents(gave)
    assert before == bytes(8)
    assert after == (3000 | REPORT_LAST).to_bytes(8, "little")
    assert came == went


@pytest.mark.full
def test_rate(host, tmp_path):
    """Both directions at once, with 3 us of latency: 12.5 bytes per cycle each, of the link's 16."""
    count, size = 100, 16384

    def places(region):
        return [{"host": region + size * n, "length": size, "last": True} for n in range(count)]

    gave = run(host, tmp_path, prepare(ring_log2=7) + [do("post", engine="writer2", descriptors=places(HIGH)),
        do("post", engine="reader2", descriptors=places(LOW)), do("doorbell", engine="writer2"),
        do("doorbell", engine="reader2"), do("wait", engine="reader2"),
        do("wait", engine="writer2")], "--latency-ns", "3000")
    assert all(count * size / step["active_cycles"] > 12.5 for step in gave[-2:])
