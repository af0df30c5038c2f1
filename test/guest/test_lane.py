#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The card with the endpoint in gateware: Linux finds it and uses it over a lane, symbol by symbol, in spite of faults.

LITEPCIE_PHY=soft runs the other tests of guests on this card.
"""

import base64
import json
import re
import time

import pytest

from test.conftest           import SOFT_BOARD
from test.guest.conftest     import BUILD
from test.software.user.lspci import compare, lspci

pytestmark = pytest.mark.guest

DEVICE = "/sys/bus/pci/devices/0000:01:00.0"
# One in so many: symbols, TLPs of both directions, and packets of the root port.
FAULTS = ["--errors-every", "50000", "--lcrc-every", "500", "--drift", "300", *(word
    for name in ("nullified", "no-end", "lost-tlp", "doubled-tlp", "wrong-dllp", "lost-dllp", "doubled-dllp",
        "unknown-dllp") for word in ("--link-fault", f"{name}:700"))]


@pytest.fixture(scope="module")
def guest(boot, build_board):
    with boot("lane", board=build_board(**SOFT_BOARD), cpus=2, simulator_arguments=FAULTS) as guest:
        yield guest
    figures = json.loads((BUILD / "lane" / "stats.json").read_text())
    # The faults came, and the link made good for them: nothing that the host sent was refused by the card's rules.
    lane    = figures["lane"]
    assert lane["bad_tlps"] and lane["damaged_symbols"] and lane["faults"] and figures["to_card"]["replays"], lane
    assert lane["protocol_errors"] == 0 and figures["config_requests"] > 100


def driver_found_it(guest):
    return guest.run("dmesg").count("link is Gen1 x1")


def test_linux_finds_the_card(guest):
    """Enumeration, BAR and MSI are configuration requests over the lane. At most 60 s, as a user waits."""
    assert guest.guest.boot_seconds < 60
    info = json.loads(guest.run("litepcie_util --json info"))
    assert (info["pci"]["vendor_id"], info["pci"]["device_id"], info["pci"]["family"]) == (0x1204, 0x1ce5, "ECP5")
    assert driver_found_it(guest) == 1
    assert "PCI-MSI" in guest.run("grep litepcie0 /proc/interrupts")


def test_its_configuration_space_as_lspci_reads_it(guest, tmp_path):
    data = base64.b64decode(guest.run(f"base64 {DEVICE}/config"))
    text = lspci(tmp_path, {"0000:01:00.0": data}, "-vvv", "-nn")
    assert compare(json.loads(guest.run("litepcie_util --json config 0000:01:00.0"))["blocks"], text) > 10
    for line in (r"MSI: Enable\+ Count=1/1 Maskable- 64bit\+", r"MaxPayload 256 bytes, MaxReadReq 512 bytes",
        r"LnkSta:\s+Speed 2.5GT/s.*, Width x1", r"FLReset\+", r"Memory at \w+ \(32-bit, non-prefetchable\)"):
        assert re.search(line, text), text


def test_registers_and_both_directions(guest):
    guest.run("litepcie_util scratch_test")
    guest.run("litepcie_util dma_test --iterations 5 --length 54321 --offset 61")
    guest.run("litepcie_util dma_test --iterations 5 --sequence read-and-write")
    guest.works()


@pytest.mark.parametrize("method", ["flr", "bus"])
def test_the_card_works_behind_a_reset(guest, method):
    """A function level reset, and a hot reset, after which the lane trains again. A transfer in its way goes on."""
    before = driver_found_it(guest)
    said   = guest.run(f"""
        echo {method} > {DEVICE}/reset_method
        (dd if=/bin/busybox of=/dev/litepcie0 bs=8M 2>&1; echo wrote $?) > /tmp/writer &
        sleep 0.05; echo 1 > {DEVICE}/reset; wait; cat /tmp/writer
        head -c $(stat -c %s /bin/busybox) < /dev/litepcie0 | cmp - /bin/busybox && echo equal
        echo default > {DEVICE}/reset_method""")
    assert "wrote 0" in said and "equal" in said
    assert driver_found_it(guest) == before + 1
    guest.works()


def test_nothing_runs_while_nothing_is_asked(guest):
    """Idle symbols, SKP and UpdateFC alone are not simulated: both ends of the lane stop together."""
    def seconds():
        fields = open(f"/proc/{guest.guest.simulator.process.pid}/stat", encoding="ascii").read().rpartition(")")[2]
        return sum(map(int, fields.split()[11:13])) / 100
    guest.works()
    time.sleep(2)
    before = seconds()
    time.sleep(3)
    assert seconds() - before < 0.6
