#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Buffers of other devices: moves, errors, fences, limits, and what is left after close and unbind.

The exporter is a module of the tests (exporter/), as the default kernel has none. test_kernels.py runs the others' own,
udmabuf.
"""

from pathlib import Path

import pytest

from litepcie_sim.guest.debug_kernel import kernel as named_kernel
from litepcie_sim.guest.module       import module

from test.guest.conftest import KERNEL

pytestmark = pytest.mark.guest

EXPORTER = Path(__file__).resolve().parent / "exporter"


@pytest.fixture(scope="module")
def guest(boot):
    exporter = module(named_kernel(KERNEL), EXPORTER)
    # A buffer that is attached several times is mapped several times, as the API of dma-bufs has it.
    with boot("buffers", files=[(exporter, "/lib/modules/exporter.ko")], parameters=("dma_debug=off",)) as guest:
        guest.run("insmod /lib/modules/exporter.ko")
        yield guest
        guest.works()
        guest.run("rmmod exporter")


@pytest.mark.parametrize("part", ["moves", "arguments", "refused", "fence", "cancel", "close", "unbind"])
def test_exporter(guest, part):
    assert "checks passed" in guest.run(f"dmabuf exporter {part}")
