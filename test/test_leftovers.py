# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A test that hangs fails with its name at its time limit, and no process outlives it."""

import os
import re
import signal
import subprocess
import sys
import time

from pathlib import Path

import pytest

from test.leftovers import is_running

ROOT = Path(__file__).resolve().parents[1]

# The test's child starts another one in a session of its own, and ends: an orphan.
SUITE = """
import os, signal, subprocess, time
from pathlib import Path
import pytest
from test.leftovers import is_running

def start():
    child = subprocess.Popen(["sh", "-c", "setsid sleep 1000 & echo $!"], stdout=subprocess.PIPE, text=True)
    Path(__file__).with_name("orphan").write_text(child.stdout.readline())

@pytest.mark.timeout(LIMIT)
def test_that_hangs():
    start()
    if ABORTED:
        time.sleep(1000)
    os.kill(os.getpid(), signal.SIGALRM)  # What pytest-timeout's timer sends.

def test_after_it():
    assert not is_running(Path(__file__).with_name("orphan").read_text().strip())

def test_that_leaves_a_process():
    start()
"""


def start(folder, aborted, *arguments):
    (folder / "test_suite.py").write_text(SUITE.replace("LIMIT", "1000").replace("ABORTED", str(aborted)))
    (folder / "conftest.py").write_text("""
from test import leftovers
def pytest_configure(config):
    config.pluginmanager.register(leftovers)
""")
    return subprocess.Popen([sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "--rootdir", folder,
        "-p", "no:cacheprovider", *arguments, folder], cwd=ROOT, env={**os.environ, "COLUMNS": "300"}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)


@pytest.mark.parametrize("workers", [("-n", "1"), pytest.param((), marks=pytest.mark.full)], ids=["xdist", "alone"])
def test_a_test_that_hangs_fails_with_its_name(tmp_path, workers):
    output, _ = start(tmp_path, False, *workers).communicate()
    assert re.search(r"FAILED \S*test_suite.py::test_that_hangs - Failed: Timeout", output), output
    assert "1 failed, 2 passed" in output and not is_running((tmp_path / "orphan").read_text().strip())


@pytest.mark.parametrize("workers, end", [(("-n", "1"), lambda pid: os.killpg(pid, signal.SIGINT)),
    pytest.param((), lambda pid: os.kill(pid, signal.SIGTERM), marks=pytest.mark.full)], ids=["xdist", "alone"])
def test_an_aborted_run_leaves_no_process(tmp_path, workers, end):
    """By Ctrl-C, which all processes of a terminal get, and by a signal to pytest only."""
    session = start(tmp_path, True, *workers)
    orphan  = tmp_path / "orphan"
    while not orphan.exists() or not orphan.read_text():
        time.sleep(0.01)
    end(session.pid)
    session.communicate()
    while is_running(orphan.read_text().strip()):  # Up to this test's time limit.
        time.sleep(0.1)
