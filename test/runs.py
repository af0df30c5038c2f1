# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Hooks of Pytest for a whole run: number of workers, which tests run and in which order, how to run one again.

A test marked `search` takes the fixture `search`: how long it may look for faults, and the seed of its random inputs.
Variables, which the Makefile and .ci/run set:

    LITEPCIE_FULL         of the tests marked `full`, only those of these files and folders run.
    LITEPCIE_TESTS_UNTIL  no test marked `full` begins after this time, in seconds since the epoch; those that are
                          left are skipped, so that the summary counts them.
    LITEPCIE_SHUFFLE      a number: files, and the tests of each file, run in an order that depends on it.
    LITEPCIE_SEARCH_SECONDS, LITEPCIE_SEARCH_SEED
                          length of a run of tests marked `search`, and their seed.
"""

import collections
import contextlib
import dataclasses
import os
import random
import re
import shlex
import time

import pytest

from litepcie_sim.guest.errors import GuestUnsupported

# Of a worker with a guest, its simulator and a compiler beside them.
WORKER_BYTES = 2 << 30

# Seconds that a test marked `search` may take besides those in which it searches: for boards, guests and models.
LIMIT   = 900
NO_TIME = "no time left; make test-all runs it"
AGAIN   = "to run this test again"

# Variables that decide what a test does, so the command that runs it again has them.
TOLD = re.compile(r"LITEPCIE_(?!CACHE|FULL|TESTS_UNTIL|SHUFFLE|QEMU)\w+")


def memory_available():
    """Bytes that programs can get without swapping, also inside a container with a limit."""
    with open("/proc/meminfo") as f:
        found = int(re.search(r"^MemAvailable:\s+(\d+) kB", f.read(), re.MULTILINE)[1]) << 10
    try:
        with open("/sys/fs/cgroup/memory.max") as most, open("/sys/fs/cgroup/memory.current") as now:
            return min(found, int(most.read()) - int(now.read()))
    except (OSError, ValueError):  # Another kind of cgroup, or one without a limit.
        return found


def pytest_xdist_auto_num_workers():
    """What `-n auto` means: the processors that this process may use, as far as there is memory for them."""
    return max(1, min(len(os.sched_getaffinity(0)), memory_available() // WORKER_BYTES))


def in_folders(item, folders):
    path = item.nodeid.split("::")[0]
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    folders = os.environ.get("LITEPCIE_FULL", "").split()
    if folders:
        left = [item for item in items if item.get_closest_marker("full") and not in_folders(item, folders)]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in set(left)]
    for item in items:
        if item.get_closest_marker("search"):
            item.add_marker(pytest.mark.timeout(LIMIT + float(os.environ.get("LITEPCIE_SEARCH_SECONDS", 60))), False)
    if seed := os.environ.get("LITEPCIE_SHUFFLE"):
        shuffle(items, seed)
    elif hasattr(config, "workerinput"):
        items.sort(key=long_files_first(items))


def shuffle(items, seed):
    """Another order of the files, and of the tests in each of them."""
    random.Random(seed).shuffle(items)
    files = list(dict.fromkeys(item.path for item in items))
    items.sort(key=lambda item: files.index(item.path))


def long_files_first(items):
    """Sort key for several workers, which take whole files: guests first, then files with many tests.

    With a long file at the end, one worker would run alone. Files with tests that have a time limit come after all
    others, and in these files the tests that have none come first.
    """
    tests   = collections.Counter(item.path for item in items)
    guests  = {item.path for item in items if item.get_closest_marker("guest")}
    limited = {item.path for item in items if is_limited(item)}
    return lambda item: (item.path in limited, item.path not in guests, -tests[item.path], str(item.path),
        is_limited(item))


@dataclasses.dataclass(frozen=True)
class Search:
    """What a test marked `search` is asked for.

    seconds : how long it looks for faults; the tests of a run that take this fixture share the time of the run.
    seed    : the number that its random inputs depend on. The command that runs the test again has it.
    """
    seconds : float
    seed    : int


def search_of(tests, workers):
    """The `Search` of each of `tests` tests, of which `workers` run at a time."""
    seconds = float(os.environ.get("LITEPCIE_SEARCH_SECONDS", 60))
    return Search(seconds * min(workers, tests)/tests, int(os.environ.get("LITEPCIE_SEARCH_SEED", 1)))


@pytest.fixture(scope="session")
def search(request):
    """The `Search` of this run."""
    tests = sum("search" in item.fixturenames for item in request.session.items)
    return search_of(max(1, tests), int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1)))


def is_limited(item):
    return "LITEPCIE_TESTS_UNTIL" in os.environ and item.get_closest_marker("full") is not None


@contextlib.contextmanager
def skipped_if_unsupported():
    try:
        yield
    except GuestUnsupported as e:
        pytest.skip(str(e))


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_setup(item):
    if is_limited(item) and time.time() >= float(os.environ["LITEPCIE_TESTS_UNTIL"]):
        pytest.skip(NO_TIME)
    with skipped_if_unsupported():  # Fixtures that this machine cannot make.
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    with skipped_if_unsupported():
        return (yield)


def quoted(text):
    """`text` as a word of the shell. Brackets need no quotes, as no file has such a name."""
    return text if re.fullmatch(r"[\w@%+=:,./\[\]-]+", text) else shlex.quote(text)


def command(item):
    """The command that runs the test again."""
    target    = next((f"make {target}" for mark, target in (("search", "search"), ("full", "test-all"))
        if item.get_closest_marker(mark)), "make test")
    variables = [f"{name}={quoted(value)} " for name, value in sorted(os.environ.items()) if TOLD.fullmatch(name)]
    tests     = quoted(item.nodeid).replace("$", "$$")
    tests     = shlex.quote(tests) if re.search(r'["`\\$]', tests) else f'"{tests}"'
    return f"{''.join(variables)}{target} TESTS={tests}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        report.sections.append((AGAIN, command(item)))
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter):
    """Repeats the commands after Pytest's list of the tests that failed, so that only the line of counts follows."""
    yield
    stats    = terminalreporter.stats
    sections = (section for report in stats.get("failed", []) + stats.get("error", []) for section in report.sections)
    for text in dict.fromkeys(text for name, text in sections if name == AGAIN):
        terminalreporter.write_line(f"{AGAIN}: {text}")
