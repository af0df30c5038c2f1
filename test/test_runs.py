# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""test/runs.py and test/leftovers.py in runs of pytest: what runs, in which order, and that no process outlives it."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from test import runs
from test.leftovers import is_running

ROOT = Path(__file__).resolve().parents[1]

FIRST = """
import pytest

@pytest.mark.parametrize("text", ["a", "b c", '$"d'])
def test_parameter(text):
    assert text == "a"

@pytest.mark.full
def test_full():
    assert not "full"
"""
SECOND = """
import pytest

@pytest.mark.full
def test_full():
    pass

@pytest.mark.search
def test_fixed_seed():
    pass

@pytest.mark.search
def test_search(search):
    assert search is None

def test_default():
    pass
"""


@pytest.fixture
def pytest_of(tmp_path):
    """Function that runs pytest on the two files with these arguments and variables, and returns its output."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "test_first.py").write_text(FIRST)
    (tmp_path / "test_second.py").write_text(SECOND)
    (tmp_path / "conftest.py").write_text("from test.runs import *\nfrom test.runs import search\n")

    def run(*arguments, **variables):
        result = subprocess.run([sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "--rootdir", tmp_path,
            "-p", "no:cacheprovider", "--durations=0", *arguments, tmp_path], cwd=ROOT, text=True,
            capture_output=True, env={**clean(), **variables})
        return result.stdout + result.stderr
    return run


def clean():
    return {name: value for name, value in os.environ.items() if not name.startswith(("LITEPCIE_", "PYTEST_"))}


def last(output):
    return output.splitlines()[-1]


def test_a_failure_says_how_to_run_it_again(pytest_of):
    """The commands are in the report of each failure, and before the last line; each gives pytest the right name."""
    output = pytest_of("-m", "not search", "-n", "1", LITEPCIE_PHY="soft", LITEPCIE_FULL="a test_second.py",
        LITEPCIE_CACHE=os.environ.get("HOME", "/"))
    assert re.search(r"=+ 3 failed, 3 passed in .*=", last(output)), output
    commands = [line.removeprefix(f"{runs.AGAIN}: ") for line in output.splitlines() if line.startswith(runs.AGAIN)]
    assert output.splitlines()[-4:-1] == [f"{runs.AGAIN}: {command}" for command in commands]
    assert all(output.count(command) == 2 for command in commands), output
    assert [told(command) for command in commands] == [
        ("soft", "test", ["a/test_first.py::test_parameter[b c]"]),
        ("soft", "test", ['a/test_first.py::test_parameter[$"d]']),
        ("soft", "test-all", ["a/test_first.py::test_full"])]


def told(command):
    """(value of LITEPCIE_PHY, target, arguments of pytest) of a command, as the shell and make read it."""
    phy, make, target, tests = shlex.split(command)
    assert phy.startswith("LITEPCIE_PHY=") and make == "make" and tests.startswith("TESTS=")
    return phy.partition("=")[2], target, shlex.split(tests.removeprefix("TESTS=").replace("$$", "$"))


def test_full_tests_of_some_folders(pytest_of):
    """None of these begins after the time; the others do, before those with a limit. The summary counts the rest."""
    assert "2 failed, 2 passed" in last(pytest_of("-m", "not search", LITEPCIE_FULL="test_sec x/test_second.py"))
    output = pytest_of("-m", "not search", LITEPCIE_TESTS_UNTIL="1")
    assert "2 failed, 2 passed, 2 skipped" in last(output) and runs.NO_TIME in output, output


@pytest.mark.full
def test_what_this_machine_cannot_do_is_skipped(pytest_of, tmp_path):
    """On an ARM processor, whatever takes the guest's packages; the reason is in the summary."""
    (tmp_path / "test_second.py").write_text("""
import os, pytest
from types import SimpleNamespace
from litepcie_sim.guest import Guest
from litepcie_sim.guest.kernels import Kernel

@pytest.fixture(scope="module")
def guest():
    os.uname = lambda: SimpleNamespace(machine="aarch64")
    with Guest(None) as guest:
        yield guest

def test_guest(guest):
    pass

def test_guest_again(guest):
    pass

def test_kernel():
    Kernel("newest").image()
""")
    output = pytest_of("-k", "second", LITEPCIE_CACHE=str(tmp_path / "cache"))
    assert "3 skipped" in last(output), output
    assert "the guest and its packages need an x86_64 machine, and this one is aarch64" in output


@pytest.mark.full
def test_a_search_has_a_length_and_a_seed(pytest_of):
    output = pytest_of("-m", "search", LITEPCIE_SEARCH_SECONDS="7", LITEPCIE_SEARCH_SEED="4")
    assert "Search(seconds=7.0, seed=4)" in output
    assert 'LITEPCIE_SEARCH_SECONDS=7 LITEPCIE_SEARCH_SEED=4 make search TESTS="test_second.py::test_search"' in output


def test_another_order():
    """A seed has one order, which keeps the tests of a file together."""
    def order(seed):
        items = [SimpleNamespace(path=path, number=number) for path in "abcd" for number in range(5)]
        runs.shuffle(items, seed)
        found = [(item.path, item.number) for item in items]
        assert sum(one[0] != other[0] for one, other in zip(found, found[1:])) == 3
        return found
    assert order("1") == order("1") != order("2") and sorted(order("1")) != order("1")


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
