#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tests that child processes end with the program that started them, however it ends."""

import os
import signal
import subprocess
import sys
import time

import pytest

from litepcie_soc.build import processes


def alive(pid):
    """Returns whether a process runs. A zombie, which has ended, does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid, seconds=10):
    deadline = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(pid)


def test_run():
    assert processes.run(["sh", "-c", "echo out; echo err >&2; exit 3"]) == (3, "out\nerr\n")
    assert processes.run(["sh", "-c", "echo out; echo err >&2"], quiet=True) == (0, "err\n")


def test_time_limit_ends_the_whole_group(tmp_path):
    pid = tmp_path / "pid"
    with pytest.raises(subprocess.TimeoutExpired):
        processes.run(["sh", "-c", f"sleep 60 & echo $! > {pid}; wait"], timeout=1)
    assert gone(int(pid.read_text()))


@pytest.mark.parametrize("command", ["no_such_program", "/no/such/program"])
def test_missing_program(command):
    with pytest.raises(FileNotFoundError) as error:
        processes.run([command])
    assert error.value.filename == command


def test_program_in_its_folder(tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho here\n")
    program.chmod(0o755)
    assert processes.run(["./program"], cwd=tmp_path) == (0, "here\n")


def test_stop_ends_the_whole_group():
    child = processes.start(["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE, text=True)
    grandchild = int(child.stdout.readline())
    assert processes.stop(child) == -signal.SIGTERM
    assert gone(grandchild)


def test_stop_kills_a_child_that_ignores_the_signal():
    child = processes.start(["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"],
        stdout=subprocess.PIPE, text=True)
    child.stdout.readline()
    began = time.monotonic()
    assert processes.stop(child, grace=0.3) == -signal.SIGKILL
    assert time.monotonic() - began < 5


def test_stop_of_a_child_that_has_ended():
    child = processes.start(["sh", "-c", "exit 5"])
    child.wait()
    assert processes.stop(child) == 5
    assert processes.stop(None) is None


PARENT = """
import time
from litepcie_soc.build import processes
child = processes.start(["sleep", "60"])
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_child_ends_with_a_killed_parent(number):
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    child  = int(parent.stdout.readline())
    # Once setpriv has become `sleep`, the kernel knows that it must end the child.
    while os.readlink(f"/proc/{child}/exe").rpartition("/")[2] == "setpriv":
        time.sleep(0.01)
    parent.send_signal(number)
    parent.wait()
    assert gone(child)


INTERRUPTED = """
import threading, time
from litepcie_soc.build import processes
processes.handle_signals()
command = ["sh", "-c", "echo $$ > $0.new; mv $0.new $0; sleep 60 & wait", "PIDS"]
threading.Thread(target=processes.run, args=(command,), daemon=True).start()
time.sleep(60)
"""


@pytest.mark.parametrize("number, status", [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 143)])
def test_a_signal_ends_what_runs_in_threads(tmp_path, number, status):
    pid    = tmp_path / "pid"
    parent = subprocess.Popen([sys.executable, "-c", INTERRUPTED.replace("PIDS", str(pid))],
        stderr=subprocess.DEVNULL)
    while not pid.exists():
        time.sleep(0.01)
    parent.send_signal(number)
    assert parent.wait(10) == status
    assert gone(int(pid.read_text()))
