# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Every board of targets/: its files, the same identity in hard block and headers, and one register map for all boards.
No Vivado is needed: the tests read the emitted files. `make test` emits two boards."""

import os
import subprocess
import sys

import pytest

from litepcie_soc.build.targets import PATHS
from litepcie_soc.common import abi
from test.targets.boards import BOARDS, OF_FAMILY, TARGETS, build_name, by_width, options_of, parameters, sample
from test.targets.checks import check_build

# Links and data paths; all channels on the smallest link of one board; each data path with DDR on a board of each
# family; and what else there is to choose on each board.
LINKS    = [(name, options) for name in BOARDS for options in sample(name)]
CHANNELS = [("sqrl_acorn", ["--lanes", "1", "--dma-channels", str(abi.MAX_CHANNELS)])]
DDR      = [(name, [*options, "--with-ddr"]) for name in OF_FAMILY.values() for options in by_width(name)]
CHOICES  = [(name, ["--dma-channels", "2", "--with-litescope", "--tags", "32", "--retry-link",
    *["--with-ddr"] * bool(board.memory.ddr)]) for name, board in BOARDS.items()]
# All user logic, on a board of each family: that of Artix-7 is in `make test`.
USER     = [(name, ["--streams", "2", "--patterns", "1", "--user-core", *["--with-ddr"] * (name == "sqrl_acorn")])
    for name in OF_FAMILY.values()]
DEVICES  = [("sqrl_acorn", ["--device", "xc7a200t-2"])]
BUILDS   = LINKS + CHANNELS + DDR + CHOICES + USER + DEVICES

# One around each kind of hard block. That of Artix-7 has DDR3 and all user logic.
IN_MAKE_TEST = {USER[0][0]: USER[0][1], "xilinx_alveo_u200": ["--gen", "3", "--lanes", "4", "--data-width", "128"]}


def in_make_test(name, options):
    return IN_MAKE_TEST.get(name) == options


def test_every_family_has_a_board_here():
    assert {board.family: OF_FAMILY.get(board.family) for board in BOARDS.values()} == OF_FAMILY
    assert all(BOARDS[name].family == family for family, name in OF_FAMILY.items())
    assert all(build in BUILDS for build in IN_MAKE_TEST.items())


def test_target_is_a_program_named_after_its_board():
    assert all(os.access(path, os.X_OK) and BOARDS[path.stem].name == path.stem for path in TARGETS)


@pytest.mark.parametrize("name, options", parameters(BUILDS, in_make_test))
def test_build_without_compile(name, options, tmp_path, capsys):
    check_build(name, options, tmp_path, capsys)


@pytest.mark.full
@pytest.mark.parametrize("name", ["sqrl_acorn", "xilinx_kcu105"])
def test_two_builds_are_the_same_byte_for_byte(name, tmp_path):
    """The second, in a Python that orders its sets otherwise, touches no file: each is as before."""
    seen    = []
    options = ["--build", "--no-compile", "--with-ddr"]
    for seed in ("1", "2"):
        result = subprocess.run([sys.executable, PATHS[name], *options, "--output-dir", tmp_path],
            capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONHASHSEED": seed})
        assert (result.returncode, result.stdout) == (0, "")
        seen.append({path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")})
    assert seen[0] == seen[1]


def test_names_are_unique():
    """No two builds share a folder."""
    every = [(name, options_of(c)) for name, board in BOARDS.items() for c in board.configurations()]
    names = [build_name(*build) for build in every + [build for build in BUILDS if build not in every]]
    assert len(set(names)) == len(names)
