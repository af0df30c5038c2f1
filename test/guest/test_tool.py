# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""What the tool reads from the kernel and only has in the guest: cards in sysfs, and locks of the device file."""

import base64
import json
import re

import pytest

from test.guest.conftest      import IDS, SPEED
from test.software.user.lspci import compare, lspci

BOARD = "default"


def test_list_and_the_address_of_the_card(guest):
    """The card's address opens it; a link as fast as the card is not called slow."""
    one, = json.loads(guest.run("litepcie_util --json list"))["cards"]
    assert (one["device"], one["link"], one["card_link"]) == ("/dev/litepcie0", SPEED, SPEED)
    assert "degraded" not in one
    info = json.loads(guest.run(f"litepcie_util --json -d {one['bus_address']} info"))
    assert (info["bus_address"], info["device"]) == (one["bus_address"], "/dev/litepcie0")
    guest.run("litepcie_util -d 0000:1f:1f.7 info", status=4)


def test_info_has_what_linux_knows(guest):
    """Ids, family, and the interrupts that the card has raised; without permission, the group that has it."""
    told = json.loads(guest.run("litepcie_util --json info"))
    names = "vendor_id", "device_id", "subsystem_vendor_id", "subsystem_id", "family"
    assert told["pci"] == {**dict(zip(names, IDS)), "revision": 0, **{key: told["pci"][key] for key in ("slot",)
        if key in told["pci"]}}
    guest.run("litepcie_util dma_test -n 2")
    later = json.loads(guest.run("litepcie_util --json info"))["interrupts"]
    assert later["kind"] in ("MSI", "MSI-X") and later["vectors"] >= 1
    assert later["count"] > told["interrupts"]["count"]
    assert "permission denied: the group litepcie may open it: run 'sudo usermod -aG litepcie USER'" in guest.run(
        "echo 'litepcie:x:77:' >> /etc/group; chgrp 77 /dev/litepcie0; chmod 660 /dev/litepcie0; "
        "echo 'nobody:x:65534:65534::/:/bin/sh' >> /etc/passwd; su nobody -c 'litepcie_util info' 2>&1", status=1)


def test_small_requests_are_reported(guest):
    """QEMU's port can do an MPS of 128 bytes only, which is therefore no fault of the host's settings."""
    guest.run("pcie_sizes 128 128")
    for command in ("list", "info", "dma_test -n 1"):
        assert re.search("slower +MRRS 128, but the card can do 4096 bytes", guest.run(f"litepcie_util {command}"))
    guest.run("pcie_sizes 256 512")
    assert "slower" not in guest.run("litepcie_util list; litepcie_util info")


def test_two_tests_on_one_area(guest):
    """The second one ends at once and names the first; Ctrl-C ends the first within its transfer."""
    guest.run("litepcie_util dma_test -s read -l 32M > /tmp/first 2>&1 & echo $! > /tmp/pid;"
        " until grep -q \" $!\\b\" /proc/locks; do sleep 0.05; done")
    said = guest.run("litepcie_util dma_test -n 1 2>&1", status=1)
    pid  = guest.run("cat /tmp/pid").strip()
    assert f"process {pid} (litepcie_util) uses bytes 0 to 33554495 of the card's memory" in said
    guest.run(f"kill -TERM {pid}")
    guest.wait(f"! test -d /proc/{pid}")
    guest.run("grep -q 'ended by signal 15 in iteration 0' /tmp/first && litepcie_util dma_test -n 1")


