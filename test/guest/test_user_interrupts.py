#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""/dev/litepcie0_interruptM: the interrupts of the simulated board's user core, with MSI-X and with one MSI."""

import pytest

from test.conftest import SOFT

pytestmark = pytest.mark.guest

only_msix = pytest.mark.skipif(SOFT, reason="the card with the endpoint in gateware has one MSI")

BDF    = "0000:01:00.0"
CARD   = f"/sys/bus/pci/devices/{BDF}"
DRIVER = "/sys/bus/pci/drivers/litepcie"
CLASS  = "/sys/class/litepcie_interrupt"
NAMES  = ["level", "pulse", "storm", "timer", "copied"]

# Arguments of the simulator, and the names of the interrupts.
KINDS = {
    "msix":    ([], {"litepcie0-0", "litepcie0-1", *[f"litepcie0-{name}" for name in NAMES]}),
    "one-msi": (["--msix", "off"], {"litepcie0"}),
}


@pytest.fixture(scope="module", params=[
    pytest.param("msix", marks=only_msix), pytest.param("one-msi", marks=[] if SOFT else pytest.mark.full)])
def guest(request, boot, build_board):
    arguments, names = KINDS[request.param]
    with boot(f"interrupts-{request.param}", board=build_board(user_core=True), cpus=2,
            simulator_arguments=arguments) as guest:
        guest.names = names
        yield guest


def test_every_call(guest):
    assert "checks passed" in guest.run("interrupt")
    assert set(guest.run("grep -o 'litepcie0.*' /proc/interrupts").split()) == guest.names
    guest.works()


def test_what_sysfs_says(guest):
    assert guest.run(f"cat {CLASS}/litepcie0_interrupt*/name").split() == NAMES
    assert guest.run(f"cat {CLASS}/litepcie0_interrupt*/kind").split() == ["level", "pulse", "pulse", "level", "pulse"]
    assert int(guest.run(f"cat {CLASS}/litepcie0_interrupt2/count")) > 50
    assert "interrupt" in guest.run("litepcie_util info")


def test_the_example(guest):
    words = guest.run("timer_interrupt 4").split()
    assert words[::2] == ["interrupt"]*4
    counts = [int(word) for word in words[1::2]]
    assert counts == list(range(counts[0], counts[0] + 4))


def test_a_storm_beside_transfers_that_are_compared(guest):
    assert "checks passed" in guest.run("interrupt & litepcie_util dma_test --sequence read-then-write "
        "--iterations 20; wait")


def test_a_reset_while_waiting_is_told_once(guest):
    assert guest.run(f"interrupt 'echo 1 > {CARD}/reset'").split() == ["ENODATA", "read"]
    guest.works()


def test_unbind_while_waiting(guest):
    assert guest.run(f"interrupt 'echo {BDF} > {DRIVER}/unbind'").split() == ["ENODEV", "POLLHUP"]
    guest.run("! ls /dev/litepcie0_interrupt*")
    guest.run(f"echo {BDF} > {DRIVER}/bind; test -c /dev/litepcie0_interrupt3")
    assert "checks passed" in guest.run("interrupt")
    guest.works()


def test_a_card_without_interrupts_has_no_node(shared_guest):
    with shared_guest.borrow() as guest:
        guest.run("! ls /dev/litepcie0_interrupt*")
