# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Under a guest IOMMU: the simulator refuses and counts accesses outside a live mapping."""

import pytest

from test.guest.test_lifecycle import BDF, DRIVER, held, hold

pytestmark = pytest.mark.guest


@pytest.fixture(scope="module")
def guest(boot):
    """At its end, the simulator's counters of such accesses must be 0."""
    with boot("iommu", iommu=True, cpus=2) as guest:
        yield guest


@pytest.mark.full
def test_every_alignment(guest):
    """Of each size up to a page, every fifth pair."""
    assert "checks passed" in guest.run("alignments 4097 5", timeout=600)


def test_every_way_into_the_driver(guest):
    """Vectors, splice, sendfile, aio, huge pages, pages of a file."""
    assert "checks passed" in guest.run("ways")


def test_unbind_during_a_transfer(guest):
    """The card has ended its accesses before the pages are unmapped."""
    hold(guest, "read", 8 << 20)
    guest.run(f"echo {BDF} > {DRIVER}/unbind")
    assert "ended: No such device" in held(guest)
    guest.run(f"echo {BDF} > {DRIVER}/bind")
    guest.works()


@pytest.mark.full
def test_buffers_of_the_users_logic(boot, full_board):
    """Each call, descriptors that the logic makes, and the end of all mappings when the driver goes.

    After a reset, the same card has its buffers again, at the same addresses.
    """
    with boot("iommu-logic", board=full_board, iommu=True, cpus=2) as with_logic:
        assert "checks passed" in with_logic.run("hostbuf")
        assert "checks passed" in with_logic.run("hostbuf moves")
        assert with_logic.run(f"hostbuf 'echo 1 > /sys/bus/pci/devices/{BDF}/reset'").split() == ["copies", "ee"]
        assert with_logic.run(f"hostbuf 'echo {BDF} > {DRIVER}/unbind'").split() == ["ENODEV", "SIGBUS"]
        with_logic.run(f"echo {BDF} > {DRIVER}/bind")
        with_logic.works()
