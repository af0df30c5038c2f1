# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""Memory that calls hold: who pays for it, and what happens when the card cannot reach it."""

import pytest

from litepcie_sim.guest  import DEBUG_KERNEL
from test.guest.conftest import KERNEL

pytestmark = pytest.mark.guest

BOARD = "default"

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
