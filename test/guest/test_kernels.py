# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The module on the guest kernels that other tests do not use: newer ones, that with PREEMPT_RT, and Debian's for ARM
in QEMU's `virt`.

Those for ARM have pages of 4 KiB and of 16 KiB, and interrupts through the GIC's translation service. QEMU's emulation
on x86 orders memory more strictly than ARM allows.
"""

import json

import pytest

from litepcie_sim.guest         import DEFAULT_KERNEL, KERNELS
from litepcie_sim.guest.arm64   import ARM64_KERNELS
from litepcie_sim.guest.kernels import Kernel
from test.guest.test_lifecycle import BDF, DRIVER

pytestmark = [pytest.mark.guest, pytest.mark.full]

# One for each interface between driver and kernel that kernels or sizes of pages change.
COMMANDS = ["errors", "alignments 65 7", "ways", "pieces fixed", "pieces vector", "polled depth", "queue killed-uring",
    "dmabuf udmabuf moves", "stream shapes", "stream rings",
    "stream direct", "stream direct_lost", "stream direct_forked", "hostbuf", "user", "interrupt"]
SMALL_ARM, LARGE_ARM = ARM64_KERNELS


@pytest.fixture(scope="module", params=[*(name for name in KERNELS if name != DEFAULT_KERNEL), LARGE_ARM])
def kernel(request):
    return request.param


@pytest.fixture(scope="module")
def guest(boot, full_board, kernel):
    with boot(f"kernel-{kernel}", kernel=kernel, board=full_board, cpus=2) as guest:
        yield guest


def test_the_module_moves_data(guest, kernel):
    assert kernel == LARGE_ARM or guest.run("uname -r").strip() == Kernel(kernel).release
    assert ("PREEMPT_RT" in guest.run("uname -v")) == (kernel == "6.12-rt")
    guest.works()


def test_arm_with_pages_of_4_kib(boot, full_board):
    with boot("kernel-arm64", kernel=SMALL_ARM, board=full_board, cpus=2) as guest:
        assert guest.run("uname -m").strip() == "aarch64"
        assert guest.run("grep -c 'ITS.*litepcie0' /proc/interrupts").strip() != "0"
        for command in ("errors", "ways", "stream packets"):
            assert "checks passed" in guest.run(command, timeout=600)
        guest.works()


def test_a_kernel_and_a_tool_of_32_bits(boot, full_board):
    with boot("kernel-i386", kernel="6.1-i386", board=full_board, cpus=2) as guest:
        assert guest.run("uname -m").strip() == "i686"
        guest.works()
        guest.run("litepcie_util dma_test --length 1M --iterations 3")
        assert json.loads(guest.run("litepcie_util --json bench --min 64K --max 64K --depth 4 -t 1"))["ok"]
        assert "loopback: " in guest.run("litepcie_util stream loopback -n 40")
        guest.run(f"echo {BDF} > {DRIVER}/unbind; echo {BDF} > {DRIVER}/bind")
        guest.works()


@pytest.mark.parametrize("command", COMMANDS)
def test_calls(guest, command):
    assert "checks passed" in guest.run(command, timeout=600)
    assert guest.pinned_pages() == 0


def test_examples_and_a_queue_without_io_uring(guest, kernel):
    """The library falls back to aio, for results, registered buffers and several transfers in flight."""
    if kernel == LARGE_ARM:
        pytest.skip("there are no examples for ARM")
    assert "equal" in guest.run("dmabuf_copy")
    knob = "/proc/sys/kernel/io_uring_disabled"
    if guest.run(f"test -e {knob} || echo none"):
        pytest.skip("this kernel has no such setting")
    guest.run(f"echo 2 > {knob}")
    try:
        assert guest.run("async_copy 2") == "2097152 bytes moved to the card and back: equal\n"
        told = json.loads(guest.run("litepcie_util --json bench --min 64K --max 64K --depth 4 -t 1"))
    finally:
        guest.run(f"echo 0 > {knob}")
    assert told["ok"] and max(one["in_flight"] for one in told["points"]) == 4


def test_unbind_bind_and_unload(guest):
    """With a mapping of the window, whose access ends in SIGBUS."""
    assert "SIGBUS" in guest.run(f"window 'echo {BDF} > {DRIVER}/unbind'; echo {BDF} > {DRIVER}/bind")
    guest.works()
    guest.run("rmmod litepcie")
