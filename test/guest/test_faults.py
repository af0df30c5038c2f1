# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Completions that go wrong: the application gets an errno, and the next transfer works."""

import pytest

pytestmark = pytest.mark.guest

BOARD = "default"

FAULTS = {
    "ur"       : ("Input/output error",),
    "ca"       : ("Input/output error",),
    "poison"   : ("Input/output error",),
    # The completion after a short one does not fit. If the last one of a request is short, none follows.
    "short"    : ("Input/output error", "Connection timed out"),
    "drop"     : ("Connection timed out",),
}

# The driver's limit. The card waits 10 ms of its own clock for a completion: seconds of the simulator's time.
TIMEOUT = "/sys/module/litepcie/parameters/timeout_ms"


@pytest.fixture(autouse=True)
def long_timeout(guest):
    guest.run(f"echo 60000 > {TIMEOUT}")
    yield
    guest.run(f"echo 10000 > {TIMEOUT}")


def write_with_fault(guest, shared_guest, fault):
    """Writes until the hundredth completion, which is one of data, goes wrong."""
    shared_guest.inject(f"{fault}@100")
    said = guest.run("dd if=/dev/zero of=/dev/litepcie0 bs=100000 count=4 2>&1", status=1)
    assert any(error in said for error in FAULTS[fault]), said


# "short" waits for the card's limit of a completion, as "drop" does; the driver treats "ca" as "ur".
@pytest.mark.parametrize("fault", [pytest.param(fault, marks=pytest.mark.full) if fault in ("short", "ca") else fault
    for fault in FAULTS])
def test_a_bad_completion_is_an_errno(guest, shared_guest, fault):
    write_with_fault(guest, shared_guest, fault)
    guest.works()


@pytest.mark.parametrize("where", ["there", pytest.param("elsewhere", marks=pytest.mark.full)])
def test_the_error_of_a_short_call_is_for_the_call_that_continues_it(guest, shared_guest, where):
    shared_guest.inject("ur@5000")
    assert "checks passed" in guest.run(f"continued {where}")
    guest.works()


@pytest.mark.full
@pytest.mark.parametrize("fault", ["poison", "short"])
def test_every_alignment_after_a_bad_completion(guest, shared_guest, fault):
    write_with_fault(guest, shared_guest, fault)
    assert "checks passed" in guest.run("alignments 65")


@pytest.fixture
def small_requests(guest):
    """Read requests of 256 bytes: each has one completion."""
    def load(mrrs):
        guest.run(f"rmmod litepcie && pcie_sizes 256 {mrrs} && insmod /lib/modules/litepcie.ko")
    load(256)
    yield
    load(512)


def test_a_completion_too_many_is_dropped(guest, shared_guest, small_requests):
    """Again in the middle of a request, it would be one that does not fit."""
    shared_guest.inject("duplicate@100")
    guest.run("dd if=/dev/zero of=/dev/litepcie0 bs=100000 count=4")
    guest.works()
