# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The driver and the tool on the card with DDR3. LITEPCIE_DDR=1 runs all other tests on this card."""

import json

import pytest

from test.conftest import SOFT

pytestmark = [pytest.mark.guest, pytest.mark.full,
    pytest.mark.skipif(SOFT, reason="the boards with the endpoint in gateware have no DDR as endpoint memory")]


@pytest.fixture(scope="module")
def guest(boot, build_board):
    with boot("ddr", board=build_board(with_ddr=True)) as guest:
        yield guest


def test_info_says_that_the_memory_is_ddr(guest):
    info = json.loads(guest.run("litepcie_util --json info"))
    assert info["memory_bytes"] == 64 << 20 and "ddr" in info["target"]


def test_every_alignment(guest):
    assert "checks passed" in guest.run("alignments 65 5", timeout=600)
    guest.run("litepcie_util dma_test --sequence read-and-write --iterations 2")
    guest.works()
