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

from test.guest.test_lifecycle import BDF, DRIVER

pytestmark = [pytest.mark.guest, pytest.mark.full]


@pytest.fixture(scope="module", params=ARM64_KERNELS)
def kernel(request):
    return request.param


@pytest.fixture(scope="module")
def guest(boot, full_board, kernel):
    with boot(f"kernel-{kernel}", kernel=kernel, board=full_board, cpus=2) as guest:
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


@pytest.mark.parametrize("command", ["alignments 65", "concurrent 4 3", "pieces fixed", "pieces vector",
    "polled alone", "polled depth", "polled left", "dmabuf udmabuf moves", "hostbuf", "hostmove", "errors"])
def test_calls(guest, command):
    """Each alignment, threads, fixed buffers, polled calls, dma-bufs, the logic's host buffers, what is refused."""
    assert "checks passed" in guest.run(command, timeout=600)
    guest.works()


@pytest.mark.parametrize("sequence", ["write", "read", "write-then-read", "read-and-write"])
def test_dma_test(guest, sequence):
    guest.run(f"litepcie_util dma_test --sequence {sequence} --length 1M --iterations 5")


def test_a_file_through_the_card(guest):
    """In blocks that are no multiple of a page or of a dword."""
    guest.run("head -c 3000001 /bin/litepcie_util > /tmp/file; dd if=/tmp/file of=/dev/litepcie0 bs=12345")
    guest.run("size=$(stat -c %s /tmp/file); dd if=/dev/litepcie0 bs=65537 count=$(( (size + 65536) / 65537 ))"
        " 2>/dev/null | head -c $size > /tmp/back; cmp /tmp/file /tmp/back")


def test_the_window_across_a_bind(guest):
    """A mapping, whose card then goes: SIGBUS, as on x86."""
    said = guest.run(f"window 'echo {BDF} > {DRIVER}/unbind'; echo {BDF} > {DRIVER}/bind")
    assert "SIGBUS" in said
    guest.works()


def test_unbind_and_bind(guest):
    for _ in range(3):
        guest.run(f"echo {BDF} > {DRIVER}/unbind && ! test -e /dev/litepcie0")
        guest.run(f"echo {BDF} > {DRIVER}/bind && test -c /dev/litepcie0")
    guest.works()


def test_the_users_registers_and_interrupts(guest):
    assert "checks passed" in guest.run("user")
    assert "checks passed" in guest.run("interrupt")
