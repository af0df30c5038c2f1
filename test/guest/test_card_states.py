# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A card that calls cannot use: after bus errors that the port above reports (Advanced Error Reporting), without an
answer, with an engine that does not end its reset. Each call of each kind ends in time, and works again after the
recovery (src/states.c).
"""

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from litepcie_sim.guest              import qemu
from litepcie_sim.guest.debug_kernel import kernel as named_kernel
from litepcie_sim.guest.module       import module
from test.conftest       import arguments_of
from test.guest.conftest import BUILD, CARD, LINK, ROOT

pytestmark = [pytest.mark.guest, pytest.mark.full]

# Older ones give the recovery from fatal errors up, since QEMU's port does not say when its link is up again.
KERNEL    = "newest"
VOTE      = "/sys/module/neighbour/parameters/reset"
STATE     = "/sys/kernel/debug/litepcie/litepcie0/card"
NEIGHBOUR = Path(__file__).resolve().parent / "neighbour"

TIMEOUT_MS = 1000
LIMIT_MS   = TIMEOUT_MS + 1000
AER_MS     = 60000
RECOVERED  = "AER: device recovery successful"

# Faults of the card: none; all registers read as ones; no engine of a memory channel, or of a stream, ends its reset.
NONE, GONE, STUCK_MEMORY, STUCK_STREAM = range(4)

SCRATCH = 0x28
OPTIONS = {"channels": 2, "streams": 1, "user_core": True}


def changed(text, pattern, new, count):
    text, places = re.subn(pattern, new, text, flags=re.M)
    assert places == count, f"{pattern}: {places} places, not {count}"
    return text


def failing_board(folder):
    """Builds a board whose card fails after a write of 0xc1a10000 + FAULT to SCRATCH. No reset ends the fault."""
    subprocess.run([sys.executable, ROOT / "targets" / "sim.py", "--build", "--no-compile", "--log-level", "warning",
        *arguments_of(OPTIONS), "--output-dir", folder], check=True)
    verilog = folder / "gateware" / "litepcie_soc_sim.v"
    text    = verilog.read_text()
    scratch = re.search(r"reg +\[31:0\] (\w+_scratch_storage)", text)[1]
    text    = changed(text, r"(?<= : )(\w+_completer_access_csr_bus_dat_r)\b", rf"({{32{{fault == {GONE}}}}} | \1)", 1)
    for kind, fault, engines in (("dma", STUCK_MEMORY, 4), ("stream", STUCK_STREAM, 2)):
        text = changed(text, rf"(assign \w+_csrbank\d+_control0_w = )(?=\w+_{kind}engine\d_registers_)",
            rf"\1fault == {fault} ? 2'd2 : ", engines)
    # Declared before the first use, and without a reset.
    text = re.sub(r"^(wire .*\n)", r"reg [15:0] fault = 0;\n\1", text, count=1, flags=re.M)
    verilog.write_text(text.replace("\nendmodule", f"""
