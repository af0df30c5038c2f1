# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""How many interrupts the card sends. They are counted in /proc/interrupts."""

import pytest

from litepcie_sim.guest  import DEBUG_KERNEL
from test.conftest       import SOFT
from test.guest.conftest import KERNEL

pytestmark = pytest.mark.guest

BOARD = "default"

# A processor that is slow submits few requests in the time that an interrupt waits for more of them.
at_full_speed = pytest.mark.skipif(KERNEL == DEBUG_KERNEL or SOFT,
    reason="the debug kernel submits too slowly for this rate, and a link of Gen1 x1 moves 4 KiB too slowly")

SYSFS    = "/sys/class/litepcie/litepcie0"
DEFAULTS = {"moderation_count": 16, "moderation_us": 50}
MOST     = 65535


@pytest.fixture
def moderation(guest):
    """Function that sets both parameters; the defaults are set again at the end."""
    def set_to(count, us):
        guest.run(f"echo {count} > {SYSFS}/moderation_count; echo {us} > {SYSFS}/moderation_us")
    yield set_to
    set_to(*DEFAULTS.values())


def interrupts(guest):
    """All interrupts of the card so far."""
    lines = guest.run("grep litepcie0 /proc/interrupts").splitlines()
    return sum(int(word) for line in lines for word in line.split()[1:3])  # Two processors.


def during(guest, command):
    before = interrupts(guest)
    assert guest.run(command) == "0 failed\n"
    return interrupts(guest) - before


def test_defaults(guest):
    assert {name: int(guest.run(f"cat {SYSFS}/{name}")) for name in DEFAULTS} == DEFAULTS


@at_full_speed
@pytest.mark.parametrize("how", ["read", "write"])
def test_at_most_one_interrupt_for_eight_requests(guest, how):
    """The program also moves all bytes twice in long calls, which have up to four requests."""
    assert during(guest, f"channels load {how} 32 4096 512") <= 512 // 8 + 4


def test_a_lone_request_is_not_delayed(guest, moderation):
    """With the longest delay: 64 calls would take 4 s of the card's time, which are minutes of the simulator's."""
    moderation(MOST, MOST)
    assert 64 <= during(guest, "timeout 60 channels load write 1 4096 64") <= 64 + 4


def test_without_moderation_each_request_has_an_interrupt(guest, moderation):
    """Some are merged, because a status block that is under way holds up the next one."""
    moderation(0, 0)
    assert during(guest, "channels load write 32 4096 256") > 256 // 8


@pytest.mark.parametrize("name", DEFAULTS)
def test_values_that_are_refused(guest, name):
    for value in ("65536", "-1", "many", ""):
        said = guest.run(f"echo '{value}' > {SYSFS}/{name}", status=1)
        assert "Invalid argument" in said or "out of range" in said, (value, said)
        assert int(guest.run(f"cat {SYSFS}/{name}")) == DEFAULTS[name]


@at_full_speed
def test_moderation_survives_a_reset_of_the_card(guest, moderation):
    moderation(MOST, MOST)
    guest.run("echo 1 > /sys/bus/pci/devices/0000:01:00.0/reset")
    assert during(guest, "channels load write 32 4096 256") <= 256 // 8
    guest.works()
