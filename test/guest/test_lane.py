# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The card with the endpoint in gateware: Linux finds it and uses it over a lane, symbol by symbol, in spite of faults.

LITEPCIE_PHY=soft runs the other tests of guests on this card.
"""

import base64
import json
import re
import time

import pytest

from test.conftest           import SOFT_BOARD
from test.guest.conftest import BUILD, CARD, SUSPEND
from test.software.user.lspci import compare, lspci

pytestmark = pytest.mark.guest

PMCSR  = 0x44
# One in so many: symbols, TLPs of both directions, and packets of the root port. Those that a test waits for are more.
FAULTS = ["--errors-every", "50000", "--lcrc-every", "500", "--drift", "300", "--link-fault", "all:700",
    "--link-fault", "doubled-tlp:200", "--link-fault", "wrong-ack:100"]


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
    """Enumeration, BAR and MSI are configuration requests over the lane."""
    info = json.loads(guest.run("litepcie_util --json info"))
    assert (info["pci"]["vendor_id"], info["pci"]["device_id"], info["pci"]["family"]) == (0x1204, 0x1ce5, "ECP5")
    assert driver_found_it(guest) == 1
    assert "PCI-MSI" in guest.run("grep litepcie0 /proc/interrupts")


@pytest.mark.full
def test_its_configuration_space_as_lspci_reads_it(guest, tmp_path):
    before = after = None
    # Errors of the lane change the register that counts them.
    while before is None or before != after:
        before = guest.run(f"base64 {CARD}/config")
        told   = json.loads(guest.run("litepcie_util --json config 0000:01:00.0"))["blocks"]
        after  = guest.run(f"base64 {CARD}/config")
    text = lspci(tmp_path, {"0000:01:00.0": base64.b64decode(before)}, "-vvv", "-nn")
    assert compare(told, text) > 10
    for line in (r"MSI: Enable\+ Count=1/1 Maskable- 64bit\+", r"MaxPayload 256 bytes, MaxReadReq 512 bytes",
        r"LnkSta:\s+Speed 2.5GT/s.*, Width x1", r"FLReset\+", r"Memory at \w+ \(32-bit, non-prefetchable\)",
        r"SlotPowerLimit 25(\.\d+)?W"):
        assert re.search(line, text), text


def test_registers_and_both_directions(guest):
    guest.run("litepcie_util scratch_test")
    guest.run("litepcie_util dma_test --iterations 1 --length 12345 --offset 61")
    guest.run("litepcie_util dma_test --iterations 1 --length 30001 --sequence read-and-write")
    guest.works()


@pytest.mark.full
def test_the_tool_prints_the_state_of_the_lane(guest):
    """The card counts what the faults cause, in the counter of each; a transfer changes it."""
    before = json.loads(guest.run("litepcie_util --json link"))
    assert before["state"] == "L0" and before["flow_control_initialized"] and before["port"] == "/dev/litepcie0_user"
    guest.run("litepcie_util dma_test --iterations 3 --length 200000")
    after = json.loads(guest.run("litepcie_util --json link"))
    more  = {name: after["counters"][name] - before["counters"][name] for name in after["counters"]}
    assert min(more.values()) >= 0 and more["tlps_received"] > 1000 and more["tlps_sent"] > 1000
    for name in ("symbol_errors", "lcrc_errors", "naks_sent", "naks_received", "replays", "duplicates",
            "protocol_errors"):
        assert more[name] > 0, name
    assert after["counters"]["malformed_tlps"] == 0
    # Linux clears the register when it finds the card.
    blocks = json.loads(guest.run("litepcie_util --json config 0000:01:00.0"))["blocks"]
    status = next(register["value"] for block in blocks for register in block["registers"]
        if register["name"] == "Correctable Error Status")
    assert status & 0xc1 == 0xc1, hex(status)  # Receiver error, bad TLP, bad DLLP.
    posted = after["fewest_credits"]["posted"]
    assert posted["infinite_headers"] or 0 <= posted["headers"] < 255
    states = [one["state"] for one in after["transitions"]]
    assert states[-1] == "L0" and after["time_ns"] > before["time_ns"]
    if after["transitions_counted"] <= 64:
        assert states[0] == "Detect.Active"
    text = guest.run("litepcie_util link --clear")
    assert "state              L0; link up" in text
    assert json.loads(guest.run("litepcie_util --json link"))["counters"]["tlps_received"] < 2000


@pytest.mark.full
@pytest.mark.parametrize("method", ["flr", "bus"])
def test_the_card_works_behind_a_reset(guest, method):
    """A function level reset, and a hot reset, after which the lane trains again. A transfer in its way goes on."""
    before = driver_found_it(guest)
    said   = guest.run(f"""
        echo {method} > {CARD}/reset_method
        (dd if=/bin/busybox of=/dev/litepcie0 bs=8M 2>&1; echo wrote $?) > /tmp/writer &
        sleep 0.05; echo 1 > {CARD}/reset; wait; cat /tmp/writer
        head -c $(stat -c %s /bin/busybox) < /dev/litepcie0 | cmp - /bin/busybox && echo equal
        echo default > {CARD}/reset_method""")
    assert "wrote 0" in said and "equal" in said
    assert driver_found_it(guest) == before + 1
    guest.works()


@pytest.mark.full
def test_nothing_runs_while_nothing_is_asked(guest):
    """Idle symbols, SKP and UpdateFC alone are not simulated: both ends of the lane stop together."""
    def seconds():
        fields = open(f"/proc/{guest.guest.simulator.process.pid}/stat", encoding="ascii").read().rpartition(")")[2]
        return sum(map(int, fields.split()[11:13])) / 100
    guest.works()
    # On a busy machine the last work of the guest takes some seconds.
    used = []
    while len(used) < 10 and not (used and used[-1] < 0.6):
        before = seconds()
        time.sleep(3)
        used.append(seconds() - before)
    assert used[-1] < 0.6, used


def power_state(guest, state):
    """Writes PMCSR, as `setpci` does."""
    guest.run(f"printf '\\{state:03o}' | dd of={CARD}/config bs=1 seek={PMCSR} conv=notrunc 2> /dev/null")


@pytest.mark.full
@pytest.mark.parametrize("loss", ["d3hot", "suspend"])
def test_the_link_sleeps_in_d3hot(guest, loss):
    """L1 until the card is back in D0. Its memory keeps its contents, also over a suspend, which a hot reset ends."""
    def slept():
        told = json.loads(guest.run("litepcie_util --json link"))
        assert told["state"] == "L0"
        return [one["time_ns"] for one in told["transitions"] if one["state"] == "L1"]
    guest.run("dd if=/bin/busybox of=/dev/litepcie0 bs=8M")
    before = slept()
    if loss == "suspend":
        guest.run(SUSPEND)
    else:
        power_state(guest, 3)
        # Requests wake the link for their answers.
        assert "0b" in guest.run(f"sleep 0.2; dd if={CARD}/config bs=1 skip={PMCSR} count=1 2> /dev/null | od -t x1")
        power_state(guest, 0)
    guest.run("head -c $(stat -c %s /bin/busybox) < /dev/litepcie0 | cmp - /bin/busybox")
    assert max(slept()) > max(before, default=0)
    guest.works()
