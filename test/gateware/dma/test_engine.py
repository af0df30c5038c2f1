#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Whole engines: every byte lands in its place, and no other byte changes, for any length and alignment."""

import pytest

from test.gateware.dma.bench import HOST_HIGH, HOST_LOW, Bench, Descriptor, started

WIDTHS     = (64, 128, 256)
LENGTHS    = (1, 2, 3, 4, 63, 64, 65, 4095, 4096, 4097)
OFFSETS    = (0, 1, 2, 3, 4, 31, 4092, 4093, 4095)

# Sizes and Alignments -----------------------------------------------------------------------------


@pytest.mark.one_at_a_time(width=128)
@pytest.mark.parametrize("base", (HOST_LOW, HOST_HIGH), ids=("3dw", "4dw"))
@pytest.mark.parametrize("width", WIDTHS)
def test_sizes_and_offsets(direction, width, base):
    bench = started(direction, width)
    for length in LENGTHS:
        for n, host_offset in enumerate(OFFSETS):
            endpoint_offset = OFFSETS[(n * 5 + length) % len(OFFSETS)]
            bench.expect()
            bench.push(Descriptor(length, 4096 + endpoint_offset, base + 8192 + host_offset,
                interrupt=True))
            bench.finish()
            bench.check(bench.pushed[-1:])
    assert bench.read("DESCRIPTORS") == len(LENGTHS) * len(OFFSETS)
    assert bench.read64("BYTES") == sum(LENGTHS) * len(OFFSETS)


def test_longest(direction):
    """One descriptor for the whole memory: more than one hundred requests."""
    bench = started(direction)
    bench.push(Descriptor(len(bench.memory), 0, HOST_LOW + 3))
    bench.finish()
    bench.check(bench.pushed)


@pytest.mark.one_at_a_time(mps=256, mrrs=512)
@pytest.mark.parametrize("mps, mrrs", ((128, 128), (256, 512), (512, 4096)))
def test_request_sizes(direction, mps, mrrs):
    """No request is longer than allowed, and all but a descriptor's first and last are exactly that long."""
    bench = started(direction, mps=mps, mrrs=mrrs)
    bench.push(Descriptor(20000, 5, HOST_LOW + 100))
    bench.finish()
    size   = mrrs if direction == "reader" else mps
    pieces = bench.data.requests if direction == "reader" else bench.data.packets
    assert all(length == size for _, _, length in pieces[1:-1])
    assert all(address % size == 0 for _, address, _ in pieces[1:])
    assert sum(length for _, _, length in pieces) == 20000

# Random -------------------------------------------------------------------------------------------


@pytest.mark.one_at_a_time(width=128)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("width", WIDTHS)
def test_random(direction, width, seed):
    """Stalls on all ports, completions out of order, a small ring that wraps many times."""
    bench = Bench(direction, width, seed=seed, ring_log2=1 + seed, latency=10,
        jitter=(0, 60)[seed % 2], stall=(0, 0.1, 0.3, 0.6)[seed], reorder=seed > 0,
        mps=(128, 256, 512, 128)[seed], mrrs=(128, 512, 4096, 256)[seed])
    bench.start()
    for _ in range(3):
        bench.expect()
        descriptors = bench.place_apart(bench.random_lengths(40))
        for descriptor in descriptors:
            descriptor.interrupt = bench.rng.random() < 0.2
        bench.feed(descriptors)
        bench.check(descriptors)
    assert bench.read("COMPLETED") == bench.read("DESCRIPTORS") == 120


def test_blocks_report_only_landed_data(direction):
    """When a status block arrives, the data of every descriptor that it reports complete has landed."""
    bench = started(direction, stall=0.2, reorder=True, jitter=100, latency=40)
    descriptors = bench.place_apart(bench.random_lengths(60, 800))
    for descriptor in descriptors:
        descriptor.interrupt = True
    source = bytes(bench.memory), bytes(bench.low), bytes(bench.high)

    def landed(descriptor):
        host  = bench.host.read(descriptor.host, descriptor.length)
        inner = bytes(bench.memory[descriptor.endpoint:descriptor.endpoint + descriptor.length])
        return host == inner

    arrived = bench.blocks_port.on_sent

    def on_block(address, data):
        arrived(address, data)
        done = bench.blocks[-1].completed
        assert all(landed(descriptor) for descriptor in descriptors[:done])
        assert bench.blocks[-1].bytes >= sum(d.length for d in descriptors[:done])

    bench.blocks_port.on_sent = on_block
    bench.push(*descriptors)
    bench.finish()
    assert len(bench.blocks) > 5
    assert source != (bytes(bench.memory), bytes(bench.low), bytes(bench.high))


def test_real_memory():
    """Both engines on one ``EndpointMemory``: the reader writes it, the writer reads it."""
    reader = Bench("reader", models=False, real_memory=True, stall=0.1, reorder=True)
    writer = Bench("writer", models=False, dut=reader.dut, stall=0.1)
    places = reader.place_apart(reader.random_lengths(50))
    reader.start()
    reader.push(*places)
    reader.finish()
    at, back = HOST_LOW + 11, []
    for place in places:
        back.append(Descriptor(place.length, place.endpoint, at))
        at += place.length + 3
    writer.start()
    writer.push(*back)
    writer.finish()
    for there, here in zip(places, back):
        assert writer.host.read(here.host, here.length) == (
            reader.host.read(there.host, there.length))
