#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""litepcie_soc_new: what it writes builds and passes its own tests; what it refuses is one line."""

import errno
import subprocess
import sys

from pathlib import Path

import pytest

from litepcie_sim import new

NEW = [sys.executable, "-m", "litepcie_sim.new"]


def run(command, folder, status=0):
    result = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True)
    assert result.returncode == status, result.stdout[-2000:] + result.stderr[-2000:]
    return result.stdout + result.stderr


def refused(folder, name):
    said = run([*NEW, name], folder, status=2)
    assert said.startswith("litepcie_soc_new: ") and said.count("\n") == 1
    return said


@pytest.mark.timeout(120)
def test_a_new_project_elaborates_and_passes_the_test_of_its_core(tmp_path):
    assert "cd blinker; " in run([*NEW, "blinker"], tmp_path)
    folder = tmp_path / "blinker"
    files  = sorted(path.name for path in folder.iterdir())
    assert files == ["README.md", "core.py", "program.c", "target.py", "test.py"]
    assert not any("NAME" in (folder / name).read_text() for name in files)
    assert "OK" in run([sys.executable, "test.py", "Core"], folder)
    run([sys.executable, "target.py", "--driver"], folder)
    for path in ("gateware/litepcie_soc_sim.v", "driver/Makefile", "driver/kernel/pci.c", "driver/generated/csr.h"):
        assert (folder / "build" / path).is_file()
    run(["verilator", "--lint-only", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--top-module", "litepcie_soc_sim",
        folder / "build" / "gateware" / "litepcie_soc_sim.v"], folder)
    include = [f"-I{folder}/build/driver/{name}" for name in ("generated", "user/lib", "kernel/include/uapi")]
    run(["cc", "-fsyntax-only", "-Wall", "-Werror=implicit-function-declaration", *include, "program.c"], folder)


@pytest.mark.parametrize("name", ["Blinker", "9lives", "a-b", "a" * 33, ".", "a b"])
def test_a_bad_name(tmp_path, name):
    assert "is not a name; give a lower-case letter" in refused(tmp_path, name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_exists_is_left_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "core.py").write_text("text")
    assert "mine exists; give another name" in refused(tmp_path, "mine")
    assert (tmp_path / "mine" / "core.py").read_text() == "text"


def test_a_folder_that_cannot_be_made(tmp_path):
    assert "cannot make none/mine: No such file or directory" in refused(tmp_path, "none/mine")


def test_no_space_leaves_nothing(tmp_path, monkeypatch, capsys):
    write = Path.write_text

    def full(path, text):
        if path.name == "program.c":
            write(path, text[:10])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "write_text", full)
    assert new.main(["mine"]) == 2
    assert capsys.readouterr().err == "litepcie_soc_new: cannot write mine: No space left on device\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.full
@pytest.mark.timeout(900)
def test_all_tests_of_a_new_project_pass(tmp_path):
    run([*NEW, "mine"], tmp_path)
    said = run([sys.executable, "test.py"], tmp_path / "mine")
    assert "Ran 2 tests" in said and "OK" in said
