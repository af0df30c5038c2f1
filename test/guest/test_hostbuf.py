# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Buffers in host memory that the simulated board's user logic reads and writes by itself.

test_iommu.py has them under an IOMMU.
"""

import pytest

from test.guest.conftest import BDF, CARD, DRIVER, SUSPEND, TIMEOUT_MS
from test.guest.test_queue  import GROUP, make_group

pytestmark = pytest.mark.guest


HOST_BUSY = 0x8820  # Register of software/kernel/litepcie_regs.h.


def test_every_call(guest):
    assert "checks passed" in guest.run("hostbuf")
    assert "host" in guest.run("litepcie_util info")
    guest.works()


def test_descriptors_of_the_logic(guest):
    assert "checks passed" in guest.run("hostbuf moves")
    guest.works()


def test_the_example(guest):
    assert guest.run("host_buffers 1000").split() == ["equal"]


def test_a_buffer_in_use_is_not_freed(guest, shared_guest):
    """The card says that its access to the first buffer never ends; after a reset, the driver has all memory back."""
    guest.run(f"echo 100 > {TIMEOUT_MS}; dmesg -c")
    shared_guest.claim({HOST_BUSY: 1})
    guest.run("host_buffers 64")
    shared_guest.claim({})
    guest.run(f"echo 10000 > {TIMEOUT_MS}; echo 1 > {CARD}/reset")
    assert "the card does not end an access to host buffer 0" in guest.run("dmesg")
    assert guest.run("host_buffers 64").split() == ["equal"]
    guest.works()


@pytest.mark.full
def test_beside_transfers_that_are_compared(guest):
    assert "checks passed" in guest.run("hostbuf & litepcie_util dma_test --sequence read-then-write "
        "--iterations 20; wait")


@pytest.mark.full
def test_a_suspend_during_a_copy(guest):
    """The slot has no power meanwhile; the card has its buffers again, with their bytes.

    Not under an IOMMU: the emulated one loses the mappings in a suspend (docs/known-limits.md).
    """
    assert guest.run(f"hostbuf '{SUSPEND}'").split() == ["copies", "ee"]
    assert "its memory may be lost" in guest.run("dmesg")
    guest.works()


def test_unbind_and_a_reset_during_a_copy(guest):
    """After a reset, the same card has its buffers again, at the same addresses."""
    assert guest.run(f"hostbuf 'echo {BDF} > {DRIVER}/unbind'").split() == ["ENODEV", "SIGBUS"]
    guest.run(f"echo {BDF} > {DRIVER}/bind")
    assert guest.run(f"hostbuf 'echo 1 > {CARD}/reset'").split() == ["copies", "ee"]
    guest.works()


@pytest.mark.full
@pytest.mark.parametrize("kind", ["rings", "buffers"])
def test_who_opened_a_file_pays_for_its_buffers(guest, kind):
    """The largest rings of a stream, and all buffers of the user's logic; beside them at most 16 MiB."""
    make_group(guest)
    said = guest.run(f"echo $$ > {GROUP}/cgroup.procs; exec held {GROUP} {kind}")
    print(said)
    assert "checks passed" in said
