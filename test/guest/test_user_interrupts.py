# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""/dev/litepcie0_interruptM: the interrupts of the simulated board's user core, with MSI-X and with one MSI."""

import pytest

from test.guest.conftest import BDF, CARD, DRIVER

pytestmark = pytest.mark.guest

CLASS  = "/sys/class/litepcie_interrupt"
NAMES  = ["level", "pulse", "storm", "timer", "copied"]
ENGINES = 8  # Of two memory channels and two streams.


@pytest.fixture(scope="module")
def one_msi(boot, full_board):
    with boot("interrupts-one-msi", board=full_board, cpus=2, simulator_arguments=["--msix", "off"]) as guest:
        yield guest


@pytest.mark.parametrize("kind", ["usual", pytest.param("one_msi", marks=pytest.mark.full)])
def test_every_call(request, kind):
    """The shared guest, whose card has MSI-X, and one whose card has one MSI."""
    guest = request.getfixturevalue(kind)
    assert "checks passed" in guest.run("interrupt")
    assert int(guest.run(f"cat {CLASS}/litepcie0_interrupt2/count")) > 50
    names = guest.run("grep -o 'litepcie0.*' /proc/interrupts").split()
    assert names == ["litepcie0"] or set(names) == {f"litepcie0-{name}" for name in (*range(ENGINES), *NAMES)}
    assert guest.run(f"interrupt 'echo 1 > {CARD}/reset'").split() == ["ENODATA", "read"]
    guest.works()


def test_what_sysfs_says(guest):
    assert guest.run(f"cat {CLASS}/litepcie0_interrupt*/name").split() == NAMES
    assert guest.run(f"cat {CLASS}/litepcie0_interrupt*/kind").split() == ["level", "pulse", "pulse", "level", "pulse"]
    assert "interrupt" in guest.run("litepcie_util info")


def test_the_example(guest):
    words = guest.run("timer_interrupt 4").split()
    assert words[::2] == ["interrupt"]*4
    counts = [int(word) for word in words[1::2]]
    assert counts == list(range(counts[0], counts[0] + 4))


def test_a_storm_beside_transfers_that_are_compared(guest):
    assert "checks passed" in guest.run("interrupt & litepcie_util dma_test --sequence read-then-write "
        "--length 100001 --iterations 2; wait")


def test_unbind_while_waiting(guest):
    assert guest.run(f"interrupt 'echo {BDF} > {DRIVER}/unbind'").split() == ["ENODEV", "POLLHUP"]
    guest.run("! ls /dev/litepcie0_interrupt*")
    guest.run(f"echo {BDF} > {DRIVER}/bind; test -c /dev/litepcie0_interrupt3")
    assert "checks passed" in guest.run("interrupt")
    guest.works()
