# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""load and flash: the command line that they run. The programs themselves have tests of their own."""

import os

import pytest

from test.software.user.conftest import write


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder in PATH with both programs, which print their arguments."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("litepcie_rescan", "litepcie_soc_target"):
        (programs / name).write_text("#!/bin/sh\necho ${0##*/} $*\nexit 7\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return programs


@pytest.fixture
def sysfs(tmp_path):
    card = tmp_path / "sys" / "class" / "litepcie" / "litepcie0"
    write(card, {"target": "kc705 gen2 x4 128 bit"})
    (card / "device").symlink_to("../../../devices/0000:02:00.0")
    return tmp_path / "sys"


@pytest.mark.parametrize("line, run", [
    ("load", "litepcie_rescan --card 0000:02:00.0 litepcie_soc_target kc705 --load"),
    ("load sqrl_acorn --gen 2 --lanes 4 --data-width 64 --cable ft2232 --output-dir out",
        "litepcie_rescan --card 0000:02:00.0 litepcie_soc_target sqrl_acorn --load --gen 2 --lanes 4 --data-width 64 "
        "--output-dir out --cable ft2232"),
    ("load --port 0000:00:01.0", "litepcie_rescan --port 0000:00:01.0 litepcie_soc_target kc705 --load"),
    ("load kc705 -c 3", "litepcie_rescan litepcie_soc_target kc705 --load"),
    ("flash --lanes 4", "litepcie_soc_target kc705 --flash --lanes 4"),
])
def test_what_is_run(card, folder, sysfs, line, run):
    """The exit status is that of the program. Writing the flash needs no scan."""
    if line.startswith("flash"):
        (folder / "litepcie_rescan").unlink()
    assert card(*line.split(), sysfs=sysfs) == (7, f"{run}\n", "")


@pytest.mark.parametrize("line, missing, code, said", [
    ("load kc705", "litepcie_soc_target", 1, "litepcie_soc_target is not installed: run 'pip install .' and 'make -C "
        "software/user install' in the project, or put it into PATH"),
    ("load kc705", "litepcie_rescan", 1, "litepcie_rescan is not installed: run"),
    ("load -c 3", None, 2, "/dev/litepcie3: no card tells its board; give the name, as in litepcie_util load "
        "sqrl_acorn"),
    ("flash kc705 --port 0000:00:01.0", None, 2, "unknown option --port"),
    ("flash kc705 --gen 4", None, 2, "--gen: 4 is too large; the most is 3"),
    ("flash kc705 --json", None, 2, "--json is not possible: the output is that of litepcie_soc_target"),
])
def test_what_cannot_be_run(card, folder, sysfs, monkeypatch, line, missing, code, said):
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    if missing:
        (folder / missing).unlink()
    result = card(*line.split(), sysfs=sysfs)
    assert result.code == code and said in result.err and result.err.count("\n") == 1
