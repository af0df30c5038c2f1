# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""list, and the line about a slow link, on a folder that stands for /sys."""

import json

import pytest

from test.software.user.conftest import unwrapped, write

SPEEDS = {1: "2.5 GT/s PCIe", 2: "5.0 GT/s PCIe", 3: "8.0 GT/s PCIe", None: "Unknown"}


def link(which, gen, lanes):
    return {f"{which}_link_speed": SPEEDS[gen], f"{which}_link_width": lanes}


def add_card(sysfs, number, address, now, card, slot):
    """A card below a port; `slot` is None below a bus without one."""
    port   = sysfs / "devices" / f"port{number}"
    device = port / address
    if slot:
        write(port, link("max", *slot))
    write(device, {**link("current", *now), **link("max", *card), "numa_node": number - 1})
    write(sysfs / "class" / "litepcie" / f"litepcie{number}", {"target": f"board{number}", "gateware_version": "1.3"})
    (sysfs / "class" / "litepcie" / f"litepcie{number}" / "device").symlink_to(device)
    (sysfs / "bus" / "pci" / "devices").mkdir(parents=True, exist_ok=True)
    (sysfs / "bus" / "pci" / "devices" / address).symlink_to(device)


@pytest.fixture
def sysfs(tmp_path):
    root = tmp_path / "sys"
    add_card(root, 0, "0000:01:00.0", (2, 4), (2, 4), (3, 16))
    add_card(root, 9, "0000:02:00.0", (1, 4), (2, 4), (1, 4))
    add_card(root, 10, "0000:03:00.0", (2, 1), (2, 4), (3, 8))
    write(root / "bus" / "pci" / "slots" / "5-1", {"address": "0000:02:00"})
    write(root / "module" / "litepcie", {"version": "0.1.0"})
    return root


LIST = """\
/dev/litepcie0 at 0000:01:00.0: board0, gateware 1.3
  link   Gen2 x4, card Gen2 x4, slot Gen3 x16; slot name ?, NUMA node ?, driver
         version 0.1.0
/dev/litepcie9 at 0000:02:00.0: board9, gateware 1.3
  link   Gen1 x4, card Gen2 x4, slot Gen1 x4; slot name 5-1, NUMA node 8, driver
         version 0.1.0
  slower Gen1 x4, because the slot can do Gen1 x4; the card can do Gen2 x4: use
         a faster slot
/dev/litepcie10 at 0000:03:00.0: board10, gateware 1.3
  link   Gen2 x1, card Gen2 x4, slot Gen3 x8; slot name ?, NUMA node 9, driver
         version 0.1.0
  slower Gen2 x1, but the card can do Gen2 x4 and the slot Gen3 x8: reseat the
         card, and check the clock and the bitstream
"""


def test_list(card, sysfs):
    assert card("list", sysfs=sysfs) == (0, LIST, "")
    cards = json.loads(card("list", "--json", sysfs=sysfs).out)["cards"]
    assert [one["device"] for one in cards] == ["/dev/litepcie0", "/dev/litepcie9", "/dev/litepcie10"]
    assert "degraded" not in cards[0] and "numa_node" not in cards[0]
    assert cards[1] == {"device": "/dev/litepcie9", "bus_address": "0000:02:00.0", "target": "board9",
        "gateware_version": "1.3", "link": {"gen": 1, "lanes": 4}, "card_link": {"gen": 2, "lanes": 4},
        "slot_link": {"gen": 1, "lanes": 4}, "slot": "5-1", "numa_node": 8, "driver_version": "0.1.0",
        "degraded": "Gen1 x4, because the slot can do Gen1 x4; the card can do Gen2 x4: use a faster slot"}


def test_no_card(card):
    said = "no card; check that the module is loaded (lsmod | grep litepcie) and the card is there (lspci)"
    assert card("list") == (4, "", f"litepcie_util: {said}\n")
    told = card("list", "--json")
    assert (told.code, json.loads(told.out)["cards"]) == (4, [])