def test_config_and_bus_are_those_of_lspci(guest, tmp_path):
    """Every device of the guest, by lspci on the same bytes; a user without root sees the header."""
    devices = {}
    for address in guest.run("ls /sys/bus/pci/devices").split():
        devices[address] = base64.b64decode(guest.run(f"base64 /sys/bus/pci/devices/{address}/config"))
    text  = lspci(tmp_path, devices, "-vvv", "-nn")
    parts = dict(zip(devices, re.split(r"\n\n", text)))
    for address in devices:
        blocks = json.loads(guest.run(f"litepcie_util --json config {address}"))["blocks"]
        # After its last line, a part of lspci's text has lost its newline.
        assert compare(blocks, parts[address] + "\n") > 10, address
    shown = {one["bus_address"]: one for one in json.loads(guest.run("litepcie_util --json bus"))["devices"]}
    for address, part in parts.items():
        class_, ids = re.search(r"\[(\w{4})\]: .*?\[(\w{4}:\w{4})\]", part).groups()
        one = shown[address]
        assert (f"{one['class'] >> 8:04x}", f"{one['vendor_id']:04x}:{one['device_id']:04x}") == (class_, ids)
    ours = [one for one in shown.values() if "device" in one]
    assert [(one["device"], one["driver"], one["link"]) for one in ours] == [("/dev/litepcie0", "litepcie", SPEED)]
    said = guest.run("echo 'nobody:x:65534:65534::/:/bin/sh' >> /etc/passwd; su nobody -c 'litepcie_util config'")
    assert ": 64 bytes of configuration space; run as root" in said and "capability" not in said


def moved(guest):
    """Bytes that the card has counted in both directions."""
    return sum(one["bytes"] for one in json.loads(guest.run("litepcie_util --json info"))["engines"])


@pytest.mark.full
def test_transfers_in_flight_end_with_the_tool(guest):
    """Through io_uring: Ctrl-C does not wait for what is queued."""
    before = moved(guest)
    guest.run("litepcie_util dma_test -s read -l 1M --depth 56 > /tmp/many 2>&1 & echo $! > /tmp/pid")
    while moved(guest) - before < 2 << 20:
        pass
    before = moved(guest)
    guest.run("kill -INT $(cat /tmp/pid); while [ -d /proc/$(cat /tmp/pid) ]; do sleep 0.1; done")
    assert moved(guest) - before < 24 << 20
    assert "ended by signal 2 in iteration" in guest.run("cat /tmp/many")


def test_top_and_reset(guest):
    """top counts what dma_test moves and its interrupts; a reset stops no transfer, and needs root."""
    guest.run("ln -sf litepcie0 /dev/link;"
        " litepcie_util dma_test -n 1000000 -l 4K > /tmp/test 2>&1 & echo $! > /tmp/pid;"
        " until grep -q \" $(cat /tmp/pid)\\b\" /proc/locks; do sleep 0.05; done")
    for _ in range(60):  # A guest that got no time of the machine has moved nothing in an interval.
        said  = guest.run("litepcie_util --device /dev/link top --json -n 2")
        lines = [json.loads(line) for line in said.splitlines()]
        moved = sum(e["counter_bytes_per_second"] for one in lines for e in one["engines"])
        interrupts = sum(one["interrupts_per_second"] for one in lines)
        if moved and interrupts:
            break
    guest.run("kill -INT $(cat /tmp/pid); while [ -e /proc/$(cat /tmp/pid) ]; do sleep 0.05; done;"
        " grep -q 'ended by signal 2' /tmp/test")
    assert moved > 0 and interrupts > 0
    assert "litepcie_util" in [user["name"] for user in lines[0]["users"]]
    guest.run("litepcie_util mem fill --pattern random -l 2M & sleep 0.3; litepcie_util reset engines && wait $! && "
        "litepcie_util mem verify --pattern random -l 2M")
    assert "resetting needs CAP_SYS_ADMIN: run as root" in guest.run("chmod 666 /dev/litepcie0; "
        "echo 'nobody:x:65534:65534::/:/bin/sh' >> /etc/passwd; su nobody -c "
        "'litepcie_util reset reader' 2>&1", status=1)


@pytest.mark.full
def test_dma_test_adds_little_to_the_time_of_the_card(guest):
    """With two transfers of 1 MiB in flight, the engine waits for descriptors in less than 2 % of its active cycles."""
    for direction in ("read", "write"):
        told = json.loads(guest.run(f"litepcie_util --json dma_test -s {direction} -l 1M --depth 2 -n 2", timeout=600))
        wait = told[direction]["wait_percent_of_active_cycles"]
        assert wait["descriptor"] < 2, (direction, wait)
