# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""What callers may queue, who is served next, and what ends a call that waits."""

import pytest

from test.guest.test_lifecycle import BDF, DRIVER, held

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