def told_of(card, settings):
    """What info and dma_test say, in text, and why the link is slower in their JSON."""
    info, test = ("info",), ("dma_test", "-n", 1)
    return [*(unwrapped(card(*one, **settings).out) for one in (info, test)),
        json.loads(card(*info, "--json", **settings).out)["link"].get("degraded", ""),
        json.loads(card(*test, "--json", **settings).out).get("degraded", "")]


def check_slower(told, said):
    if said is None:
        assert not told[2] and not told[3] and "slower" not in "".join(told)
    else:
        assert all(said in text for text in told), told


@pytest.mark.parametrize("now, slot, said", [
    ((2, 4), (3, 16), None),
    ((2, 1), (3, 16), "Gen2 x1, but the card can do Gen2 x4 and the slot Gen3 x16: reseat the card"),
    ((1, 4), (1, 16), "Gen1 x4, because the slot can do Gen1 x16; the card can do Gen2 x4: use a faster slot"),
    ((2, 1), (2, 1),  "Gen2 x1, because the slot can do Gen2 x1; the card can do Gen2 x4: use a faster slot"),
    ((1, 1), (2, 1),  "Gen1 x1, but the card can do Gen2 x4 and the slot Gen2 x1: reseat the card"),
    ((2, 1), (None, 255), "what the slot can do is not known"),
    ((2, 1), None,    "what the slot can do is not known"),
])
def test_a_slow_link_in_every_command(card, tmp_path, now, slot, said):
    add_card(tmp_path / "sys", 0, "0000:01:00.0", now, (2, 4), slot)
    settings = {"sysfs": tmp_path / "sys", "gen": now[0], "lanes": now[1]}
    check_slower(told_of(card, settings), said)


def express(mps_possible, mps=128, mrrs=512):
    """A configuration space with one capability, PCI Express."""
    space = bytearray(256)
    space[0x06], space[0x34], space[0x60] = 0x10, 0x60, 0x10
    code = {size: n for n, size in enumerate((128, 256, 512, 1024, 2048, 4096))}
    space[0x64] = code[mps_possible]
    space[0x68:0x6a] = (code[mps] << 5 | code[mrrs] << 12).to_bytes(2, "little")
    return bytes(space)


@pytest.mark.parametrize("card_mps, slot_mps, settings, said", [
    (512, 512, {"mps": 512}, None),
    (512, 128, {"mps": 128}, None),  # What the host can set is set.
    (512, 256, {"mps": 128}, "MPS 128, but the card can do 512 and the slot 256 bytes: boot with pci=pcie_bus_perf"),
    (256, 256, {"mrrs": 256}, "MRRS 256, but the card can do 4096 bytes and no slot limits it"),
    (256, 256, {"tags": 64, "status": 0xb}, "32 tags, but the card can do 64 and every slot can: the host has disabled "
        "extended tags"),
    (256, 256, {"tags": 64, "status": 0xf}, None),
    (256, 256, {"tags": 64, "status": 0}, None),  # Not known with an older driver.
    (256, 256, {"gen": 1, "mrrs": 128}, "reseat the card, and check the clock and the bitstream; MRRS 128, but"),
])
def test_small_sizes_and_few_tags(card, tmp_path, card_mps, slot_mps, settings, said):
    add_card(tmp_path / "sys", 0, "0000:01:00.0", (settings.get("gen", 2), 4), (2, 4), (3, 16))
    port = tmp_path / "sys" / "devices" / "port0"
    (port / "config").write_bytes(express(slot_mps))
    (port / "0000:01:00.0" / "config").write_bytes(
        express(card_mps, settings.get("mps", 256), settings.get("mrrs", 512)))
    settings = {"sysfs": tmp_path / "sys", **settings}
    told = told_of(card, settings)
    if "tags" not in settings:
        told += [unwrapped(card("list", **settings).out)]
    check_slower(told, said)


def test_a_user_without_root_sees_the_header_only(card, tmp_path):
    add_card(tmp_path / "sys", 0, "0000:01:00.0", (2, 4), (2, 4), (3, 16))
    for folder in ("port0", "port0/0000:01:00.0"):
        (tmp_path / "sys" / "devices" / folder / "config").write_bytes(express(512)[:64])
    assert "slower" not in card("info", sysfs=tmp_path / "sys", mps=128).out
