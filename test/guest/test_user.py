#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""/dev/litepcie0_user: the registers and the RAM of the simulated board's user core."""

import pytest

CARD   = "/sys/bus/pci/devices/0000:01:00.0"
DRIVER = "/sys/bus/pci/drivers/litepcie"
NODE   = "/dev/litepcie0_user"


@pytest.fixture(scope="module")
def guest(boot, build_board):
    # Reads that fail are completed with Completer Abort: the card breaks no rule.
    with boot("user_core", board=build_board(user_core=True)) as guest:
        yield guest


def test_every_call(guest):
    assert "checks passed" in guest.run("user")
    assert guest.run("cat /sys/class/litepcie_user/litepcie0_user/origin").strip() == "0x0"
    assert "user" in guest.run("litepcie_util info")
    guest.works()


def test_a_slave_that_does_not_answer_does_not_stop_the_card(guest):
    """Reads of nothing in a loop beside transfers that are compared."""
    assert "checks passed" in guest.run("user & litepcie_util dma_test --sequence read-then-write "
        "--iterations 20; wait")


def test_a_reset_removes_the_mapping_until_it_is_over(guest):
    assert guest.run(f"user 'echo 1 > {CARD}/reset'").split() == ["same"]
    guest.works()


def test_unbind_ends_mapping_and_calls(guest):
    said = guest.run(f"user 'echo 0000:01:00.0 > {DRIVER}/unbind'")
    assert said.split("\n")[0] == "SIGBUS ENODEV"
    guest.run(f"test ! -e {NODE}")
    guest.run(f"echo 0000:01:00.0 > {DRIVER}/bind; test -c {NODE}")
    assert "checks passed" in guest.run("user")
    guest.works()


def test_a_card_without_the_range_has_no_node(shared_guest):
    with shared_guest.borrow() as guest:
        guest.run(f"test ! -e {NODE}")
