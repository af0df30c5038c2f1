#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Bus errors that the port above the card reports (Advanced Error Reporting), and the state of the card after them."""

import re
import socket

import pytest

from litepcie_sim.guest  import qemu
from test.guest.conftest import LINK

pytestmark = [pytest.mark.guest, pytest.mark.full]

# Older ones give the recovery up, since QEMU's port does not say when its link is up again.
KERNEL = "newest"


class Monitor:
    """QEMU's, which puts errors into a port's registers and raises its interrupt (PCIe 4.0 6.2)."""
    def __init__(self, path):
        self.path = str(path)

    def inject(self, error):
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(self.path)
            monitor.sendall(f"pcie_aer_inject_error root-port {error}\n".encode())
            monitor.settimeout(10)
            said = b""
            while said.count(b"(qemu)") < 2:
                said += monitor.recv(4096)
        assert b"OK" in said, said.decode()


@pytest.fixture(scope="module")
def monitor(tmp_path_factory):
    return Monitor(tmp_path_factory.mktemp("m") / "m")


@pytest.fixture(scope="module")
def guest(boot, monitor):
    arguments = qemu.Machine.arguments

    def with_monitor(self, *rest):
        return [*arguments(self, *rest), "-monitor", f"unix:{monitor.path},server=on,wait=off"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(qemu.Machine, "arguments", with_monitor)
        with boot("bus-errors", kernel=KERNEL, cpus=2) as guest:
            yield guest


def wait_for(guest, first, then=""):
    """Waits until the kernel's log has two texts, one after the other."""
    guest.run(f"for i in $(seq 200); do dmesg | sed -n '/{first}/,$p' | grep -q '{then}' && exit 0; sleep 0.1; done;"
        " dmesg | tail; exit 1")


def hold(guest):
    """Starts transfers without an end."""
    guest.run("(holder write 1000000 > /tmp/holder 2>&1; echo over >> /tmp/holder) &"
        " for i in $(seq 100); do grep -q open /tmp/holder && exit 0; sleep 0.05; done; exit 1")


def test_an_error_that_harms_nothing_stops_nothing(guest, monitor):
    hold(guest)
    monitor.inject("COMP_TIME")
    wait_for(guest, "AER: device recovery successful")
    assert "over" not in guest.run("sleep 0.2; cat /tmp/holder")
    guest.run("killall holder; for i in $(seq 100); do grep -q over /tmp/holder && exit 0; sleep 0.05; done; exit 1")
    guest.works()


def test_a_fatal_error_ends_all_calls_and_the_card_works_behind_its_reset(guest, monitor):
    guest.run("echo file drivers/pci/pcie/err.c +p > /sys/kernel/debug/dynamic_debug/control")
    hold(guest)
    monitor.inject("SDN")
    wait_for(guest, "Root Port link has been reset (0)", "AER: device recovery successful")
    # Documentation/PCI/pci-error-recovery.rst: a driver starts no I/O before its resume().
    steps = re.findall(f"broadcast slot_reset message|broadcast resume message|link is {LINK}", guest.run(
        "dmesg | sed -n '/Root Port link has been reset (0)/,$p'"))
    assert steps == ["broadcast slot_reset message", "broadcast resume message", f"link is {LINK}"]
    assert "ended: Input/output error\nover" in guest.run("cat /tmp/holder")
    guest.works()


def test_a_mapping_of_the_window_does_not_outlive_a_fatal_error(guest, monitor):
    until = "touch /tmp/mapped; until test -e /tmp/go; do sleep 0.1; done"
    guest.run(f"rm -f /tmp/go; (window '{until}' > /tmp/window 2>&1; echo over >> /tmp/window) &"
        " until test -e /tmp/mapped; do sleep 0.05; done; dmesg -c > /tmp/earlier")
    monitor.inject("SDN")
    wait_for(guest, "Root Port link has been reset (0)", "AER: device recovery successful")
    guest.run("touch /tmp/go; until grep over /tmp/window; do sleep 0.05; done", timeout=20)
    assert guest.run("cat /tmp/window").split() == ["again", "over"]
    guest.works()
