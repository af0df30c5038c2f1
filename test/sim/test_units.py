#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs the C++ unit tests of the simulator, test/sim/src; those that damage TLPs and symbols also with sanitizers."""

import os
import subprocess

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_units(test_endpoint):
    result = subprocess.run(["make", "-C", ROOT / "sim", "test"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-6000:]
    assert "PASSED" in result.stdout


def fuzz(**settings):
    """Throws damaged TLPs and symbols at the model, built with the sanitizers of addresses and undefined behaviour."""
    result = subprocess.run(["make", "-C", ROOT / "sim", "fuzz", "SANITIZE=address,undefined"], capture_output=True,
        text=True, env={**os.environ, **settings})
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-6000:]
    assert "PASSED" in result.stdout


@pytest.mark.timeout(900)  # It may compile the model anew.
def test_damaged_tlps():
    fuzz()


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(2, 6))
def test_many_damaged_tlps(seed):
    fuzz(LITEPCIE_FUZZ_SEED=str(seed), LITEPCIE_FUZZ_TLPS="100000")
