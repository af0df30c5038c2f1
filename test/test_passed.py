#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A test is left out only if it passed with the same files, and every file that it uses counts."""

import os
import subprocess
import sys

import pytest

from test.inputs import ROOT, TOOLS, Observer, closure, content
from test.passed import FOLDERS, KEPT, Records

# A test file that takes part of a second.
FAST = "test/gateware/common/test_link_rates.py"


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A test file that imports a module of gateware/, which imports another one."""
    monkeypatch.setenv("LITEPCIE_CACHE", str(tmp_path / "cache"))
    for name, text in {"test/conftest.py": "", "test/test_a.py": "from litepcie_soc.one import x\n",
            "gateware/__init__.py": "", "gateware/one.py": "def f():\n    from litepcie_soc import two\n",
            "gateware/two.py": "x = 1\n", "gateware/three.py": "", "data.txt": "data"}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def left_out(tree, now=1000.0, around=("tools",)):
    # Imports and contents of a process are those of its beginning.
    closure.cache_clear()
    return Records(around, tree).load("test/test_a.py", now)[1]


@pytest.fixture
def passed(tree):
    """The same tree, in which one test has passed that read data.txt."""
    Records(("tools",), tree).add("test/test_a.py", ["test_x"], ["data.txt", "gateware/"], 1000.0)
    return tree


def test_imports_of_imports_and_conftest_count(tree):
    assert closure("test/test_a.py", tree) == {"test/test_a.py", "test/conftest.py", "gateware/__init__.py",
        "gateware/one.py", "gateware/two.py"}


def test_a_pass_is_kept_for_a_week(passed):
    assert left_out(passed) == {"test_x": 1000.0}
    assert left_out(passed, 999.0) == left_out(passed, 1000.0 + KEPT) == {}
    assert left_out(passed, around=("other tools",)) == {}


@pytest.mark.parametrize("name", ["test/test_a.py", "test/conftest.py", "gateware/two.py", "data.txt"])
def test_another_content_of_a_file_repeats_the_test(passed, name):
    before = (passed / name).read_text()
    (passed / name).write_text(before + "# changed\n")
    assert left_out(passed) == {}
    (passed / name).write_text(before)
    assert left_out(passed)


def test_a_new_file_in_a_folder_that_was_listed_repeats_the_test(passed):
    (passed / "gateware" / "three.py").write_text("x = 3\n")
    assert left_out(passed)
    (passed / "gateware" / "four.py").write_text("")
    assert left_out(passed) == {}


def test_results_of_several_runs_are_added_up(passed):
    Records(("tools",), passed).add("test/test_a.py", ["test_y"], [], 1001.0)
    assert left_out(passed, 1001.0) == {"test_x": 1000.0, "test_y": 1001.0}
    (passed / "data.txt").write_text("other")
    assert left_out(passed, 1001.0) == {}


def test_what_is_opened_and_listed_is_observed():
    observer = Observer()
    observer.current = FAST
    for path in (ROOT / "Makefile", 3, "/etc/passwd", ROOT / "build/x",
            f"{ROOT}/tools/__pycache__/make_deb.cpython-311-pytest-9.2.0.pyc"):
        observer.hook("open", (path, "r", 0))
    observer.hook("os.listdir", (ROOT / "docs",))
    observer.current = None
    assert {"Makefile", "docs/", "tools/make_deb.py"} <= observer.data(FAST)
    assert not {name for name in observer.data(FAST) if "passwd" in name or name.startswith("build")}
    # What one module of the tree read for a test counts for all that import the module.
    assert "Makefile" in observer.data("test/test_passed.py")
    assert content("docs/") and content("no such file") is None


@pytest.mark.parametrize("command, is_impure", [([next(iter(TOOLS))], False), (["make"], True),
    ([sys.executable], True), (["git", "rev-parse", "--short", "HEAD"], False), (["git", "ls-files"], True)])
def test_a_file_that_starts_other_programs_is_never_left_out(command, is_impure):
    observer = Observer()
    observer.current = FAST
    observer.hook("subprocess.Popen", (command[0], command, None, None))
    assert (FAST in observer.impure) == is_impure


def run(tmp_path, *arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LITEPCIE", "PYTEST"))}
    environment |= {"LITEPCIE_CACHE": str(tmp_path), "LITEPCIE_SKIP_PASSED": "1"}
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, FAST], cwd=ROOT,
        capture_output=True, text=True, env=environment).stdout


def test_the_second_run_leaves_out_what_the_first_passed(tmp_path):
    assert FAST.startswith(FOLDERS)
    first = run(tmp_path)
    assert " passed in" in first and "left out" not in first
    second = run(tmp_path, "-n", "1")
    assert "tests of gateware were left out" in second and " passed in" not in second
