# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Devices that cannot be opened or are not supported; info and scratch_test."""

import errno
import json
import os
import subprocess

from pathlib import Path

import pytest

ADVICE = {
    errno.ENOENT : "no such device file: check that the module is loaded (lsmod | grep litepcie) and the card is there "
        "(lspci)",
    errno.EACCES : "permission denied: run as root, or give your user permission for the device file",
    errno.ENXIO  : "the device file belongs to no driver: check that the card is there (lspci) and read the kernel log "
        "(dmesg)",
    errno.ENODEV : "the card is gone, or the driver was unbound: check that the card is there (lspci) and read the "
        "kernel log (dmesg)",
}


@pytest.mark.parametrize("command", ["info", "scratch_test", "dma_test"])
@pytest.mark.parametrize("error", ADVICE, ids=errno.errorcode.get)
def test_not_opened(card, command, error):
    result = card(command, open_errno=error)
    status = 1 if error == errno.EACCES else 4
    assert result == (status, "", f"litepcie_util: /dev/litepcie0: {ADVICE[error]}\n")


@pytest.fixture
def sysfs(tmp_path):
    """Two cards in sysfs: litepcie0 at 0000:01:00.0, litepcie10 at 0001:a2:1f.7."""
    for name, address in (("litepcie0", "0000:01:00.0"), ("litepcie10", "0001:a2:1f.7")):
        folder = tmp_path / "class" / "litepcie" / name
        for one in (folder, tmp_path / "devices" / address):
            one.mkdir(parents=True)
        (folder / "device").symlink_to(tmp_path / "devices" / address)
    return tmp_path


@pytest.mark.parametrize("name", ["0", "/dev/litepcie0", "0000:01:00.0", "01:00.0", "1:0.0"])
def test_names_of_a_device(card, sysfs, name):
    result = card("info", "--json", "-d", name, sysfs=sysfs)
    assert (result.code, json.loads(result.out)["device"]) == (0, "/dev/litepcie0")


def test_names_of_a_device_that_is_absent(card, sysfs):
    """The address leads to the device file of that card, which the mock does not have."""
    assert "/dev/litepcie10: no such device file" in card("info", "-d", "0001:A2:1f.7", sysfs=sysfs).err
    assert card("info", "-d", "7") == (4, "", f"litepcie_util: /dev/litepcie7: {ADVICE[errno.ENOENT]}\n")
    assert card("info", "-d", "0000:02:00.0", sysfs=sysfs) == (4, "", "litepcie_util: 0000:02:00.0: no card of the "
        "driver has this PCI address; give that of a card in /sys/class/litepcie\n")


@pytest.mark.parametrize("arguments, settings, status, kind", [
    (["info"], {"open_errno": errno.ENODEV}, 4, "gone"), (["dma_test"], {"open_errno": errno.EACCES}, 1, "failed"),
    (["info", "--bogus"], {}, 2, "usage"), (["dma_test", "-l", "9T"], {}, 2, "usage"),
    (["dma_test", "-l", "2M"], {}, 2, "usage")])
def test_errors_are_objects_with_json(card, arguments, settings, status, kind):
    """One document on stdout, and the line on stderr; also before the command is known."""
    assert "command" not in json.loads(card("--json", "bogus").out) and card("help", "--", "--json").out == ""
    result = card(*arguments, "--json", **settings)
    error  = json.loads(result.out)
    assert result.code == status
    assert error == {"format_version": 2, "command": arguments[0], "ok": False, "error": {
        "exit_status": status, "kind": kind, "message": result.err.removeprefix("litepcie_util: ").strip()}}


def test_device_of_another_driver_or_version(card):
    for device in ("/dev/null", "/dev/litepcie0"):
        assert card("info", "-d", device, not_a_card=1) == (1, "", f"litepcie_util: {device}: not a device of the "
            "LitePCIe SoC driver: give the device file of a card, /dev/litepcieN\n")
    assert card("info", uapi=2) == (1, "", "litepcie_util: /dev/litepcie0: the driver has interface version 2, this "
        "program has version 1: use module and program of the same release\n")


def test_info_shows_unknown_capabilities_and_the_engines_the_card_has(card):
    assert "reader, bit 31" in card("info", capabilities=0x80000001).out
    assert json.loads(card("info", "--json", capabilities=0x80000001).out)["capabilities"] == ["reader", "bit 31"]
    engines = json.loads(card("info", "--json", capabilities=0x02).out)["engines"]
    assert [engine["engine"] for engine in engines] == ["writer"]


def test_scratch_with_a_bit_that_is_stuck(card):
    assert card("scratch_test", scratch_and=0xfffffffe) == (3, "", "litepcie_util: /dev/litepcie0: scratch register: "
        "expected 0xffffffff, got 0xfffffffe\n")


def test_output_that_cannot_be_written(card):
    with open("/dev/full", "w") as full:
        result = subprocess.run([card.build / "litepcie_util", "info"], stdout=full, stderr=subprocess.PIPE, text=True,
            env=card.environment())
    assert (result.returncode, result.stderr) == (1, "litepcie_util: cannot write the output\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another group")
def test_permission_denied_names_the_group(card, tmp_path):
    """The group of the device file by its name, its number if it has none, and the udev rule if only root may."""
    file = tmp_path / "device"
    file.touch()
    names = {int(line.split(":")[2]): line.split(":")[0] for line in Path("/etc/group").read_text().splitlines()}
    for group, mode, said in (
        (1,     0o660, f"the group {names.get(1, 1)} may open it: run 'sudo usermod -aG {names.get(1, 1)} USER' and "
                       "log in again, or run as root"),
        (54321, 0o660, "the group 54321 may open it: run"),
        (0,     0o660, "only root may open it: run as root, or install the udev rule 60-litepcie.rules, which gives it "
                       "to the group litepcie"),
        (1,     0o600, "only root may open it"),
    ):
        os.chown(file, 0, group)
        file.chmod(mode)
        result = card("info", open_errno=errno.EACCES, stat=file)
        assert result.code == 1 and result.err.count("\n") == 1
        assert result.err.startswith(f"litepcie_util: /dev/litepcie0: permission denied: {said}")
