# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Whole engines: every byte lands in its place, and no other byte changes, for any length and alignment."""

import pytest

from litepcie_soc.common.memory_ports import MemoryReadStream, MemoryWriteStream
from litepcie_soc.dma.engine import DMAEngine
from litepcie_soc.tlp.ports import MemoryReadPort, MemoryWritePort
from test.gateware.dma.bench import HOST_HIGH, HOST_LOW, Descriptor, started
from test.gateware.simulation import simulate

LENGTHS = (1, 2, 3, 4, 63, 64, 65, 4097)
OFFSETS = (0, 1, 3, 4, 31, 4093, 4095)


@pytest.mark.parametrize("width, base", [(64, HOST_LOW), (128, HOST_HIGH)])
def test_sizes_and_offsets(direction, width, base):
    bench = started(direction, width)
    for length in LENGTHS:
        for n, host_offset in enumerate(OFFSETS):
            endpoint_offset = OFFSETS[(n * 5 + length) % len(OFFSETS)]
            bench.expect()
            bench.execute(Descriptor(length, 4096 + endpoint_offset, base + 8192 + host_offset, interrupt=True))
            bench.check(bench.pushed[-1:])
    assert bench.read("DESCRIPTORS") == len(LENGTHS) * len(OFFSETS)
    assert bench.read64("BYTES") == sum(LENGTHS) * len(OFFSETS)


@pytest.mark.parametrize("mps, mrrs", ((128, 128), (512, 4096)))
def test_request_sizes(direction, mps, mrrs):
    """No request is longer than allowed, and all but a descriptor's first and last are exactly that long."""
    bench = started(direction, mps=mps, mrrs=mrrs)
    bench.execute(Descriptor(20000, 5, HOST_LOW + 100))
    size   = mrrs if direction == "reader" else mps
    pieces = bench.data.requests if direction == "reader" else bench.data.packets
    assert all(length == size for _, _, length in pieces[1:-1])
    assert all(address % size == 0 for _, address, _ in pieces[1:])
    assert sum(length for _, _, length in pieces) == 20000


def engine(direction="reader", width=64, **kwargs):
    reader = direction == "reader"
    memory = (MemoryWriteStream if reader else MemoryReadStream)(width, 4096)
    return DMAEngine(direction,
        clk_freq        = 125e6,
        descriptor_port = MemoryReadPort(width, 2),
        data_port       = MemoryReadPort(width, 8) if reader else MemoryWritePort(width),
        status_port     = MemoryWritePort(width),
        memory          = memory,
        **kwargs)


def test_direction():
    with pytest.raises(ValueError, match="direction must be one of .* not 'sideways'"):
        engine("sideways")


@pytest.mark.parametrize("descriptors", (4, 48))
def test_descriptors(descriptors):
    with pytest.raises(ValueError, match=f"a power of two of at least 8, not {descriptors}"):
        engine(descriptors=descriptors)


@pytest.mark.parametrize("direction, mrrs, boundary", [
    ("reader", 4096, 256), ("reader", 512, 256), ("reader", 256, 256), ("reader", 128, 128), ("writer", 512, 1024)])
def test_longest_read(direction, mrrs, boundary):
    """Requests for data have at most `longest_read` bytes, those for descriptors MRRS, and writes MPS."""
    unit = engine(direction, longest_read=256)
    def check():
        yield [unit.max_request_size.eq(mrrs), unit.max_payload_size.eq(1024)]
        yield
        assert (yield unit.mover.boundary) == boundary
        assert (yield unit.ring.max_request_size) == mrrs
    simulate(unit, [check()])
