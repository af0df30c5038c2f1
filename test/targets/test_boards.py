#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Every board of targets/: what it emits, that its hard block says what its headers say, and one register map for all.

No Vivado is needed: what is emitted is looked at, not built. With DDR it is a file of its own, for another worker.
"""

import os
import subprocess
import sys

import pytest

from litepcie_soc.common import abi

from test.targets.boards import BOARDS, LINKS, TARGETS, build_name
from test.targets.checks import check_build
from test.targets.test_boards_ddr import BUILDS as BUILDS_DDR

# Every link with every data path; what else there is to choose on each board; all channels on the smallest link of one.
CHANNELS = [("sqrl_acorn", ["--pcie-lanes", "1", "--dma-channels", str(abi.MAX_CHANNELS)])]
CHOICES  = [(name, ["--dma-channels", "2", "--with-litescope", "--tags", "32"]) for name in BOARDS]
BUILDS   = LINKS + CHANNELS + CHOICES


@pytest.mark.parametrize("path", TARGETS, ids=lambda path: path.stem)
def test_target_is_a_program_named_after_its_board(path):
    assert os.access(path, os.X_OK)
    assert BOARDS[path.stem].name == path.stem


@pytest.mark.parametrize("name, options", BUILDS, ids=[build_name(*build) for build in BUILDS])
def test_build_without_compile(name, options, tmp_path, capsys):
    check_build(name, options, tmp_path, capsys)


@pytest.mark.parametrize("path", TARGETS, ids=lambda path: path.stem)
def test_two_builds_are_the_same_byte_for_byte(path, tmp_path):
    """The second, in a Python that orders its sets otherwise, touches no file: each is as before."""
    seen    = []
    options = ["--build", "--no-compile", "--with-ddr"]
    for seed in ("1", "2"):
        result = subprocess.run([sys.executable, path, *options, "--output-dir", tmp_path],
            capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONHASHSEED": seed})
        assert (result.returncode, result.stdout) == (0, "")
        seen.append({path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")})
    assert seen[0] == seen[1]


def test_names_are_unique():
    """No two builds share a folder."""
    names = [build_name(*build) for build in BUILDS + BUILDS_DDR]
    assert len(set(names)) == len(names)
