#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Child processes end with the runner, however that ends."""

import os
import signal
import subprocess
import sys
import time

import pytest

from litepcie_sim.guest import process


def alive(pid):
    """Returns whether a process runs (a zombie that nobody has waited for does not)."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid, seconds=10):
    deadline = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(pid)


def test_run():
    assert process.run(["sh", "-c", "echo out; echo err >&2; exit 3"]) == (3, "out\nerr\n")


def test_stop_ends_the_whole_group():
    child = process.start(["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE,
        text=True)
    grandchild = int(child.stdout.readline())
    assert process.stop(child) == -signal.SIGTERM
    assert gone(grandchild)


def test_stop_of_one_that_does_not_listen():
    child = process.start(["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"],
        stdout=subprocess.PIPE, text=True)
    child.stdout.readline()
    began = time.monotonic()
    assert process.stop(child, grace=0.3) == -signal.SIGKILL
    assert time.monotonic() - began < 5


def test_stop_of_one_that_has_ended():
    child = process.start(["sh", "-c", "exit 5"])
    child.wait()
    assert process.stop(child) == 5
    assert process.stop(None) is None


PARENT = """
import sys, time
from litepcie_sim.guest import process
child = process.start(["sleep", "60"])
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_child_ends_with_a_killed_parent(number):
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    child  = int(parent.stdout.readline())
    # The child has become `sleep`: the kernel was told by then.
    while os.readlink(f"/proc/{child}/exe").rpartition("/")[2] == "setpriv":
        time.sleep(0.01)
    parent.send_signal(number)
    parent.wait()
    assert gone(child)
