#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The driver on Debian's kernels for ARM, with pages of 4 KiB and of 16 KiB, in QEMU's machine `virt`.

Interrupts are MSI-X through the GIC's translation service. The processor is emulated, so sizes and counts are smaller
than in the tests of the other guests. QEMU's emulation on x86 orders memory more strictly than ARM allows.
"""

import pytest

from litepcie_sim.guest.arm64 import ARM64_KERNELS

pytestmark = [pytest.mark.guest, pytest.mark.full]

CARD    = "0000:01:00.0"
DRIVER  = "/sys/bus/pci/drivers/litepcie"
STREAMS = ("packets", "shapes", "headers", "nonblock", "exclusive", "settings", "flush", "random", "aio", "uring",
    "rings", "hostile")


@pytest.fixture(scope="module", params=ARM64_KERNELS)
def kernel(request):
    return request.param


@pytest.fixture(scope="module")
def guest(boot, build_board, kernel):
    with boot(f"kernel-{kernel}", board=build_board(streams=2, patterns=1, user_core=True), kernel=kernel,
            cpus=2) as guest:
        yield guest
        guest.works()


def test_the_module_moves_data(guest):
    assert guest.run("uname -m").strip() == "aarch64"
    assert guest.run("grep -c 'ITS.*litepcie0' /proc/interrupts").strip() != "0"
    guest.works()


def test_every_alignment_of_short_transfers(guest):
    assert "checks passed" in guest.run("alignments 2", timeout=300)


def test_errors_leave_the_card_usable(guest):
    assert "checks passed" in guest.run("errors")


def test_concurrent_callers(guest):
    assert "checks passed" in guest.run("concurrent 6 4")


@pytest.mark.parametrize("how", ["bound", "nowait", "signal", "cancel", "close", "killed"])
def test_queue(guest, how):
    assert "checks passed" in guest.run(f"queue {how}")


@pytest.mark.parametrize("test", STREAMS)
def test_streams(guest, test):
    assert "checks passed" in guest.run(f"stream {test}")


def test_the_users_registers(guest):
    assert "checks passed" in guest.run("user")


def test_reset_and_unbind(guest):
    guest.run(f"echo 1 > /sys/bus/pci/devices/{CARD}/reset")
    guest.works()
    guest.run(f"echo {CARD} > {DRIVER}/unbind && echo {CARD} > {DRIVER}/bind")
    guest.works()


def test_the_module_loads_again(guest):
    guest.run("rmmod litepcie && insmod /lib/modules/litepcie.ko")
