#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The driver on Debian's kernels for ARM, with pages of 4 KiB and of 16 KiB, in QEMU's machine `virt`.

Interrupts are MSI-X through the GIC's translation service. QEMU's emulation on x86 orders memory more strictly than ARM
allows.
"""

import pytest

from litepcie_sim.guest.arm64 import ARM64_KERNELS

pytestmark = [pytest.mark.guest, pytest.mark.full]


@pytest.fixture(scope="module", params=ARM64_KERNELS)
def kernel(request):
    return request.param


@pytest.fixture(scope="module")
def guest(boot, build_board, kernel):
    board = build_board(streams=2, patterns=1, channels=2, user_core=True)
    with boot(f"kernel-{kernel}", kernel=kernel, board=board, cpus=2) as guest:
        yield guest
        guest.works()


def test_the_module_moves_data(guest):
    assert guest.run("uname -m").strip() == "aarch64"
    assert guest.run("grep -c 'ITS.*litepcie0' /proc/interrupts").strip() != "0"
    guest.works()


@pytest.mark.parametrize("how", ["bound", "nowait", "signal", "cancel", "close", "killed", "killed-uring"])
def test_the_queue(guest, how):
    assert "checks passed" in guest.run(f"queue {how}")
    guest.works()


@pytest.mark.parametrize("how", ["packets", "shapes", "headers", "nonblock", "settings", "random", "aio", "uring",
    "rings", "hostile", "closing", "killed"])
def test_streams(guest, how):
    assert "checks passed" in guest.run(f"stream {how}")


def test_the_users_registers_and_interrupts(guest):
    assert "checks passed" in guest.run("user")
    assert "checks passed" in guest.run("interrupt")
