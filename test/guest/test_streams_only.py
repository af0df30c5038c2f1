#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A card with streams and without memory channels: all works but what needs such a channel."""

import pytest

pytestmark = [pytest.mark.guest, pytest.mark.full]

CARD        = "0000:01:00.0"
DRIVER      = "/sys/bus/pci/drivers/litepcie"
NO_CHANNELS = "the card has no memory channels; its streams are for the command stream"


@pytest.fixture(scope="module")
def guest(boot, build_board):
    with boot("streams-only", board=build_board(channels=0, streams=1, user_core=True)) as guest:
        yield guest


def loops(guest):
    assert "loopback: " in guest.run("litepcie_util stream loopback -n 20")


def test_streams_registers_and_window(guest):
    loops(guest)
    assert "engines   0 channels, 1 stream, " in guest.run("litepcie_util info")
    assert "/dev/litepcie0 at " in guest.run("litepcie_util list")
    guest.run("litepcie_util pio_test -n 200")
    guest.run("litepcie_util mem fill --pio --pattern counter -o 64 -l 301 && "
        "litepcie_util mem verify --pio --pattern counter -o 64 -l 301")
    guest.run("litepcie_util scratch_test")
    guest.run("dd if=/dev/litepcie0_user of=/dev/null bs=4 count=1")
    guest.run("echo 5 > /sys/class/litepcie/litepcie0/moderation_us")
    guest.run("test -d /sys/kernel/debug/litepcie/litepcie0")


@pytest.mark.parametrize("call", ["dd if=/dev/litepcie0 of=/dev/null bs=4k count=1",
    "dd if=/dev/zero of=/dev/litepcie0 bs=4k count=1"])
def test_the_memory_is_not_moved(guest, call):
    """EOPNOTSUPP."""
    assert "not supported" in guest.run(f"{call} 2>&1", status=1)


@pytest.mark.parametrize("command", ["dma_test -n 1", "bench", "reset engines", "reset reader --channel 0"])
def test_the_tool_says_so(guest, command):
    assert NO_CHANNELS in guest.run(f"litepcie_util {command} 2>&1", status=1)


def test_it_survives_a_reset_and_another_bind(guest):
    guest.run("litepcie_util reset function")
    loops(guest)
    guest.run(f"echo {CARD} > {DRIVER}/unbind; test ! -e /dev/litepcie0; echo {CARD} > {DRIVER}/bind")
    loops(guest)
