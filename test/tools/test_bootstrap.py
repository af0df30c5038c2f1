# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Tests of tools/bootstrap.py with apt, pip and the machine's programs replaced. The tests of requirements.txt look at
the environment they run in, which bootstrap made."""

import ast
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys

from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tools import bootstrap
from tools.bootstrap import BootstrapError

ROOT      = Path(__file__).resolve().parents[2]
ALL_NEEDS = bootstrap.NEEDS


yes, no = (lambda: True), (lambda: False)


@pytest.fixture
def apt(monkeypatch):
    """The list of calls of apt-get, and a dictionary for their results: command to (status, output)."""
    calls, answers = [], {}

    def run(*arguments):
        calls.append(arguments)
        status, output = answers.get(arguments[0], (0, ""))
        return subprocess.CompletedProcess(arguments, status, output)

    monkeypatch.setattr(bootstrap, "_apt", run)
    monkeypatch.setattr(bootstrap, "_release", lambda: {"debian"})
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(bootstrap, "GUEST_NEEDS", [])
    return calls, answers


def needs(monkeypatch, **packages):
    """Sets what the machine needs: package to a function that returns whether it is there."""
    monkeypatch.setattr(bootstrap, "NEEDS", [(name, f"what {name} is for", probe) for name, probe in packages.items()])


def test_a_user_gets_the_exact_command_and_root_installs(monkeypatch, apt):
    needs(monkeypatch, make=no, gcc=yes, verilator=no)
    with pytest.raises(BootstrapError) as error:
        bootstrap.check_machine(install=False)
    assert str(error.value) == "packages are missing; type: sudo apt-get install make verilator"
    assert error.value.status == 2 and apt[0] == []
    needs(monkeypatch, make=lambda: bool(apt[0]))
    bootstrap.check_machine(install=True)
    assert apt[0] == [("install", "-y", "--no-install-recommends", "make")]


def test_root_without_a_network(monkeypatch, apt):
    needs(monkeypatch, make=no)
    apt[1]["install"] = (100, "E: Unable to locate package make\n")
    apt[1]["update"]  = (100, "Err:1 http://m\nE: Failed to fetch http://m/InRelease  Could not resolve 'm'\n")
    with pytest.raises(BootstrapError) as error:
        bootstrap.check_machine(install=True)
    assert str(error.value) == ("apt-get install make failed: Failed to fetch http://m/InRelease  Could not resolve "
        "'m'; check the network and apt's sources")


def test_another_distribution_gets_a_list(monkeypatch, apt):
    """Nothing is installed there, also not by an apt-get for other machines' packages, and nothing is refused."""
    monkeypatch.setattr(bootstrap, "_release", lambda: {"fedora"})
    needs(monkeypatch, make=no, gcc=yes, verilator=no)
    with pytest.raises(BootstrapError) as error:
        bootstrap.check_machine(install=True)
    assert str(error.value).splitlines()[1:] == ["  make: what make is for", "  verilator: what verilator is for"]
    assert error.value.status == 2 and apt[0] == []
    needs(monkeypatch, make=yes)
    bootstrap.check_machine()


@pytest.mark.parametrize("machine, status, lines", [("x86_64", 0, 0), ("aarch64", 0, 1)])
def test_what_make_test_needs_is_fetched_beside_the_environment(monkeypatch, apt, machine, status, lines, capfd):
    """On another processor a line says that there is no guest; the tests go on without."""
    needs(monkeypatch, make=yes)
    child = ["import os, types", f"os.uname = lambda: types.SimpleNamespace(machine={machine!r})",
        "from litepcie_sim.guest.packages import require_x86", "from test import prepare",
        "prepare.KERNELS = prepare.OTHERS = ()", "prepare.prepare = lambda *arguments, **options: require_x86()",
        "raise SystemExit(prepare.main([]))"]
    monkeypatch.setattr(bootstrap, "start_fetching", lambda: subprocess.Popen([sys.executable, "-c", "\n".join(child)],
        cwd=ROOT))
    monkeypatch.setattr(bootstrap, "make_venv", lambda: None)
    assert bootstrap.main(["--tests"]) == status
    assert len(capfd.readouterr().err.splitlines()) == lines


def test_make_docs_needs_no_simulator(monkeypatch, apt):
    needs(monkeypatch, verilator=no, make=yes)
    monkeypatch.setattr(bootstrap, "make_venv", lambda: None)
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 1000)
    assert (bootstrap.main(["--docs"]), bootstrap.main([])) == (0, 2)
    assert set(bootstrap.DOCS) < {package for package, *_ in ALL_NEEDS}
    needs(monkeypatch, make=no)
    assert bootstrap.main(["--docs"]) == 2


def test_make_demo_says_first_what_it_takes(monkeypatch, apt, tmp_path, capsys):
    """Once: not when build/venv is there."""
    needs(monkeypatch, make=yes)
    monkeypatch.setattr(bootstrap, "VENV", str(tmp_path))
    monkeypatch.setattr(bootstrap, "make_venv", lambda: print("then"))
    assert bootstrap.main(["--demo"]) == 0
    first, then = capsys.readouterr().out.splitlines()
    assert "0.45 GB" in first and "1.4 GB of disk" in first and then == "then"
    (tmp_path / ".fingerprint").touch()
    assert bootstrap.main(["--demo"]) == 0 and capsys.readouterr().out == "then\n"


