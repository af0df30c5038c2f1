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
