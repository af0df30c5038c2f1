# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""What callers may queue, who pays for its memory, who is served next, what ends a call that waits; polled calls."""

import pytest

from litepcie_sim.guest import DEBUG_KERNEL
from test.guest.conftest import KERNEL
from test.guest.test_lifecycle import BDF, DRIVER, held
from test.guest.test_transfers import fio_verify

pytestmark = [pytest.mark.guest, pytest.mark.usefixtures("overlapping")]

BOARD = "default"

COMMITTED = 2 << 20  # LITEPCIE_COMMIT_BYTES: what the card has at most


@pytest.mark.parametrize("how", ["bound", pytest.param("files", marks=pytest.mark.full), "nowait", "signal", "cancel",
    "close", "killed", "killed-uring"])
def test_queue(guest, how):
    """`bound`: an open file has at most 8 MiB in calls. The others: what ends or refuses a call in a full queue."""
    assert "checks passed" in guest.run(f"queue {how}")
    guest.works()


def bytes_before_a_byte(guest, files):
    """What the card moves before a byte that is read beside long calls without end, of `files` open files.

    The median of several calls: the card also moves bytes between each call and the reads of its counter.
    """
    # The flood is there when calls hold 4 MiB.
    guest.run(f"(queue flood {files} > /tmp/flood 2>&1) &")
    guest.wait("[ $(cat /sys/kernel/debug/litepcie/pinned_pages) -ge 1024 ]", "cat /tmp/flood")
    try:
        moved = sorted(map(int, guest.run("queue ahead 15").split()))
    finally:
        guest.run("killall -9 queue; for i in $(seq 100); do killall -0 queue 2>/dev/null || break; sleep 0.1; done")
    assert moved[-1] > 0, "there was no flood"
    return moved[len(moved)//2]


@pytest.mark.full
def test_a_byte_beside_a_flood_waits_only_for_what_is_committed(guest):
    """On a card with one channel: test_channels.py has several."""
    assert bytes_before_a_byte(guest, 16) <= COMMITTED + (256 << 10)


@pytest.mark.parametrize("how", ["read", "write", "gather", "scatter", "ioctl"])
def test_a_page_that_does_not_come_does_not_stop_unbind(guest, how):
    guest.run(f"(stalled {how} > /tmp/holder 2>&1; echo over >> /tmp/holder) & echo started")
    guest.wait("grep -q open /tmp/holder", "cat /tmp/holder")
    guest.run(f"(echo {BDF} > {DRIVER}/unbind; echo unbound > /tmp/unbound) & echo started")
    ended = guest.run("for i in $(seq 100); do test -e /tmp/unbound && break; sleep 0.1; done;"
        " cat /tmp/unbound; rm -f /tmp/unbound; killall -USR1 stalled; true")
    said = held(guest)
    guest.run(f"test -e {DRIVER}/{BDF} || echo {BDF} > {DRIVER}/bind")
    assert "unbound" in ended
    # What the card has moved before the unbind counts; `gather` and `ioctl` do nothing without their pages.
    assert "ended: No such device" in said or how not in ("gather", "ioctl") and "bytes were moved" in said, said
    guest.works()


@pytest.mark.parametrize("how", ["alone", "depth", "left"])
def test_polled_calls(guest, how):
    """A call that is alone in the ring ends without an interrupt, and callers that wait are not delayed by it."""
    timeout = "/sys/module/litepcie/parameters/timeout_ms"
    guest.run(f"echo 60000 > {timeout}")
    assert "checks passed" in guest.run(f"polled {how}")
    guest.run(f"echo 10000 > {timeout}")


def test_unbind_while_a_program_polls(guest):
    assert "checks passed" in guest.run("polled unbind")
    guest.run(f"echo {BDF} > {DRIVER}/bind")
    guest.works()


def test_a_program_that_does_not_poll_is_killed(guest):
    guest.run("polled killed", status=128 + 9)
    guest.works()


@pytest.mark.full
def test_fio_polls(guest):
    guest.run(f"{fio_verify('io_uring')} --hipri --direct=1", timeout=600)


GROUP = "/sys/fs/cgroup/caller"


@pytest.fixture(scope="module")
def bounced(boot):
    """Each mapping goes through a buffer of 256 KiB, which all calls share."""
    with boot("bounced", parameters=("swiotlb=128,force",)) as guest:
        yield guest


def make_group(guest):
    guest.run("mkdir -p /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup; true")
    guest.run(f"echo +memory > /sys/fs/cgroup/cgroup.subtree_control && mkdir -p {GROUP}")


@pytest.mark.skipif(KERNEL == DEBUG_KERNEL, reason="the card gives up before so slow a kernel has made the calls")
@pytest.mark.parametrize("calls, size", [(20000, 64), pytest.param(100, 1 << 20, marks=pytest.mark.full)])
def test_a_caller_without_rights_pays_for_what_it_queues(guest, shared_guest, calls, size):
    """In a memory cgroup of 32 MiB. The card waits for a completion that was dropped, so it ends no call meanwhile."""
    make_group(guest)
    guest.run(f"echo 32M > {GROUP}/memory.max")
    shared_guest.inject("drop@1")
    said = guest.run(f"echo $$ > {GROUP}/cgroup.procs; exec held {GROUP} calls {calls} {size}", timeout=600)
    print(said)
    assert "checks passed" in said
    assert "oom_kill 0" in guest.run(f"cat {GROUP}/memory.events")


@pytest.mark.full
def test_calls_wait_while_the_kernel_has_no_room_to_map_them(bounced):
    """Ten programs move 400 KiB at once in each direction, through a buffer that has room for one request."""
    bounced.run("for i in $(seq 10); do (dd if=/dev/litepcie0 of=/dev/null bs=400k count=1 && echo ended) & "
        "(dd if=/dev/zero of=/dev/litepcie0 bs=400k count=1 && echo ended) & done > /tmp/said 2>&1; wait; "
        "test $(grep -c ended /tmp/said) = 20 || { cat /tmp/said; exit 1; }")
    assert bounced.pinned_pages() == 0
    assert "swiotlb buffer is full" not in bounced.run("dmesg")


@pytest.mark.full
def test_smaller_requests_still_work(bounced):
    bounced.run("head -c 700001 /boot/vmlinuz > /tmp/file")
    bounced.run("dd if=/tmp/file of=/dev/litepcie0 bs=64k")
    bounced.run("dd if=/dev/litepcie0 bs=64k count=11 2>/dev/null | head -c 700001 > /tmp/back")
    bounced.run("cmp /tmp/file /tmp/back")
    assert bounced.pinned_pages() == 0
