#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A build of the simulator: with a profile, and after one that was killed."""

import os
import shutil
import signal
import subprocess
import time

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def build(board, cache):
    return subprocess.Popen(["make", "-C", ROOT / "sim", f"BOARD={board}"], start_new_session=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=dict(os.environ, LITEPCIE_CACHE=str(cache)))


# Files that appear early, in the middle and late while the Verilog is compiled.
@pytest.mark.parametrize("sign", [pytest.param("Vlitepcie_soc_sim.mk", marks=pytest.mark.full), "verilated.d",
    pytest.param("Vlitepcie_soc_sim__ALL.a", marks=pytest.mark.full)])
def test_a_killed_build_goes_on(test_endpoint, tmp_path, sign):
    board = tmp_path / "board"
    for folder in ("gateware", "software"):
        shutil.copytree(test_endpoint / folder, board / folder)
    process = build(board, tmp_path / "cache")
    while process.poll() is None and not (board / "simulator" / "obj" / sign).exists():
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (board / "simulator" / "litepcie_host").exists()
    process = build(board, tmp_path / "cache")
    output = process.communicate()[0]
    assert process.returncode == 0, output
    assert (board / "simulator" / "litepcie_host").exists()


def symbols(program):
    listing = subprocess.run(["nm", "--demangle", program], capture_output=True, text=True, check=True).stdout
    return [line for line in listing.splitlines() if "nba_sequent" in line]


# With a profile, the compiler puts what the training never did into functions of their own.
def test_the_default_board_has_a_profile(board):
    assert any("cold" in symbol for symbol in symbols(board / "simulator" / "litepcie_host"))
    assert not (board / "simulator" / "training").exists()


def test_a_card_that_cannot_do_the_training_has_none(test_endpoint):
    found = symbols(test_endpoint / "simulator" / "litepcie_host")
    assert found and not any("cold" in symbol for symbol in found)