always @(posedge sys_clk)
    if ({scratch}[31:16] == 16'hc1a1)
        fault <= {scratch}[15:0];

endmodule"""))
    subprocess.run(["make", "-s", "-C", ROOT / "sim", f"BOARD={folder}"], check=True)
    return folder


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
    """The card's port has a second function, whose driver votes for a reset or not."""
    neighbour = module(named_kernel(KERNEL), NEIGHBOUR)
    board     = failing_board(BUILD / "failing")
    arguments = qemu.Machine.arguments
    own       = qemu.Machine._board
    def with_more(self, *rest):
        return [*arguments(self, *rest), "-monitor", f"unix:{monitor.path},server=on,wait=off",
            "-device", "edu,bus=root-port,addr=00.1"]
    def first_of_several(self, port, socket):
        return {**own(self, port, socket), "addr": "00.0", "multifunction": True}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(qemu.Machine, "arguments", with_more)
        patch.setattr(qemu.Machine, "_board", first_of_several)
        with boot("card-states", board=board, kernel=KERNEL, cpus=2, parameters=("iomem=relaxed",),
                files=[(neighbour, "/lib/modules/neighbour.ko")]) as guest:
            guest.run("insmod /lib/modules/neighbour.ko; "
                "echo file drivers/pci/pcie/err.c +p > /sys/kernel/debug/dynamic_debug/control")
            guest.run(f"echo {TIMEOUT_MS} > /sys/module/litepcie/parameters/timeout_ms")
            yield guest


def fault(number):
    return f"poke {SCRATCH} {0xc1a10000 + number}"


def works(guest):
    assert guest.run(f"cat {STATE}") == "state present\nkept 0 bytes\n"
    guest.works()


def bus_error(guest, monitor, command, error, reset=0):
    """Runs `command`, which calls the shell command that it gets as soon as it may, and injects an error meanwhile.

    Returns what it said.
    """
    guest.run(f"echo {reset} > {VOTE}; dmesg -c > /tmp/earlier; rm -f /tmp/ready /tmp/go /tmp/said; "
        f"({command} 'touch /tmp/ready; until test -e /tmp/go; do sleep 0.05; done'; echo status $?) "
        "> /tmp/said 2>&1 &")
    guest.wait("test -e /tmp/ready", "cat /tmp/said")
    monitor.inject(error)
    guest.wait(f"dmesg | grep -q '{RECOVERED}'", "dmesg", 60)
    guest.run("touch /tmp/go")
    guest.wait("grep -q status /tmp/said", "cat /tmp/said", 90)
    said = guest.run("cat /tmp/said")
    assert "status 0" in said, said
    works(guest)
    return said


# Error of the monitor, and whether the neighbour votes for a reset.
@pytest.mark.parametrize("error, reset, calls", [("SDN", 0, "waiting"), ("SDN", 0, "flight"),
    ("COMP_TIME", 1, "flight"), ("SDN", 0, "direct"), ("COMP_TIME", 1, "posted")])
def test_a_bus_error_ends_all_calls_and_the_card_works_after_it(guest, monitor, error, reset, calls):
    assert "checks passed" in bus_error(guest, monitor, f"states {calls} {AER_MS}", error, reset)
    # Documentation/PCI/pci-error-recovery.rst: a driver starts no I/O before its resume().
    steps = re.findall(f"broadcast slot_reset message|broadcast resume message|link is {LINK}", guest.run("dmesg"))
    if error == "SDN":
        steps = steps[-3:]
        assert steps == ["broadcast slot_reset message", "broadcast resume message", f"link is {LINK}"]


def test_an_error_that_is_not_fatal_ends_no_call(guest, monitor):
    assert "checks passed" in bus_error(guest, monitor, f"states calm {AER_MS}", "COMP_TIME")


def test_a_mapping_of_the_window_does_not_outlive_a_fatal_error(guest, monitor):
    assert bus_error(guest, monitor, "window", "SDN").split() == ["again", "status", "0"]


# The calls end before the card is known to be quiet: the driver may keep their memory, or the ring of a closed file.
@pytest.mark.parametrize("calls, number, cause, state", [
    ("idle",    GONE,         "",                                      "cut off\nkept 0 bytes"),
    ("waiting", GONE,         "",                                      "cut off\nkept 0 bytes"),
    ("flight",  GONE,         "",                                      "cut off\nkept 0 bytes"),
    ("waiting", STUCK_MEMORY, "; states reset",                        "disabled\nkept 0 bytes"),
    ("flight",  STUCK_MEMORY, "; states reset",                        "disabled\nkept 0 bytes"),
    ("waiting", STUCK_STREAM, "; echo x > /dev/litepcie0_stream0; true", "disabled"),
    ("rest",    STUCK_STREAM, "; echo x > /dev/litepcie0_stream0; true", "disabled"),
    ("posted",  GONE,         "",                                      "cut off"),
    ("direct",  GONE,         "",                                      "cut off"),
    ("direct",  STUCK_MEMORY, "; states reset",                        "disabled"),
    ("posted",  STUCK_STREAM, "; echo x > /dev/litepcie0_stream0; true", "disabled"),
])
def test_a_card_that_fails(guest, calls, number, cause, state):
    """One that does not answer is cut off; one whose engine does not end its reset is disabled."""
    # An engine of a stream may still run for the last file; then a write would not reset it.
    guest.run(f"echo 1 > {CARD}/reset")
    # The driver may be resetting the function, which loses writes: then the fault would outlive the recovery.
    recover = (f"cat {STATE}; until {fault(NONE)}; [ $(poke {SCRATCH}) = {0xc1a10000 + NONE:#x} ]; do :; done; "
        f"echo 1 > {CARD}/reset")
    said    = guest.run(f"states {calls} {LIMIT_MS} '{fault(number)}{cause}' '{recover}'")
    assert "checks passed" in said and f"state {state}" in said, said
    works(guest)
