#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""tools/full_tests.py on a small tree: which groups it runs, skips and remembers."""

import importlib.util
import os
import subprocess

from pathlib import Path

import pytest

ROOT  = Path(__file__).resolve().parents[2]
FILES = ("gateware/a.py", "software/user/b.c", "bench/c.py", "docs/d.md", "sim/guest/e.py", "new/f.py",
    "test/conftest.py", "test/gateware/test_a.py", "test/guest/test_b.py", "test/software/test_c.py",
    "test/new/test_d.py")
GROUPS = ["test/gateware", "test/guest", "test/new", "test/software"]


@pytest.fixture
def program(monkeypatch):
    spec   = importlib.util.spec_from_file_location("full_tests", ROOT / "tools" / "full_tests.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "TOOLS", ())
    return module


def git(tree, *arguments):
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e@example.org", *arguments], cwd=tree, check=True,
        capture_output=True)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setenv("LITEPCIE_CACHE", str(tmp_path / "cache"))
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "tree"
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    git(folder, "init", "-q")
    commit(folder)
    return folder


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "test")


def records(tree):
    return sorted(path.name for path in (tree.parent / "cache").rglob("test-*"))


@pytest.fixture
def pytest_calls(program, monkeypatch):
    """Lists of folders that pytest was asked for, and of files that it was to leave out.

    `status` is what pytest returns, `cases` what it reports: {module: element of JUnit's XML}.
    """
    class Calls(list):
        status, cases = 0, {"test.new.test_d": ""}

    calls, real = Calls(), subprocess.run
    calls.left_out, calls.variables = [], []

    def run(command, **options):
        if "pytest" not in command:
            return real(command, **options)
        calls.append([word for word in command if word.startswith("test/")])
        calls.left_out.append([word.partition("=")[2] for word in command if word.startswith("--ignore=")])
        calls.variables.append(options["env"])
        report = next(word for word in command if word.startswith("--junitxml=")).partition("=")[2]
        cases  = "".join(f"<testcase classname='{module}'>{said}</testcase>" for module, said in calls.cases.items())
        Path(report).write_text(f"<testsuites>{cases}</testsuites>")
        return subprocess.CompletedProcess(command, calls.status)

    monkeypatch.setattr(program.subprocess, "run", run)
    return calls


def test_what_has_passed_is_skipped(program, tree, pytest_calls):
    assert program.plan(tree)[:2] == (GROUPS, [])
    assert program.run(tree) == 0
    assert program.plan(tree)[:2] == ([], GROUPS)
    assert program.run(tree) == 0
    assert pytest_calls == [GROUPS]


@pytest.mark.parametrize("path, chosen", [
    ("gateware/a.py",           GROUPS),
    ("sim/guest/e.py",          GROUPS),
    ("test/conftest.py",        GROUPS),
    ("new/f.py",                GROUPS),
    ("no/such/folder/yet.py",   GROUPS),
    ("software/user/b.c",       ["test/guest", "test/new", "test/software"]),
    ("sim/src/lane/g.cpp",      ["test/gateware", "test/new", "test/software"]),
    ("gateware/phy/soft/g.py",  ["test/gateware", "test/new", "test/software"]),
    ("sim/src/vfio/g.cpp",      ["test/guest", "test/new", "test/software"]),
    ("bench/c.py",              ["test/gateware", "test/new"]),
    ("docs/d.md",               ["test/gateware", "test/new", "test/software"]),
    ("test/gateware/test_a.py", ["test/gateware", "test/new"]),
    ("test/guest/test_b.py",    ["test/guest", "test/new", "test/software"]),
    ("test/new/test_d.py",      ["test/new"]),
])
def test_a_change_runs_the_groups_that_it_can_influence(program, tree, pytest_calls, path, chosen):
    program.run(tree)
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    (tree / path).write_text("changed")
    commit(tree)
    assert program.plan(tree)[0] == chosen
    program.run(tree)
    assert pytest_calls == [GROUPS, chosen]


def test_a_mode_and_a_name_count(program, tree, pytest_calls):
    program.run(tree)
    (tree / "gateware/a.py").chmod(0o755)
    commit(tree)
    assert program.plan(tree)[0] == GROUPS
    program.run(tree)
    (tree / "gateware/a.py").rename(tree / "gateware/b.py")
    commit(tree)
    assert program.plan(tree)[0] == GROUPS


@pytest.mark.parametrize("path", ["gateware/a.py", "untracked"])
def test_files_that_differ_from_the_commit_run_everything_and_nothing_is_kept(program, tree, pytest_calls, path):
    program.run(tree)
    kept   = records(tree)
    before = (tree / path).read_text() if (tree / path).exists() else None
    (tree / path).write_text("changed")
    assert program.plan(tree) == (GROUPS, [], "files differ from the commit")
    program.run(tree)
    assert records(tree) == kept
    (tree / path).unlink() if before is None else (tree / path).write_text(before)
    assert program.plan(tree)[0] == []


