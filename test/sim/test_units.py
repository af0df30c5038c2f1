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


# Most of the time of all: random input, and published rates over all sizes.
LONG = ("*Fuzz.*", "LinkDirection.ReachesItsBound", "Bounds.NoTrafficExceedsThoseWithoutDllps",
    "CurveTest.RatesOverSizesAreThePublishedOnes", "HostTest.Latencies*ThePublishedOnes",
    "ModelTest.FunctionLevelResetThatDoesNotEnd")


@pytest.mark.parametrize("tests", [f"-{':'.join(LONG)}", pytest.param(":".join(LONG), marks=pytest.mark.full)],
    ids=["short", "long"])
def test_units(test_endpoint, tests):
    result = subprocess.run(["make", "-C", ROOT / "sim", "test"], capture_output=True, text=True,
        env={**os.environ, "GTEST_FILTER": tests})
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-6000:]
    assert "PASSED" in result.stdout


@pytest.mark.search
@pytest.mark.timeout(7200)  # It may compile the model anew.
def test_damaged_tlps():
    """Throws damaged TLPs and symbols at the model, built with the sanitizers of addresses and undefined behaviour."""
    settings = {"LITEPCIE_FUZZ_SEED": os.environ.get("LITEPCIE_SEARCH_SEED", "1"), "LITEPCIE_FUZZ_TLPS": "200000"}
    result   = subprocess.run(["make", "-C", ROOT / "sim", "fuzz", "SANITIZE=address,undefined"], capture_output=True,
        text=True, env={**os.environ, **settings})
    assert result.returncode == 0, f"{settings}\n" + result.stdout[-6000:] + result.stderr[-6000:]
    assert "PASSED" in result.stdout
