# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Tests of parallel jobs: their results, and that an interrupt leaves no process behind."""

import signal
import subprocess
import sys
import time

from litepcie_bench import parallel
from litepcie_bench.progress import Progress

# Two processes that sleep, each with a child. They write the numbers of all four to a file.
PROGRAM = """
import sys
from litepcie_bench import parallel
from litepcie_soc.build import processes
from litepcie_soc.build.command_line import run
processes.GRACE_S = 0.3
command = ["sh", "-c", "sleep 60 & echo $! >> $0; echo $$ >> $0; wait", sys.argv[1]]
sys.exit(run(lambda: parallel.side_by_side(lambda _: processes.run(command), range(2), 2, print), "program"))
"""


def test_progress_goes_on_while_a_step_takes_long(monkeypatch, capsys):
    monkeypatch.setattr(Progress, "QUIET_S", 0.05)
    monkeypatch.setattr(parallel, "WAIT_S", 0.1)
    progress = Progress("boards", 1)
    parallel.side_by_side(lambda _: time.sleep(1), ["one board"], 1, lambda _: progress.step("done"), progress.waiting)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("boards: 0/1 after ") and lines[0].endswith("; now one board")
    assert lines[-1].startswith("boards: 1/1 after ")


def is_there(pid):
    """Returns whether a process runs. A zombie, which has ended, does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition, seconds=30):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.02)


def test_an_interrupt_leaves_nothing(tmp_path):
    pids    = tmp_path / "pids"
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, str(pids)])
    wait_until(lambda: pids.exists() and len(pids.read_text().split()) == 4)
    found = [int(pid) for pid in pids.read_text().split()]
    assert all(map(is_there, found))
    # While it is stopped, the signals collect, so that it gets all of them at once.
    for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
        program.send_signal(number)
    assert program.wait(30) == 130
    wait_until(lambda: not any(map(is_there, found)))


def test_results_come_by_item():
    seen = []
    assert parallel.side_by_side(lambda n: n*n, [1, 2, 3], 2, seen.append) == {1: 1, 2: 4, 3: 9}
    assert sorted(seen) == [1, 4, 9]
