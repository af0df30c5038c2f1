# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Tests of guests without a board: each kernel boots, commands run and end, and no process is left."""

import hashlib
import os
import signal
import subprocess
import sys

import pytest

from litepcie_sim.guest         import Guest
from litepcie_sim.guest.errors  import GuestOff
from test.gateware.build.test_processes import gone

GUEST = {"board": None, "with_lspci": True, "files": [(__file__, "/root/folder/this.py")]}


def test_is_the_kernel_that_was_asked_for(guest):
    assert guest.run("uname -r").output.strip() == guest.kernel.release
    assert guest.kernel.release.startswith("6.1.") and guest.boot_seconds > 0


@pytest.mark.parametrize("command, status, output", [
    ("true",                            0,   ""),
    ("exit 77",                         77,  ""),
    ("kill -9 $$",                      137, "Killed\n"),
    ("no-such-program",                 127, "sh: no-such-program: not found\n"),
    ("echo out; echo err >&2",          0,   "out\nerr\n"),
    ("printf 'no newline'",             0,   "no newline"),
    ("printf 'a\\0b\\r\\n\\t\\377'",    0,   "a\0b\r\n\t\ufffd"),
    ("cat",                             0,   ""),
    ("echo 'two\nlines' \"'$HOME'\"",   0,   "two\nlines '/root'\n"),
    ("(sleep 0.2; echo late) & echo soon; wait", 0, "soon\nlate\n")])
def test_commands(guest, command, status, output):
    result = guest.run(command)
    assert (result.status, result.output) == (status, output)


def test_a_command_cannot_forge_its_end(guest):
    """A command can write anything to any port, and its own status is returned."""
    result = guest.run("for port in /dev/ttyS0 /dev/ttyS1 /dev/console; do"
        " echo '0123456789abcdef0123456789abcdef 0' > $port; done; ps; env; exit 9")
    assert result.status == 9
    assert guest.run("echo next").output == "next\n"


def test_much_output_arrives_whole(guest):
    result = guest.run("dd if=/dev/urandom bs=1k count=256 2>/dev/null | tee /tmp/x | base64;"
        " base64 /tmp/x | sha256sum")
    text, _, checksum = result.output.rstrip("\n").rpartition("\n")
    assert hashlib.sha256(text.encode() + b"\n").hexdigest() == checksum.split()[0]


def test_long_commands(guest):
    text = "x" * 20000
    assert guest.run(f"echo {text}").output == text + "\n"


def test_the_log_holds_console_and_commands(guest):
    guest.run("echo to-the-log; echo to-the-console > /dev/ttyS0")
    for _ in range(100):  # The two serial ports are not in step.
        log = guest.log.read_text(errors="replace")
        if "\nto-the-console" in log:
            break
        guest.run("sleep 0.1")
    assert "guest# echo to-the-log" in log
    assert "\nto-the-log\n" in log
    assert "\nto-the-console" in log


@pytest.mark.full
def test_a_guest_that_goes_off(boot):
    guest = boot(None)
    pid   = guest._qemu.pid
    with pytest.raises(GuestOff, match="the guest powered off"):
        guest.run("echo c > /proc/sysrq-trigger", timeout=30)
    assert gone(pid)


@pytest.mark.full
def test_an_exception_ends_the_guest(tmp_path):
    with pytest.raises(ZeroDivisionError), Guest(log=tmp_path / "log") as guest:
        pid    = guest._qemu.pid
        folder = guest._folder.name
        raise ZeroDivisionError
    assert gone(pid)
    assert not os.path.exists(folder)


RUNNER = """
import sys
from litepcie_sim.guest import Guest, handle_signals
handle_signals()
with Guest() as guest:
    print(guest._qemu.pid, flush=True)
    guest.run("sleep 60")
"""


@pytest.mark.full
@pytest.mark.guest
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_signals_end_the_guest(number):
    runner = subprocess.Popen([sys.executable, "-c", RUNNER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pid = int(runner.stdout.readline())
    runner.send_signal(number)
    runner.communicate(timeout=30)
    assert runner.returncode != 0
    assert gone(pid)