def test_an_old_python(monkeypatch):
    monkeypatch.setattr(bootstrap.sys, "version_info", (3, 9, 2))
    with pytest.raises(BootstrapError, match=r"Python 3\.9 is too old: 3\.11 or newer is needed"):
        bootstrap.check_machine()


@pytest.mark.parametrize("output, message", [
    ("WARNING: Retrying ... NewConnectionError('Failed to establish')\nERROR: No matching\n",
        "the Python package index could not be reached (pip); check the network, or pip's index-url and proxy"),
    ("Collecting x\nERROR: No version\nERROR: No matching distribution found for x==9\n",
        "pip failed: ERROR: No matching distribution found for x==9")])
def test_messages_of_pip(output, message):
    assert bootstrap._pip_reason(output) == message


def test_is_silent_when_there_is_nothing_to_do():
    stamp = ROOT / "build" / "venv" / ".fingerprint"
    if not stamp.exists() or stamp.read_text() != bootstrap._fingerprint():
        pytest.skip("build/venv is not up to date: these tests were not started by make test")
    result = subprocess.run([sys.executable, ROOT / "tools" / "bootstrap.py"], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.fixture
def made(monkeypatch, tmp_path):
    """A tree of two files, and the list of steps that make_venv() took: "create", "install"."""
    done = []
    for name in ("requirements.txt", "setup.py"):
        (tmp_path / name).touch()
    monkeypatch.setattr(bootstrap, "ROOT", str(tmp_path))
    monkeypatch.setattr(bootstrap, "BUILD", str(tmp_path / "build"))
    monkeypatch.setattr(bootstrap, "VENV", str(tmp_path / "build" / "venv"))
    monkeypatch.setattr(bootstrap, "_pip", lambda *arguments: done.append(arguments[0]))

    def create():
        (tmp_path / "build" / "venv").mkdir(exist_ok=True)
        done.append("create")

    monkeypatch.setattr(bootstrap, "_create", create)
    return tmp_path, done


def test_the_packages_have_links(made):
    """The links are those in setup.py and relative, and making them twice is not an error."""
    mapping = re.search(r"package_dir += (\{.*\})", (ROOT / "setup.py").read_text())[1]
    assert bootstrap.PACKAGES == ast.literal_eval(mapping)
    for _ in range(2):
        bootstrap.make_packages()
    links = {path.name: os.readlink(path) for path in (made[0] / "build" / "packages").iterdir()}
    assert links == {name: f"../../{folder}" for name, folder in bootstrap.PACKAGES.items()}


def test_what_changes_the_environment(made, monkeypatch):
    """Another setup.py is installed into it, also after an install that failed; other requirements make another."""
    def fails(*arguments):
        raise BootstrapError("pip failed")

    folder, done = made
    bootstrap.make_venv()
    (folder / "setup.py").write_text("# A new command.")
    with monkeypatch.context() as context, pytest.raises(BootstrapError):
        context.setattr(bootstrap, "_pip", fails)
        bootstrap.make_venv()
    for name, steps in ((None, ["install"]), ("setup.py", ["install"]), ("requirements.txt", ["create", "install"])):
        if name:
            (folder / name).write_text("new==1")
        done.clear()
        assert bootstrap.make_venv() and done == steps


def pins():
    """{package: version} of this machine's environment."""
    lines  = (ROOT / "requirements.txt").read_text().splitlines()
    needed = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {one.name.lower(): str(one.specifier).removeprefix("==") for one in needed
        if one.marker is None or one.marker.evaluate()}


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_requirements_are_exact_and_complete_and_the_environment_is_what_they_say():
    """Everything that a pinned package needs is pinned too, as pip installs without resolving."""
    pinned  = {normal(name) for name in pins()}
    missing = set()
    for name in pinned:
        for needed in importlib.metadata.requires(name) or []:
            name_needed = normal(re.match(r"[\w.-]+", needed)[0])
            if ";" not in needed and name_needed not in pinned:
                missing.add(f"{name} needs {name_needed}")
    assert not missing
    assert {name: importlib.metadata.version(name) for name in pins()} == pins()


def test_a_path_with_a_space_is_refused_at_once(tmp_path):
    """By make itself, before anything is installed, made or compiled."""
    folder = tmp_path / "my clone"
    (folder / "tools").mkdir(parents=True)
    for name in ("Makefile", "tools/bootstrap.py"):
        shutil.copy(ROOT / name, folder / name)
    made = subprocess.run(["make", "demo", "PYTHON=python3 -S"], cwd=folder, capture_output=True, text=True)
    assert made.returncode == 2 and made.stderr.startswith(f"bootstrap: the path of this folder, '{folder}', contains "
        "a space, which make cannot use; move the folder to a path without it\n"), made
    assert sorted(one.name for one in folder.iterdir()) == ["Makefile", "tools"]
