#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tests of tools that are missing, fail, or are interrupted."""

import os
import signal
import subprocess
import sys
import time

import pytest

from litepcie_soc.build.tools import ToolError, run_tool


def test_runs_in_its_folder(tmp_path):
    run_tool(["sh", "-c", "echo here > there"], tmp_path)
    assert (tmp_path / "there").read_text() == "here\n"


@pytest.mark.parametrize("command, hint, message", [
    (["no_such_tool"], "",             "no_such_tool is not on the PATH"),
    (["no_such_tool"], "install it",   "no_such_tool is not on the PATH; install it"),
    (["sh", "-c", "exit 3"], "no",     "sh -c exit 3: exit status 3"),
    (["sh", "-c", "kill -9 $$"], "",   "sh -c kill -9 $$: ended by signal 9"),
])
def test_failure_is_one_line(command, hint, message):
    with pytest.raises(ToolError) as error:
        run_tool(command, hint=hint)
    assert str(error.value) == message


PROGRAM = """
from litepcie_soc.build import command_line, tools
import sys
tools.GRACE_S = 0.5
script = sys.argv[1] + "sleep 0.3; echo $$; sleep 60 & echo $!; wait"
sys.exit(command_line.run(lambda: tools.run_tool(["sh", "-c", script]), "program"))
"""


@pytest.mark.parametrize("number, status, before", [
    (signal.SIGINT,  130, ""),
    (signal.SIGTERM, 143, ""),
    (signal.SIGTERM, 143, "trap '' TERM;"),
], ids=["INT", "TERM", "deaf"])
def test_an_interrupt_leaves_nothing_running(number, status, before):
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, before], stdout=subprocess.PIPE, text=True)
    children = [int(program.stdout.readline()) for _ in range(2)]
    program.send_signal(number)
    assert program.wait(10) == status
    deadline = time.monotonic() + 10
    while any(running(child) for child in children) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(running(child) for child in children)


def running(pid):
    """Returns whether a process exists and is not a zombie."""
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
