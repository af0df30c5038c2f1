# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Two cards in one guest: each has its nodes, and moves data while the other is busy, reset, unbound or bound."""

import re

import pytest


pytestmark = [pytest.mark.guest, pytest.mark.full]

CARDS  = ("0000:01:00.0", "0000:02:00.0")
DRIVER = "/sys/bus/pci/drivers/litepcie"


@pytest.fixture(scope="module")
def guest(boot, board, full_board):
    with boot("two-cards", board=board, others=[full_board], cpus=2) as guest:
        yield guest
        guest.works()


def moves(card, seconds=""):
    """Command that writes data of its own to a card and compares what comes back: once, or for some seconds."""
    once = f"head -c 300000 /dev/urandom > /tmp/sent{card} && dd if=/tmp/sent{card} of=/dev/litepcie{card} bs=100k " \
        f"&& dd if=/dev/litepcie{card} bs=100k count=3 | head -c 300000 | cmp - /tmp/sent{card}"
    loop = f"end=$(($(date +%s) + {seconds})); while [ $(date +%s) -lt $end ]; do ({once}) || exit; done"
    return f"({loop if seconds else once}) 2>/tmp/said{card}"


def test_each_card_has_its_names(guest):
    found = re.findall(r"^(/dev/litepcie\d+) at (\S+):", guest.run("litepcie_util list"), re.MULTILINE)
    assert found == [(f"/dev/litepcie{number}", card) for number, card in enumerate(CARDS)]
    for folder in ("/sys/class/litepcie", "/sys/kernel/debug/litepcie"):
        assert guest.run(f"ls -d {folder}/litepcie?").split() == [f"{folder}/litepcie0", f"{folder}/litepcie1"]
    for number, card in enumerate(CARDS):
        assert guest.run(f"readlink -f /sys/class/litepcie/litepcie{number}/device").strip().endswith(card)
        assert card in guest.run(f"litepcie_util --card {number} info")
    names = guest.run("grep -o 'litepcie[0-9].*' /proc/interrupts").split()
    assert len(set(names)) == len(names) and {name[:9] for name in names} == {"litepcie0", "litepcie1"}
    assert guest.run("dmesg | grep -E 'already present|duplicate' || true") == ""


def test_both_move_data_at_once(guest):
    guest.run(f"{moves(0)} & first=$!; {moves(1)} && wait $first")
    guest.run("cmp /tmp/sent0 /tmp/sent1", status=1)
    # What the one got later has not changed the other.
    guest.run(f"{moves(0)} && dd if=/dev/litepcie1 bs=100k count=3 2>/dev/null | head -c 300000 | cmp - /tmp/sent1")
    assert guest.pinned_pages() == 0


def test_one_goes_on_while_the_other_is_reset_and_unbound(guest):
    for busy, other in ((0, 1), (1, 0)):
        guest.run(f"{moves(busy, 2)} & busy=$!; echo 1 > /sys/bus/pci/devices/{CARDS[other]}/reset && "
            f"echo {CARDS[other]} > {DRIVER}/unbind && ! test -e /dev/litepcie{other} && "
            f"! test -e /sys/kernel/debug/litepcie/litepcie{other} && wait $busy || exit; "
            f"echo {CARDS[other]} > {DRIVER}/bind && test -c /dev/litepcie{other} && {moves(other)}", timeout=120)


def test_nodes_of_another_bitstream_are_its_own(guest):
    assert guest.run("ls /dev/litepcie*_user /dev/litepcie*_stream*").split() == [
        "/dev/litepcie1_stream0", "/dev/litepcie1_stream1", "/dev/litepcie1_user"]
    assert len(guest.run("ls /dev/litepcie1_interrupt*").split()) == 5
    guest.run("! ls /dev/litepcie0_*")
