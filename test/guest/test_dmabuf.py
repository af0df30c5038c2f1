# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Buffers of other devices: moves, errors, fences, limits, and what is left after close and unbind.

The exporter is a module of the tests (exporter/), as the default kernel has none. test_kernels.py runs the others' own,
udmabuf.
"""

import pytest

# A buffer that is attached several times is mapped several times, as the API of dma-bufs has it.
pytestmark = [pytest.mark.guest, pytest.mark.usefixtures("overlapping")]

BOARD = "default"


@pytest.fixture(autouse=True)
def exporter(guest):
    guest.run("insmod /lib/modules/exporter.ko")
    yield
    guest.run("rmmod exporter")


@pytest.mark.parametrize("part", ["moves", "arguments", "refused", "fence", "cancel", "close", "unbind"])
def test_exporter(guest, part):
    assert "checks passed" in guest.run(f"dmabuf exporter {part}")
