# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Pytest hooks that kill processes: after a test that exceeded its time limit, all that were started since it began,
also by fixtures, as a guest with a hung command cannot be used again; at the end, all that pytest and they started."""

import contextlib
import ctypes
import os
import signal
import time

from pathlib import Path

import pytest

PR_SET_CHILD_SUBREAPER = 36  # prctl(2)

TICKS    = os.sysconf("SC_CLK_TCK")
EXCEEDED = pytest.StashKey()


def own_orphans():
    """Makes descendants whose parent has ended children of this process, so that they can be found."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def uptime():
    """Seconds since the machine started: the clock of processes' start times."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def descendants(since=0.0):
    """Numbers of the processes below this one that started at `since` (see `uptime`) or later."""
    parents, starts = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # proc(5): after the command name in parentheses follow state, parent; start time is field 22.
            fields = stat.read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                parents[int(stat.parent.name)] = int(fields[1])
                starts[int(stat.parent.name)]  = (int(fields[19]) + 1)/TICKS
    found = set()
    for number in parents:
        chain = [number]
        while chain[-1] in parents and chain[-1] != os.getpid():
            chain.append(parents[chain[-1]])
        if len(chain) > 1 and chain[-1] == os.getpid() and starts[number] >= since:
            found.add(number)
    return found


def is_running(number):
    """Whether a process runs. A zombie, which has ended, does not."""
    stat = Path("/proc", str(number), "stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def end(since=0.0):
    """Kills the processes of `descendants`, and those that they start while it runs."""
    while numbers := descendants(since):
        for number in numbers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        time.sleep(0.01)


def interrupt(number, frame):
    raise KeyboardInterrupt


def pytest_configure(config):
    # SIGTERM and SIGHUP end a run like Ctrl-C, with all fixtures.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    # With pytest-xdist only the workers start processes of tests; the main process starts the workers.
    config.stash[EXCEEDED] = False
    if not config.getoption("numprocesses", None):
        own_orphans()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    if call.excinfo is not None and "from pytest-timeout" in str(call.excinfo.value):
        item.config.stash[EXCEEDED] = True
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    item.config.stash[EXCEEDED] = False
    began  = uptime()
    result = yield
    if item.config.stash[EXCEEDED]:
        end(since=began)
    return result


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    if not session.config.getoption("numprocesses", None):
        end()
