#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Fixtures: the board with the test endpoint of src/fixture, and the simulator's programs."""

import subprocess

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def test_endpoint():
    """Build folder of the board with the test endpoint."""
    result = subprocess.run(["make", "-C", ROOT / "sim", "fixture"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
    return ROOT / "build" / "sim_fixture"


@pytest.fixture(scope="session")
def simulator(test_endpoint):
    """`litepcie_simulator` of the test endpoint."""
    return test_endpoint / "simulator" / "litepcie_simulator"


@pytest.fixture(scope="session")
def host(board):
    """`litepcie_host` of the default board."""
    return board / "simulator" / "litepcie_host"
