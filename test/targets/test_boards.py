#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Every board of targets/: its files, the same identity in hard block and headers, and one register map for all boards.

No Vivado is needed: the tests read the emitted files and do not build them. Boards with DDR have a file of their own,
for another worker. `make test` emits one board of each family; the options of all builds are checked.
"""

import os
import subprocess
import sys

import pytest

from litepcie_soc.common import abi

from test.targets.boards import BOARDS, LINKS, OF_FAMILY, TARGETS, build_name, in_make_test, parameters
from test.targets.checks import check_build
from test.targets.test_boards_ddr import BUILDS as BUILDS_DDR, DDR3_DDR4

# Every link with every data path; what else there is to choose on each board; all channels on the smallest link of one.
CHANNELS = [("sqrl_acorn", ["--lanes", "1", "--dma-channels", str(abi.MAX_CHANNELS)])]
CHOICES  = [(name, ["--dma-channels", "2", "--with-litescope", "--tags", "32"]) for name in BOARDS]
BUILDS   = LINKS + CHANNELS + CHOICES



def test_every_family_has_a_board_in_make_test():
    assert {board.family: OF_FAMILY.get(board.family) for board in BOARDS.values()} == OF_FAMILY
    assert all(BOARDS[name].family == family for family, name in OF_FAMILY.items())


@pytest.mark.parametrize("path", TARGETS, ids=lambda path: path.stem)
def test_target_is_a_program_named_after_its_board(path):
    assert os.access(path, os.X_OK)
    assert BOARDS[path.stem].name == path.stem


@pytest.mark.parametrize("name, options", [
    *parameters(LINKS, in_make_test),
    *parameters(CHANNELS, lambda *_: False),
    *parameters(CHOICES, lambda name, _: name in DDR3_DDR4),
])
def test_build_without_compile(name, options, tmp_path, capsys):
    check_build(name, options, tmp_path, capsys)


@pytest.mark.parametrize("path", [pytest.param(path, marks=[] if path.stem == "sqrl_acorn" else pytest.mark.full)
    for path in TARGETS], ids=lambda path: path.stem)
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
