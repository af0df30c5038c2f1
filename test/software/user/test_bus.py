# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""bus: identities and names against lspci, links, drivers and cards, missing names."""

import json
import re

import pytest

from test.software.user.conftest import unwrapped, write
from test.software.user.lspci import lspci, names

# (address, vendor, device, class, revision)
DEVICES = [
    ("0000:00:00.0", 0x8086, 0x29c0, 0x060000, 0), ("0000:00:1c.0", 0x8086, 0x3420, 0x060400, 2),
    ("0000:01:00.0", 0x10ee, 0x7024, 0x118000, 0), ("0000:02:1f.7", 0x1af4, 0x1041, 0x020000, 1),
    ("0001:a0:00.0", 0xfff0, 0x1234, 0xff0000, 255),
]


def header(vendor, device, class_, revision):
    data = bytearray(64)
    data[0:4] = vendor.to_bytes(2, "little") + device.to_bytes(2, "little")
    data[8:12] = bytes([revision]) + class_.to_bytes(3, "little")
    return bytes(data)


@pytest.fixture
def sysfs(tmp_path):
    for address, vendor, device, class_, revision in DEVICES:
        write(tmp_path / "bus" / "pci" / "devices" / address, {"vendor": f"0x{vendor:04x}",
            "device": f"0x{device:04x}", "class": f"0x{class_:06x}", "revision": f"0x{revision:02x}"})
    card = tmp_path / "bus" / "pci" / "devices" / "0000:01:00.0"
    write(card, {"current_link_speed": "2.5 GT/s PCIe", "current_link_width": "4", "max_link_speed": "5.0 GT/s PCIe",
        "max_link_width": "4"})
    for folder in (card / "litepcie" / "litepcie3", card / "litepcie" / "litepcie3_stream0",
            tmp_path / "drivers" / "litepcie"):
        folder.mkdir(parents=True)
    (card / "driver").symlink_to(tmp_path / "drivers" / "litepcie")
    return tmp_path


def test_names_are_those_of_lspci(card, sysfs, tmp_path):
    """Each line has the text of lspci's line, which has no vendor where it is not known."""
    theirs = lspci(tmp_path, {address: header(*rest) for address, *rest in DEVICES}, "-nn").splitlines()
    out    = unwrapped(card("bus", "--names", names(), sysfs=sysfs).out, "(?!link |driver )")
    ours   = [line for line in out.splitlines() if line[2:3].isdigit()]
    assert len(theirs) == len(ours) == len(DEVICES)
    for one, other in zip(ours, theirs):
        other = re.sub(r" \((rev|prog-if) .*", "", other).replace("]: Device", "]: Vendor Device")
        assert re.sub(r"  +| \(rev.*", " ", one[2:]).strip() == other.strip()


def test_text(card, sysfs):
    out = card("bus", "--names", names(), sysfs=sysfs).out
    assert """\
* 0000:01:00.0  Signal processing controller [1180]: Xilinx Corporation Device
                [10ee:7024] (rev 00)
                link Gen1 x4, possible Gen2 x4
                driver litepcie, /dev/litepcie3
""" in out
    assert out.count("*") == 1 and all(len(line) <= 80 for line in out.splitlines())
    assert card("bus", "--cards", "--names", names(), sysfs=sysfs).out.count("\n") == 4


def test_json(card, sysfs):
    result = json.loads(card("bus", "--json", "--names", names(), sysfs=sysfs).out)
    assert [one["bus_address"] for one in result["devices"]] == [address for address, *_ in DEVICES]
    assert result["devices"][2] == {"bus_address": "0000:01:00.0", "domain": 0, "bus": 1, "slot": 0, "function": 0,
        "vendor_id": 0x10ee, "device_id": 0x7024, "subsystem_vendor_id": 0, "subsystem_id": 0, "class": 0x118000,
        "revision": 0, "vendor_name": "Xilinx Corporation", "class_name": "Signal processing controller",
        "link": {"gen": 1, "lanes": 4}, "card_link": {"gen": 2, "lanes": 4}, "driver": "litepcie",
        "device": "/dev/litepcie3"}
    assert result["devices"][3].items() >= {"bus": 2, "slot": 31, "function": 7}.items()
    assert result["devices"][4].items() >= {"domain": 1, "bus": 0xa0}.items() and result["names_known"]


@pytest.mark.parametrize("text", ["10ee", "10ee  ", "10ee  X", "10ee  X\n", "10ee  X\n\t", "10ee  X\n\t7024  Y",
    "10ee  X\n11ff  Z\n\t7024  Y\n", "C 11  K", "C 11  K\n\t80  L", "\n\n\n", "#\n10ee  X\n# c\n\t7024  Y\n"])
def test_any_file_of_names(card, sysfs, tmp_path, text):
    """Files that are cut give what they have; a device of another vendor is not taken."""
    (tmp_path / "ids").write_text(text)
    result = json.loads(card("bus", "--json", "--names", tmp_path / "ids", sysfs=sysfs).out)
    one    = result["devices"][2]
    assert one.get("device_name", "") == ("Y" if "Y" in text and "Z" not in text else "")
    assert one.get("vendor_name", "") == ("X" if "  X" in text else "")
    assert one.get("class_name", "") == ("L" if "L" in text else "K" if "K" in text else "")


def test_without_names(card, sysfs, tmp_path):
    environment = card.environment
    card.environment = lambda **settings: environment(**settings) | {"LITEPCIE_PCI_IDS": "/nowhere"}
    result = card("bus", sysfs=sysfs)
    assert result.code == 0
    assert result.out.endswith("without names: install pci.ids (package pci.ids or hwdata), or give --names\n")
    assert "Class [1180]: Vendor Device [10ee:7024]" in result.out
    assert card("bus", "--names", "/nowhere", sysfs=sysfs) == (2, "",
        "litepcie_util: --names: /nowhere cannot be read; give the file pci.ids\n")
    assert json.loads(card("bus", "--json").out)["devices"] == []  # Without a bus.
