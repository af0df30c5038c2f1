#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs the tests that only `make test-all` has (marker `full`), except where they have passed with the same files.

    python tools/full_tests.py --plan     says which groups a run would skip, and why it runs the others
    python tools/full_tests.py            runs them; says nothing if there is nothing to run
    python tools/full_tests.py --minutes 20
                                          the same, but begins no test after 20 minutes

A group is a folder of test/. Its key is a digest of all tracked files that can influence it and of the
versions of the tools. When a group passes, its key is kept in the project's cache for a week, also if another group
of the same run fails. Without git, or with a file that git does not track or that differs from its commit, every group
runs. Of a group that runs, the test files that have passed with this key are left out, so that runs without the time
for all of them come to an end together; and so are the tests of gateware that have passed with the same files
(test/passed.py).
"""

import argparse
import fnmatch
import os
import platform
import subprocess
import sys
import tempfile
import time

from pathlib import Path
from xml.etree import ElementTree

from litepcie_sim.guest import cache

ROOT     = Path(__file__).resolve().parents[1]
TOOLS    = ("verilator", "g++")
KEPT     = 7*24*3600  # Seconds: the newest guest kernel and QEMU are not part of the key.
# The variable with the time after which no test begins, and the reason that such a test is skipped (test/deadline.py).
UNTIL    = "LITEPCIE_TESTS_UNTIL"
NO_TIME  = "no time left: run .ci/run again, or make test-all"
# Pytest's exit status.
FAILED   = 1
NO_TESTS = 5

# Files that no test of a group uses. Everything else counts, and so does every new folder.
PROSE   = ("*.md", "LICENSES/*", ".github/*", ".gitignore", ".editorconfig", "docs/*", "examples/*")
# The endpoint in gateware and its simulation: of the guests, only those of test_lane.py have it, without full cases.
SOFT    = ("gateware/phy/ecp5/*", "gateware/phy/soft/*", "sim/src/lane/*", "sim/src/scan/*", "sim/src/soft/*")
IGNORES = {
    # Of the simulator, test/gateware/phy/soft compiles host, lane, link and scan.
    "test/gateware" : ("software/user/*", "sim/src/card/*", "sim/src/model/*", "sim/src/run/*", "sim/src/soft/*",
        "sim/src/vfio/*", "sim/demo/*"),
    "test/guest"    : (*PROSE, *SOFT, "bench/*", "sim/demo/*"),
    "test/sim"      : (*PROSE, "bench/*", "sim/demo/*"),
    "test/software" : ("bench/*", "sim/demo/*"),
}
# Other groups whose files a group uses; a group that is not named here may use every other.
USES = {"test/gateware": (), "test/guest": (), "test/sim": (), "test/software": ("test/guest",)}


class NoKey(Exception):
    """The state of the tree cannot be determined; the message says why."""


def git(*arguments, root=ROOT):
    try:
        result = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    except OSError:
        raise NoKey("git is not installed") from None
    if result.returncode:
        raise NoKey("git does not know this folder")
    return result.stdout


def tracked(root=ROOT):
    """{path: mode and object of the tracked file}. Raises NoKey if a file is not as in the commit."""
    if git("status", "--porcelain", root=root):
        raise NoKey("files differ from the commit")
    lines = (line.split("\t") for line in git("-c", "core.quotePath=off", "ls-files", "-s", root=root).splitlines())
    return {path: content for content, path in lines}


def versions():
    said = [platform.python_version(), platform.machine()]
    for tool in TOOLS:
        try:
            said.append(subprocess.run([tool, "--version"], capture_output=True, text=True).stdout)
        except OSError:
            raise NoKey(f"{tool} is not installed") from None
    return said


def groups(root=ROOT):
    """Folders and files of test/ that hold tests."""
    return sorted(str(path.relative_to(root)) for path in (root / "test").iterdir()
        if path.match("test_*.py") or path.is_dir() and any(path.rglob("test_*.py")))


def counts(group, path, others):
    """Returns whether a tracked file can influence the tests of a group. `others` holds all groups."""
    if path.startswith(f"{group}/"):
        return True
    if group in USES and any(path.startswith(f"{other}/") for other in others if other not in USES[group]):
        return False
    return not any(fnmatch.fnmatch(path, ignored) for ignored in IGNORES.get(group, ()))


def key(group, files, tools, others):
    used = (f"{path} {content}" for path, content in sorted(files.items()) if counts(group, path, others))
    return cache.digest(*tools, *used)


def record(path, digest):
    """The file that says that a group or a test file has passed; `digest` is the key of the group."""
    return cache.folder() / "full-tests" / f"{path.replace('/', '-')}-{digest}"


def passed(path, digest):
    try:
        return time.time() - record(path, digest).stat().st_mtime < KEPT
    except FileNotFoundError:
        return False


def keys(root=ROOT):
    """{group: key}. Raises NoKey."""
    files, tools, every = tracked(root), versions(), groups(root)
    return {group: key(group, files, tools, every) for group in every}


def plan(root=ROOT):
    """Lists of the groups to run and to skip, and why the first are run."""
    try:
        digests = keys(root)
    except NoKey as e:
        return groups(root), [], str(e)
    skipped = [group for group, digest in digests.items() if passed(group, digest)]
    return [group for group in digests if group not in skipped], skipped, "not passed with the same files yet"


def keys_or_none(root):
    try:
        return keys(root)
    except NoKey:
        return {}


def outcomes(report):
    """{parts of the name of a test's module: whether all its tests have ended well}, from pytest's JUnit XML."""
    ended = {}
    for case in ElementTree.parse(report).iter("testcase"):
        skipped = case.find("skipped")
        bad     = case.find("failure") is not None or case.find("error") is not None
        left    = skipped is not None and NO_TIME in skipped.get("message", "")
        module  = tuple(case.get("classname", "").split("."))
        ended[module] = ended.get(module, True) and not bad and not left
    return ended


def inside(path, module):
    """Returns whether the module of a test, with its class if it has one, is in a folder or file of test/."""
    parts = tuple(path.removesuffix(".py").split("/"))
    return module[:len(parts)] == parts


def ended_well(chosen, ended, root):
    """The groups and test files that passed, as (group, path)."""
    good = []
    for group in chosen:
        of_group = {module: well for module, well in ended.items() if inside(group, module)}
        if all(of_group.values()):
            good.append((group, group))
            continue
        for path in test_files(group, root):
            of_file = [well for module, well in of_group.items() if inside(path, module)]
            if of_file and all(of_file):
                good.append((group, path))
    return good


def test_files(group, root):
    return sorted(str(path.relative_to(root)) for path in (root / group).rglob("test_*.py"))


def run_pytest(chosen, left_out, minutes, root):
    """Runs the full tests of the groups. Returns pytest's exit status, and what passed as (group, path)."""
    variables = {"LITEPCIE_SKIP_PASSED": "1"}
    if minutes is not None:
        variables[UNTIL] = str(time.time() + 60*minutes)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        status = subprocess.run([sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile",
            "--no-loadscope-reorder", "-m", "full", f"--junitxml={report}", *(f"--ignore={path}" for path in left_out),
            *chosen], cwd=root, env={**os.environ, **variables}).returncode
        if status == NO_TESTS:
            return 0, [(group, group) for group in chosen]
        if status not in (0, FAILED):
            return status, []
        ended = outcomes(report)
    if status == FAILED and all(ended.values()):
        return status, []  # What failed is not in the report.
    return status, ended_well(chosen, ended, root)


def run(root=ROOT, minutes=None):
    """Pytest's exit status."""
    chosen, _, _ = plan(root)
    if not chosen:
        return 0
    before   = keys_or_none(root)
    left_out = [path for group in chosen if group in before for path in test_files(group, root)
        if passed(path, before[group])]
    status, good = run_pytest(chosen, left_out, minutes, root)
    after        = keys_or_none(root)
    for group, path in good:
        if group in before and before[group] == after.get(group):
            place = record(path, before[group])
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
    return status


def main():
    parser = argparse.ArgumentParser(description="Runs the tests of make test-all that make test does not run.")
    parser.add_argument("--plan", action="store_true", help="Say what would run, and run nothing.")
    parser.add_argument("--minutes", type=float, help="Begin no test later.")
    args = parser.parse_args()
    if not args.plan:
        return run(minutes=args.minutes)
    chosen, skipped, why = plan()
    if skipped:
        print(f"full tests: skipped, passed with the same files: {', '.join(skipped)}")
    if chosen:
        print(f"full tests: to run after make test ({why}): {', '.join(chosen)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
