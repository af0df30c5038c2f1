#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Lengths of the requests for descriptors."""

import pytest

from litepcie_soc.dma.fetch import DescriptorFetch
from litepcie_soc.tlp.ports import MemoryReadPort
from test.gateware.dma.test_verilog import engine
from test.gateware.simulation import simulate

# Tests --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("early, mrrs, requests", [
    (0, 512, [32, 32, 32, 32, 32, 32]), (4, 512, [4, 12, 16, 16, 16, 32]), (8, 512, [8, 8, 16, 16, 16, 32]),
    (4, 128, [4, 4, 8, 8, 8, 8])])
def test_first_requests(early, mrrs, requests):
    """An early fetch begins with few descriptors, then up to a completion of 256 bytes; MRRS is kept."""
    port  = MemoryReadPort(128, 6)
    fetch = DescriptorFetch(port, 256, early)
    found = []

    def run():
        yield fetch.size_log2.eq(8)
        yield fetch.base.eq(0x10000)
        yield fetch.max_request_size.eq(mrrs)
        yield port.request.ready.eq(1)
        for _ in range(4):
            yield
        yield fetch.doorbell.eq(200)
        yield fetch.run.eq(1)
        for _ in range(60):
            yield
            if (yield port.request.valid):
                found.append((yield port.request.length) // 16)
    simulate(fetch, [run()])
    assert found == requests


@pytest.mark.parametrize("direction, width, early", [
    ("reader", 128, 0), ("writer", 64, 0), ("writer", 128, 4), ("reader", 256, 4), ("writer", 512, 8)])
def test_engines_fetch_early(direction, width, early):
    assert engine(direction, width).ring.fetch.early == early


@pytest.mark.parametrize("width, lanes, landed", [
    (128, (1, 1, 1), (1, 2, 3)),
    (256, (2, 3, 1), (1, 3, 4)),                # Begins in the upper lane.
    (512, (0b1000, 0b1111, 0b0001, 0b1110), (1, 5, 6, 9)),
    (512, (0b0110,), (0,)),                     # A request began there that is not the oldest.
])
def test_descriptors_are_ready_when_their_data_comes(width, lanes, landed):
    """Descriptors can be used the cycle after their beat, and the retirement of their request adds no more."""
    port   = MemoryReadPort(width, 6)
    fetch  = DescriptorFetch(port, 256, early=4)
    each   = width // 128
    first  = {1: 0, 2: 1, 4: 3}[each]           # Place of the first descriptor in its beat.
    found  = []

    def run():
        yield fetch.landed.eq(first)
        yield fetch.taken.eq(first)
        yield fetch.requested.eq(first + 9)
        yield fetch.pending.eq(1)
        yield
        for enabled in lanes:
            yield port.data.valid.eq(1)
            yield port.data.address.eq((first + (found or [0])[-1]) // each)
            yield port.data.be.eq(sum(0xffff << 16 * n for n in range(each) if enabled >> n & 1))
            yield
            yield port.data.valid.eq(0)
            yield
            found.append((yield fetch.landed) - first)
            assert (yield fetch.ready) == (found[-1] > 0)
        yield port.retire.valid.eq(1)
        yield port.retire.bytes.eq(16 * 9)
        yield
        yield port.retire.valid.eq(0)
        yield
        assert (yield fetch.landed) == first + 9
        assert (yield fetch.lead) == 0
    simulate(fetch, [run()])
    assert tuple(found) == landed
