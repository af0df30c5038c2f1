# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Devices that cannot be opened or are not supported; info and scratch_test."""

import errno
import json
import subprocess

import pytest

ADVICE = {
    errno.ENOENT : "no such device file: check that the module is loaded (lsmod | grep litepcie) and "
                   "the card is there (lspci)",
    errno.EACCES : "permission denied: run as root, or give your user permission for the device file",
    errno.ENXIO  : "the device file belongs to no driver: check that the card is there (lspci) and "
                   "read the kernel log (dmesg)",
    errno.ENODEV : "the card is gone, or the driver was unbound: check that the card is there "
                   "(lspci) and read the kernel log (dmesg)",
}


@pytest.mark.parametrize("command", ["info", "scratch_test", "dma_test"])
@pytest.mark.parametrize("error", ADVICE, ids=errno.errorcode.get)
def test_not_opened(card, command, error):
    result = card(command, open_errno=error)
    assert result == (1, "", f"litepcie_util: /dev/litepcie0: {ADVICE[error]}\n")


def test_no_device_file(card):
    result = card("info", "--card", 7)
    assert result == (1, "", f"litepcie_util: /dev/litepcie7: {ADVICE[errno.ENOENT]}\n")


@pytest.mark.parametrize("device", ["/dev/null", "/dev/litepcie0"])
def test_device_of_another_driver(card, device):
    result = card("info", "-d", device, not_a_card=1)
    assert result == (1, "", f"litepcie_util: {device}: not a device of the LitePCIe SoC driver: "
        "give the device file of a card, /dev/litepcieN\n")


def test_driver_of_another_version(card):
    result = card("info", uapi=2)
    assert result == (1, "", "litepcie_util: /dev/litepcie0: the driver has interface version "
        "2, this program has version 1: use module and program of the same release\n")


def test_info_names_unknown_capabilities(card):
    assert "reader, bit 31" in card("info", capabilities=0x80000001).out
    assert json.loads(card("info", "--json", capabilities=0x80000001).out)["capabilities"] == [
        "reader", "bit 31"]


def test_info_shows_the_engines_the_card_has(card):
    engines = json.loads(card("info", "--json", capabilities=0x02).out)["engines"]
    assert [engine["engine"] for engine in engines] == ["writer"]


def test_scratch_with_a_bit_that_is_stuck(card):
    result = card("scratch_test", scratch_and=0xfffffffe)
    assert result == (1, "", "litepcie_util: /dev/litepcie0: scratch register: expected "
        "0xffffffff, got 0xfffffffe\n")


def test_output_that_cannot_be_written(card):
    with open("/dev/full", "w") as full:
        result = subprocess.run([card.build / "litepcie_util", "info"], stdout=full,
            stderr=subprocess.PIPE, text=True, env=card.environment())
    assert result.returncode == 1
    assert result.stderr == "litepcie_util: cannot write the output\n"
