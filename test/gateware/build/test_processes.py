# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Child processes, tools that are missing or fail, how all command lines report it; Vivado as the programmer."""

import os
import signal
import subprocess
import sys
import time

import pytest

from litepcie_soc.build import processes
from litepcie_soc.build.processes import ToolError, run_tool
from litepcie_soc.build.vivado import Vivado

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


def test_time_limit_ends_the_whole_group(tmp_path):
    pid = tmp_path / "pid"
    with pytest.raises(subprocess.TimeoutExpired):
        processes.run(["sh", "-c", f"sleep 60 & echo $! > {pid}; wait"], timeout=1)
    assert gone(int(pid.read_text()))


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
    parent = subprocess.Popen([sys.executable, "-c", INTERRUPTED.replace("PIDS", str(pid))], stderr=subprocess.DEVNULL)
    while not pid.exists():
        time.sleep(0.01)
    parent.send_signal(number)
    assert parent.wait(10) == status
    assert gone(int(pid.read_text()))


@pytest.mark.parametrize("command, hint, message", [
    (["no_such_tool"], "",             "no_such_tool is not on the PATH"),
    (["no_such_tool"], "install it",   "no_such_tool is not on the PATH; install it"),
    (["sh", "-c", "exit 3"], "no",     "sh -c exit 3: exit status 3"),
    (["sh", "-c", "kill -9 $$"], "",   "sh -c kill -9 $$: ended by signal 9")])
def test_failure_is_one_line(command, hint, message):
    with pytest.raises(ToolError) as error:
        run_tool(command, hint=hint)
    assert str(error.value) == message


RUNS_TOOL = """
from litepcie_soc.build import command_line, processes
import sys
processes.TOOL_GRACE_S = 0.5
script = sys.argv[1] + "sleep 0.3; echo $$; sleep 60 & echo $!; wait"
sys.exit(command_line.run(lambda: processes.run_tool(["sh", "-c", script]), "program"))
"""


@pytest.mark.parametrize("number, status, before", [
    (signal.SIGINT, 130, ""), (signal.SIGTERM, 143, ""),
    (signal.SIGTERM, 143, "trap '' TERM;")], ids=["INT", "TERM", "deaf"])
def test_an_interrupt_leaves_nothing_running(number, status, before):
    program = subprocess.Popen([sys.executable, "-c", RUNS_TOOL, before], stdout=subprocess.PIPE, text=True)
    children = [int(program.stdout.readline()) for _ in range(2)]
    program.send_signal(number)
    assert program.wait(10) == status
    assert all(map(gone, children))


PROGRAM = """
import os, signal, sys
from litepcie_soc.build.command_line import Parser, number, run

def main():
    parser = Parser(prog="program")
    parser.add_argument("--size", type=number)
    parser.parse_args(sys.argv[1:-1])
    try:
        return eval(sys.argv[-1])
    finally:
        print("tidied up")

sys.exit(run(main, "program"))
"""


def program(*arguments):
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("body, status, text", [
    ("0", 0, ""), ("3", 3, ""), ("os.mkdir('/proc/x')", 1, "program: error: /proc/x: No such file or directory\n"),
    ("os.write(99, b'x')", 1, "program: error: Bad file descriptor\n"),
    ("os.kill(os.getpid(), signal.SIGINT)", 130, ""), ("os.kill(os.getpid(), signal.SIGTERM)", 143, ""),
    ("os.kill(os.getpid(), signal.SIGHUP)", 129, "")])
def test_the_end_of_a_program(body, status, text):
    assert program(body) == (status, "tidied up\n", text)


# Both are pending when the first is handled; more come while it tidies up.
TWICE = """
import os, signal, sys
from litepcie_soc.build.command_line import run

def send(*signals):
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    for each in signals:
        os.kill(os.getpid(), each)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)

def main():
    try:
        send(signal.SIGINT, signal.SIGTERM)
    finally:
        send(signal.SIGTERM, signal.SIGINT)
        print("tidied up")

sys.exit(run(main, "program"))
"""


def test_tidying_up_is_not_interrupted():
    done = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "tidied up\n", "")


@pytest.fixture
def vivado(tmp_path, monkeypatch):
    """A folder with Vivado Lab's program on the PATH, which keeps the script it is given and the build's files."""
    program = tmp_path / "vivado_lab"
    program.write_text(f'#!/bin/sh\nfor script; do :; done\ncp "$script" {tmp_path}/script.tcl\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


PROGRAMMER = Vivado(device="xcu200", memory="mt25qu01g-spi-x1_x2_x4")


@pytest.mark.parametrize("action, suffix, last", [
    ("load", ".bit", "program_hw_devices $device"), ("flash", ".mcs", "program_hw_cfgmem -hw_cfgmem $flash")])
def test_vivado_is_given_the_file_of_the_build(vivado, action, suffix, last):
    (vivado / f"name{suffix}").touch()
    getattr(PROGRAMMER, action)(vivado / "name")
    script = (vivado / "script.tcl").read_text()
    assert str(vivado / f"name{suffix}") in script and script.splitlines()[-1] == last
    assert "get_hw_devices {xcu200*}" in script and "\nopen_hw_target \n" in script
    assert script.count("{") == script.count("}") and script.count("[") == script.count("]")
    assert ("{mt25qu01g-spi-x1_x2_x4}" in script) == (action == "flash")


def test_a_cable_is_chosen_by_part_of_its_name(vivado):
    (vivado / "name.bit").touch()
    PROGRAMMER.load(vivado / "name", "21770205K")
    assert "open_hw_target [lindex [get_hw_targets {*21770205K*}] 0]" in (vivado / "script.tcl").read_text()


def test_no_file_or_no_vivado_is_one_line(tmp_path, monkeypatch):
    with pytest.raises(ToolError, match=r"^no bitstream .*name.mcs; add --build to build it$"):
        PROGRAMMER.flash(tmp_path / "name")
    (tmp_path / "name.bit").touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    message = r"^vivado is not on the PATH; this board needs Vivado or Vivado Lab \(vivado_lab\) for programming$"
    with pytest.raises(ToolError, match=message):
        PROGRAMMER.load(tmp_path / "name")
