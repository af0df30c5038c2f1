#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Under a guest IOMMU: the simulator refuses and counts accesses outside a live mapping."""

import pytest

from test.guest.test_lifecycle import BDF, DRIVER

pytestmark = pytest.mark.guest


@pytest.fixture(scope="module")
def guest(boot):
    """At its end, the simulator's counters of such accesses must be 0."""
    with boot("iommu", iommu=True, cpus=2, with_fio=True) as guest:
        yield guest


@pytest.fixture(scope="module")
def with_logic(boot, full_board):
    """The same with logic of the user on the card."""
    with boot("iommu-logic", board=full_board, iommu=True, cpus=2) as guest:
        yield guest


@pytest.mark.full
def test_every_alignment(guest):
    assert "checks passed" in guest.run("alignments 4097", timeout=600)


@pytest.mark.full
def test_errors(guest):
    assert "checks passed" in guest.run("errors")


@pytest.mark.full
def test_concurrent_callers(guest):
    assert "checks passed" in guest.run("concurrent 4 3", timeout=600)


def test_every_way_into_the_driver(guest):
    """Vectors, splice, sendfile, io_uring, aio, mmap, huge pages."""
    assert "checks passed" in guest.run("ways")


def test_dma_test(guest):
    guest.run("litepcie_util dma_test --sequence read-and-write --length 200001 --iterations 2")


def test_fio_verify(guest):
    guest.run("fio --name=verify --filename=/dev/litepcie0 --ioengine=psync --numjobs=2"
        " --size=256k --offset_increment=4M --rw=randwrite --bs=16k --verify=crc32c"
        " --verify_fatal=1 --filesize=16M --allow_file_create=0", timeout=600)
    guest.works()


@pytest.mark.full
def test_buffers_of_the_users_logic(with_logic):
    """Each call, descriptors that the logic makes, and the end of all mappings when the driver goes."""
    assert "checks passed" in with_logic.run("hostbuf")
    assert "checks passed" in with_logic.run("hostmove")
    assert with_logic.run(f"hostbuf 'echo {BDF} > {DRIVER}/unbind'").split() == ["ENODEV", "SIGBUS"]
    with_logic.run(f"echo {BDF} > {DRIVER}/bind")
    with_logic.works()


@pytest.mark.full
def test_a_reset_during_a_copy_of_the_users_logic(with_logic):
    """The same card has its buffers again, at the same addresses."""
    assert with_logic.run(f"hostbuf 'echo 1 > /sys/bus/pci/devices/{BDF}/reset'").split() == ["copies", "ee"]
    with_logic.works()
