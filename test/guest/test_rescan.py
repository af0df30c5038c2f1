# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A card that is taken off the bus, loaded and found again; its link, narrower than it was built for."""

import pytest

from test.conftest       import SOFT
from test.guest.conftest import BDF, ROOT, TARGET

pytestmark = [pytest.mark.guest, pytest.mark.full]

SCRIPT = ROOT / "software" / "user" / "litepcie_rescan"
PORT   = "0000:00:01.0"
RESCAN = "litepcie_rescan --timeout 1"


@pytest.fixture(scope="module")
def guest(boot):
    with boot("rescan", files=[(SCRIPT, "/bin/litepcie_rescan")],
            simulator_arguments=[] if SOFT else ["--lanes", "1"]) as guest:
        yield guest


@pytest.mark.skipif(SOFT, reason="the card with the endpoint in gateware has one lane")
def test_a_narrow_link_is_said(guest):
    assert "litepcie0: link is only Gen2 x1, built for Gen2 x4" in guest.run("dmesg")
    said = guest.run("litepcie_util info")
    assert "link      Gen2 x1," in said and "slower    Gen2 x1, " in said and "the card can do Gen2 x4" in said


def test_a_command_runs_while_the_card_is_gone(guest):
    said = guest.run(f"{RESCAN} sh -c 'test ! -e /dev/litepcie0 && echo gone'")
    assert said.count("gone") == 1
    assert f"{BDF} is /dev/litepcie0: {TARGET}" in said
    assert "can switch off the power" in said  # QEMU's root port has one.
    guest.works()


def test_a_card_that_was_not_there_is_found_by_its_port(guest):
    guest.run(f"echo 1 > /sys/bus/pci/devices/{BDF}/remove; test ! -e /dev/litepcie0")
    assert "the litepcie driver has no card: give --card, or --port" in guest.run(RESCAN, status=1)
    guest.run(f"{RESCAN} --port {PORT}")
    guest.works()


def test_a_card_without_its_driver_is_said(guest):
    guest.run("rmmod litepcie")
    said = guest.run(f"{RESCAN} --card {BDF}", status=1)
    assert f"the litepcie driver did not accept the card at {BDF}: is the module loaded? See dmesg" in said
    guest.run("insmod /lib/modules/litepcie.ko && test -e /dev/litepcie0")
    guest.works()
