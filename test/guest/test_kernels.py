#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The module on the guest kernels that other tests do not use."""

import json

import pytest

from litepcie_sim.guest         import DEFAULT_KERNEL, KERNELS
from litepcie_sim.guest.kernels import Kernel

from test.guest.test_transfers import ENGINES, fio_verify

pytestmark = [pytest.mark.guest, pytest.mark.full]


@pytest.fixture(scope="module", params=[name for name in KERNELS if name != DEFAULT_KERNEL])
def kernel(request):
    return request.param


@pytest.fixture(scope="module")
def guest(boot, kernel):
    with boot(f"kernel-{kernel}", kernel=kernel, with_fio=True) as guest:
        yield guest


def test_the_module_moves_data(guest, kernel):
    assert guest.run("uname -r").strip() == Kernel(kernel).release
    guest.works()


@pytest.mark.parametrize("part", ["moves", "cancel"])
def test_buffers_of_the_kernels_own_exporter(guest, part):
    assert "checks passed" in guest.run(f"dmabuf udmabuf {part}")


def test_the_example_of_buffers(guest):
    assert "equal" in guest.run("dmabuf_copy")


def test_a_queue_without_io_uring(guest):
    """The library falls back to aio, for results, registered buffers and several transfers in flight."""
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


def test_every_alignment(guest):
    assert "checks passed" in guest.run("alignments 65", timeout=600)


@pytest.mark.parametrize("engine", ENGINES)
def test_fio_verify(guest, engine):
    guest.run(fio_verify(engine), timeout=600)


@pytest.mark.parametrize("how", ["fixed", "vector"])
def test_pieces_are_moved_without_a_copy_or_a_waiting_thread(guest, how):
    assert "checks passed" in guest.run(f"pieces {how}")


def test_errors_leave_the_card_usable(guest):
    assert "checks passed" in guest.run("errors")
    guest.works()


def test_the_module_unloads(guest):
    guest.run("rmmod litepcie")
