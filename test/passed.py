#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Pytest hooks that leave out tests which have passed with the same files.

Only tests of FOLDERS, which are functions of files: a test file that started a program other than Verilator, the
compiler or a compiled model has none that can be left out, and neither has a test with a board or a guest.
Every run records which tests passed, for a week, in the project's cache. Runs with LITEPCIE_SKIP_PASSED leave them
out and say how many; `make test` is such a run.
"""

import json
import os
import platform
import time

from importlib import metadata

import pytest

from litepcie_sim.guest import cache
from tools.full_tests import KEPT, UNTIL, NoKey, versions

from test.inputs import ROOT, Observer, closure, content

FOLDERS = ("test/gateware/", "test/formal/")
# Set by the process that the user starts, for its workers: they must all leave out the same tests.
NOW     = "LITEPCIE_PASSED_BEFORE"
# Variables that change no result.
NEUTRAL = {"LITEPCIE_CACHE", "LITEPCIE_SKIP_PASSED", NOW, UNTIL}

# Records ------------------------------------------------------------------------------------------


def machine():
    """What the results depend on outside the tree: tools, packages of Python, variables for the tests."""
    packages  = sorted(f"{found.metadata['Name']} {found.version}" for found in metadata.distributions())
    variables = sorted(f"{name}={value}" for name, value in os.environ.items()
        if name.startswith("LITEPCIE_") and name not in NEUTRAL)
    return [platform.python_version(), *versions(), *packages, *variables]


class Records:
    """The tests that passed: one JSON file for each test file and state of what it imports."""
    def __init__(self, around, root=ROOT):
        self.around, self.root = around, root

    def place(self, path):
        files = (f"{file} {content(file, self.root)}" for file in sorted(closure(path, self.root)))
        return cache.folder() / "passed-tests" / f"{cache.digest(path)}-{cache.digest(*self.around, *files)}.json"

    def load(self, path, now):
        """(contents of the files besides, {test: time}) of the tests that passed in the week before `now`."""
        try:
            record = json.loads(self.place(path).read_text())
        except (OSError, ValueError):
            return {}, {}
        if any(content(file, self.root) != was for file, was in record["data"].items()):
            return {}, {}
        return record["data"], {name: at for name, at in record["tests"].items() if now - KEPT < at <= now}

    def add(self, path, names, data, now):
        """Records the tests `names` of a test file that used the files `data` besides its imports."""
        before, tests = self.load(path, now)
        place = self.place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        data  = before | {file: content(file, self.root) for file in data}
        text  = json.dumps({"path": path, "data": data, "tests": tests | dict.fromkeys(names, now)})
        draft = place.with_suffix(f".{os.getpid()}")
        draft.write_text(text)
        draft.rename(place)
        self.prune(place.parent, now)

    @staticmethod
    def prune(folder, now):
        for path in folder.iterdir():
            if now - path.stat().st_mtime > KEPT:
                path.unlink(missing_ok=True)

# Hooks --------------------------------------------------------------------------------------------


def name_of(nodeid):
    """The test's name in its file."""
    return nodeid.partition("::")[2]


def is_shared(item):
    """Returns whether the test takes something that other files' tests may have made: a fixture of the session."""
    found = item._fixtureinfo.name2fixturedefs.values()
    return any(last.scope in ("session", "package") and "_pytest" not in last.func.__module__ and
        "xdist" not in last.func.__module__ for *_, last in found)


class Passed:
    """The plugin. It does nothing if the tools cannot be named, or outside the tree."""
    def __init__(self):
        self.observer, self.passed, self.left_out, self.began = Observer(), {}, 0, {}
        self.now = float(os.environ.setdefault(NOW, str(time.time())))
        try:
            self.records = Records(machine())
        except NoKey:
            self.records = None
        self.observer.install()

    def file_of(self, item):
        """The test file relative to the root, if its tests can be left out."""
        path = item.path.relative_to(ROOT).as_posix() if item.path.is_relative_to(ROOT) else ""
        return path if self.records and path.startswith(FOLDERS) and not is_shared(item) else None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        skips = os.environ.get("LITEPCIE_SKIP_PASSED")
        known, left, out = {}, [], []
        for item in items:
            path = self.file_of(item)
            if path and path not in known:
                # The files as this process imported them: a file that changes during the run is not recorded.
                self.began[path] = self.records.place(path)
                known[path]      = self.records.load(path, self.now)[1] if skips else {}
            (out if path and name_of(item.nodeid) in known[path] else left).append(item)
        self.left_out = len(out)
        items[:]      = left
        if hasattr(config, "workeroutput"):
            config.workeroutput["left_out"] = self.left_out

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.observer.current = self.file_of(item)
        try:
            return (yield)
        finally:
            self.observer.current = None

    def pytest_runtest_logreport(self, report):
        """Of a process that runs tests: a test has passed if its call did, and its setup and teardown too."""
        if self.observer.current:
            tests = self.passed.setdefault(self.observer.current, {})
            name  = name_of(report.nodeid)
            tests[name] = tests.get(name, True) and report.outcome == "passed" and not hasattr(report, "wasxfail")

    def pytest_sessionfinish(self):
        for path, tests in self.passed.items():
            names = [name for name, has_passed in tests.items() if has_passed]
            if names and path not in self.observer.impure and self.records.place(path) == self.began[path]:
                self.records.add(path, names, self.observer.data(path), time.time())

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """Every worker has collected, and left out, all tests."""
        self.left_out = getattr(node, "workeroutput", {}).get("left_out", 0)

    def pytest_terminal_summary(self, terminalreporter):
        if self.left_out:
            terminalreporter.write_line(f"{self.left_out} tests of gateware were left out: they have passed with the "
                "same files (make test SKIP_PASSED= runs them)")
