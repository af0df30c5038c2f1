#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Parameters of an engine."""

import pytest

from litepcie_soc.dma.engine import DMAEngine
from litepcie_soc.common.memory_ports import MemoryReadStream, MemoryWriteStream
from litepcie_soc.tlp.ports import MemoryReadPort, MemoryWritePort
from test.gateware.simulation import simulate

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
        yield unit.max_request_size.eq(mrrs)
        yield unit.max_payload_size.eq(1024)
        yield
        assert (yield unit.mover.boundary) == boundary
        assert (yield unit.ring.max_request_size) == mrrs
    simulate(unit, [check()])