def test_without_git_everything_runs(program, tree, pytest_calls, monkeypatch):
    program.run(tree)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tree.parent))
    (tree / ".git").rename(tree.parent / "elsewhere")
    assert program.plan(tree) == (GROUPS, [], "git does not know this folder")
    assert program.run(tree) == 0
    assert pytest_calls == [GROUPS, GROUPS]


def test_other_tools_run_everything(program, tree, pytest_calls, monkeypatch):
    program.run(tree)
    monkeypatch.setattr(program, "TOOLS", ("git",))
    assert program.plan(tree)[0] == GROUPS


def test_a_missing_tool_runs_everything(program, tree, pytest_calls, monkeypatch):
    program.run(tree)
    monkeypatch.setattr(program, "TOOLS", ("no-such-program",))
    assert program.plan(tree) == (GROUPS, [], "no-such-program is not installed")


@pytest.mark.parametrize("status", [1, 2, 3, 4])
def test_a_failure_is_the_status_and_is_not_kept(program, tree, pytest_calls, status):
    pytest_calls.status = status
    assert program.run(tree) == status
    assert program.plan(tree)[0] == GROUPS


def test_groups_beside_one_that_fails_are_kept(program, tree, pytest_calls):
    pytest_calls.status, pytest_calls.cases = 1, {"test.new.test_d": "", "test.guest.test_b.TestClass": "<failure/>"}
    assert program.run(tree) == 1
    assert program.plan(tree)[0] == ["test/guest"]


@pytest.mark.parametrize("status, said", [
    (1, "<failure/>"), (1, "<error/>"), (0, "<skipped message='no time left: run .ci/run again, or make test-all'/>"),
])
def test_the_next_run_of_a_group_leaves_out_the_files_that_passed(program, tree, pytest_calls, status, said):
    (tree / "test/guest/test_e.py").write_text("e")
    commit(tree)
    pytest_calls.status = status
    pytest_calls.cases  = {"test.guest.test_b": said, "test.guest.test_e": "<skipped message='not here'/>"}
    assert program.run(tree) == status
    assert program.plan(tree)[0] == ["test/guest"]
    pytest_calls.status, pytest_calls.cases = 0, {"test.guest.test_b": ""}
    assert program.run(tree) == 0
    assert program.plan(tree)[0] == []
    assert pytest_calls == [GROUPS, ["test/guest"]]
    assert pytest_calls.left_out == [[], ["test/guest/test_e.py"]]


def test_a_file_that_passed_runs_again_when_its_group_has_changed(program, tree, pytest_calls):
    (tree / "test/guest/test_e.py").write_text("e")
    commit(tree)
    pytest_calls.status, pytest_calls.cases = 1, {"test.guest.test_b": "<failure/>", "test.guest.test_e": ""}
    program.run(tree)
    (tree / "gateware/a.py").write_text("changed")
    commit(tree)
    program.run(tree)
    assert pytest_calls.left_out == [[], []]


def test_the_time_is_said_to_pytest(program, tree, pytest_calls, monkeypatch):
    monkeypatch.setattr(program.time, "time", lambda: 1000)
    program.run(tree, minutes=2)
    (tree / "gateware/a.py").write_text("changed")
    commit(tree)
    program.run(tree)
    assert [variables.get("LITEPCIE_TESTS_UNTIL") for variables in pytest_calls.variables] == ["1120", None]


def test_no_full_case_of_a_guest_has_the_endpoint_in_gateware():
    """Changes of that endpoint do not run the full cases of guests."""
    for path in (ROOT / "test/guest").rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        assert not ("mark.full" in text and "SOFT_BOARD" in text), path


def test_a_group_without_such_tests_passes(program, tree, pytest_calls):
    pytest_calls.status = 5
    assert program.run(tree) == 0
    assert program.plan(tree)[0] == []


def test_files_that_change_during_the_run_are_not_kept(program, tree, pytest_calls, monkeypatch):
    run = program.subprocess.run

    def change(command, **options):
        if "pytest" in command:
            (tree / "gateware/a.py").write_text("changed")
            commit(tree)
        return run(command, **options)

    monkeypatch.setattr(program.subprocess, "run", change)
    assert program.run(tree) == 0
    assert program.plan(tree)[0] == GROUPS


def test_a_pass_is_forgotten_after_a_week(program, tree, pytest_calls):
    program.run(tree)
    for path in (tree.parent / "cache").rglob("test-guest-*"):
        os.utime(path, (0, 0))
    assert program.plan(tree)[0] == ["test/guest"]


def test_the_plan_is_at_most_two_lines(program, tree, pytest_calls, monkeypatch, capsys):
    monkeypatch.setattr(program, "plan", lambda: (["test/a"], ["test/b", "test/c"], "why"))
    monkeypatch.setattr(program.sys, "argv", ["full_tests.py", "--plan"])
    assert program.main() == 0
    assert capsys.readouterr().out.splitlines() == [
        "full tests: skipped, passed with the same files: test/b, test/c",
        "full tests: to run after make test (why): test/a"]
