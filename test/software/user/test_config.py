# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""config: registers and fields against lspci, broken chains, rights, changes, errors."""

import json
import random
import signal

import pytest

from test.software.user.conftest import LIMIT
from test.software.user.lspci import compare, lspci, made_space

ADDRESS = "0000:01:00.0"


class Sysfs:
    """A folder that stands for /sys, with one card."""
    def __init__(self, root):
        self.root   = root
        self.device = root / "bus" / "pci" / "devices" / ADDRESS
        card        = root / "class" / "litepcie" / "litepcie0"
        for folder in (self.device, card):
            folder.mkdir(parents=True)
        (card / "device").symlink_to(self.device)

    def write(self, data):
        # Renamed, so that a reader sees the old or the new bytes.
        (self.device / "new").write_bytes(data)
        (self.device / "new").rename(self.device / "config")


@pytest.fixture
def sysfs(tmp_path):
    return Sysfs(tmp_path / "sys")


def document(card, sysfs, *arguments, status=0):
    result = card("config", "--json", *arguments, sysfs=sysfs.root)
    assert result.code == status, result
    return json.loads(result.out)


@pytest.mark.parametrize("seed", range(4))
def test_every_field_is_that_of_lspci(card, sysfs, tmp_path, seed):
    data = made_space(seed)
    sysfs.write(data)
    compared = compare(document(card, sysfs)["blocks"], lspci(tmp_path, {ADDRESS: data}, "-vvv", "-nn"))
    assert compared > 200, compared


def test_every_register_has_the_value_of_its_bytes(card, sysfs):
    data = made_space(3)
    sysfs.write(data)
    result = document(card, sysfs, "--bytes")
    assert bytes(result["bytes"]) == data and result["readable_bytes"] == 4096
    seen = set()
    for block in result["blocks"]:
        for one in block["registers"]:
            at, size = one["offset_bytes"], one["size_bytes"]
            assert one["value"] == int.from_bytes(data[at:at + size], "little")
            assert not seen & set(range(at, at + size)), one
            seen |= set(range(at, at + size))
            for field in one["fields"]:
                high, low = (field["bits"].split(":")*2)[:2]
                assert field["value"] == one["value"] >> int(low) & ((2 << int(high) - int(low)) - 1)
    assert set(range(0x34)) <= seen


def test_text(card, sysfs):
    sysfs.write(made_space(3))
    out = card("config", "-x", sysfs=sysfs.root).out
    assert out.startswith(f"{ADDRESS}: 4096 bytes of configuration space\n\ntype 0 header at 0x000\n"
        "  0x000  0x10ee      Vendor ID\n")
    assert "\nPCI Express capability 0x10 at 0x06c\n" in out and "\n000: ee 10 24 70 " in out
    assert out == card("config", "-x", "01:00.0", sysfs=sysfs.root).out == \
        card("config", "-x", "-d", ADDRESS, sysfs=sysfs.root).out
    # The kernel lets a user who is not root read 64 bytes; one line says so.
    sysfs.write(made_space(3)[:64])
    result = card("config", sysfs=sysfs.root)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"{ADDRESS}: 64 bytes of configuration space; run as root to see the capabilities, "
        "in the bytes after them\n")
    assert [block["name"] for block in document(card, sysfs)["blocks"]] == ["type 0 header"]


def test_a_port(card, sysfs, tmp_path):
    """Type 1, with registers of slot and root."""
    data = bytearray(made_space(5))
    data[0x0e] = 1
    data[0x6e:0x70] = (0x0142).to_bytes(2, "little")
    sysfs.write(bytes(data))
    result    = document(card, sysfs)
    registers = {one["name"]: one for block in result["blocks"] for one in block["registers"]}
    assert result["blocks"][0]["name"] == "type 1 header"
    assert {"Secondary Bus", "Bridge Control", "Slot Status", "Root Control"} <= registers.keys()
    text = lspci(tmp_path, {ADDRESS: bytes(data)}, "-vvv", "-nn")
    assert f"secondary={registers['Secondary Bus']['value']:02x}, " in text
    assert compare(result["blocks"], text) > 200


@pytest.mark.parametrize("at, pointer", [(0x41, 0x40), (0x49, 0x40), (0x41, 0x04)])
def test_a_chain_that_does_not_end(card, sysfs, at, pointer):
    data = bytearray(made_space(3))
    data[at] = pointer
    sysfs.write(bytes(data))
    assert f"pointer to a wrong place, or to a capability before: 0x{pointer:03x}\n" in \
        card("config", sysfs=sysfs.root).out


def test_any_bytes(card, sysfs):
    """Random bytes, all ones and short files end, with valid JSON."""
    rng = random.Random(7)
    for data in [rng.randbytes(4096) for _ in range(20)] + [b"\xff"*4096, bytes(4096), b"", b"\x10"*65, b"\x10"*256]:
        sysfs.write(data)
        document(card, sysfs)


def test_watch(card, sysfs):
    data = bytearray(made_space(3))
    data[4] &= ~4
    sysfs.write(bytes(data))
    assert card("config", "-w", "--interval-ms", 1, "--count", 3, sysfs=sysfs.root) == (0, "", "")
    with card.start("config", "--watch", "--interval-ms", 20, sysfs=sysfs.root, says=card.says) as process:
        card.wait_for(process, "signals 0")
        data[4] |= 4
        sysfs.write(bytes(data))
        line = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=LIMIT) == 130
    assert "  0x004  Command: 0x" in line and line.endswith("; bus master: no -> yes\n")
    with card.start("config", "--json", "-w", "--interval-ms", 20, sysfs=sysfs.root, says=card.says) as process:
        card.wait_for(process, "signals 0", count=2)
        sysfs.write(made_space(4))
        lines = [json.loads(process.stdout.readline()) for _ in range(3)]
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=LIMIT) == 143
    assert all(one["command"] == "config" and one["before"] != one["value"] for one in lines)


def test_a_device_that_leaves(card, sysfs):
    sysfs.write(made_space(3))
    with card.start("config", "--watch", "--interval-ms", 20, sysfs=sysfs.root, says=card.says) as process:
        card.wait_for(process, "signals 0")
        sysfs.write(b"\xff"*4096)
        assert process.wait(timeout=LIMIT) == 4
        assert process.stderr.read() == f"litepcie_util: {ADDRESS}: the device does not answer any more\n"


@pytest.mark.parametrize("arguments, status, message", [
    ("config 5",             2, "'5' is not a PCI address; give one such as 0000:01:00.0"),
    ("config 01:00.0 x",     2, "config: unexpected argument 'x'; see litepcie_util help config"),
    ("config 02:00.0",       4, "0000:02:00.0: no device has this PCI address; litepcie_util bus prints all"),
    ("config -c 3",          4, "/dev/litepcie3: no card of the driver has this name; give the PCI address of a "
        "device, such as 0000:01:00.0 (litepcie_util bus prints them)"),
    ("config --interval-ms 0", 2, "--interval-ms: 0 is too small; the least is 1"),
])
def test_errors(card, sysfs, arguments, status, message):
    assert card(*arguments.split(), sysfs=sysfs.root) == (status, "", f"litepcie_util: {message}\n")
