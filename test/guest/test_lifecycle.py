# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Load, unload, unbind while open, a caller killed in its transfer, the card gone."""

import time

import pytest

from test.conftest import SOFT, despite_qemu
from test.guest.conftest import BDF, DRIVER

pytestmark = pytest.mark.guest

BOARD = "default"

LOAD   = "insmod /lib/modules/litepcie.ko"


def hold(guest, how, size=4096):
    """Starts the program that holds the device; returns when it has it."""
    guest.run(f"rm -f /tmp/holder; (holder {how} {size} > /tmp/holder 2>&1; echo over >> /tmp/holder) & echo started")
    guest.wait("grep -q open /tmp/holder", "cat /tmp/holder")


def held(guest):
    """Waits for the program to end and returns its output."""
    return guest.run("for i in $(seq 200); do grep -q over /tmp/holder && break; sleep 0.1; done; cat /tmp/holder")


def test_load_and_unload(guest):
    for _ in range(2):
        guest.run("rmmod litepcie && ! test -e /dev/litepcie0")
        guest.run(f"{LOAD} && test -c /dev/litepcie0")
    guest.works()


def test_a_module_in_use_does_not_unload(guest):
    hold(guest, "idle")
    assert guest.guest.run("rmmod litepcie").status != 0
    guest.run("killall holder")
    held(guest)
    guest.works()


@pytest.mark.parametrize("how", ["idle", "map", "read", "write"])
def test_unbind_while_open(guest, how):
    hold(guest, how, 8 << 20)
    guest.run(f"echo {BDF} > {DRIVER}/unbind")
    assert "ended: No such device" in held(guest)
    guest.run("! test -e /dev/litepcie0")
    guest.run(f"echo {BDF} > {DRIVER}/bind")
    guest.works()


def test_a_mapping_ends_with_the_driver(guest):
    said = guest.run(f"window 'echo {BDF} > {DRIVER}/unbind'; echo {BDF} > {DRIVER}/bind")
    assert said.split() == ["SIGBUS"]
    guest.works()


def test_debugfs_does_not_grow_with_the_requests(guest):
    """The file is made with interrupts off only for as long as the copy of a few counts takes."""
    hold(guest, "write", 16 << 20)
    said = guest.run("for i in $(seq 20); do cat /sys/kernel/debug/litepcie/litepcie0/reader0; done")
    guest.run("killall holder")
    held(guest)
    names = {"state", "size", "produced", "completed", "status", "held", "committed"}
    assert {line.split()[0] for line in said.splitlines()} == names
    assert len(said.splitlines()) == 20 * len(names)


@pytest.mark.parametrize("how", [pytest.param("read", marks=pytest.mark.full), "write"])
def test_a_killed_caller_leaves_nothing(guest, how):
    for pause in (0, 0.05, 0.3):
        hold(guest, how, 16 << 20)
        time.sleep(pause)
        guest.run("killall -9 holder")
        held(guest)
        assert guest.pinned_pages() == 0
    guest.works()


@pytest.mark.full
def test_the_simulator_dies_in_a_transfer(boot):
    """The application gets an errno, and the guest continues to run."""
    despite_qemu(lambda: simulator_dies(boot))


def simulator_dies(boot):
    with boot("simulator-dies", check=False) as guest:
        # The default board has no user's logic, and the one with the endpoint in gateware a lane only.
        guest.run(f"! ls /dev/litepcie0_interrupt* && {'true' if SOFT else '! ls /dev/litepcie0_*'}")
        guest.run("echo 2000 > /sys/module/litepcie/parameters/timeout_ms")
        hold(guest, "write", 16 << 20)
        guest.guest.kill_simulator()
        said = held(guest)
        assert "over" in said
        assert any(f"ended: {error}" in said for error in
            ("No such device", "Input/output error", "Connection timed out")), said
        assert guest.guest.run("litepcie_util info", timeout=30).status != 0
        # Nothing tells that the card is quiet, so its memory stays until then.
        guest.run(f"echo {BDF} > {DRIVER}/unbind", timeout=60)
        assert guest.pinned_pages() == 0
        guest.run("rmmod litepcie", timeout=60)
