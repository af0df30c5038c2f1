# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Fixtures: the board with the test endpoint of src/fixture, and the simulator's programs."""

import subprocess

from pathlib import Path

import pytest

from test.sim.vfio_user_client import connected

ROOT = Path(__file__).resolve().parents[2]


def make_endpoint(*options, suffix=""):
    """Build folder of the board with the test endpoint."""
    result = subprocess.run(["make", "-C", ROOT / "sim", "fixture", *options], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
    return ROOT / "build" / f"sim_fixture{suffix}"


@pytest.fixture(scope="session")
def test_endpoint():
    return make_endpoint()


@pytest.fixture(scope="session")
def simulator(test_endpoint):
    """`litepcie_simulator` of the test endpoint."""
    return test_endpoint / "simulator" / "litepcie_simulator"


@pytest.fixture
def path(tmp_path):
    """Of the simulator's socket."""
    return tmp_path / "card.sock"


@pytest.fixture
def client(simulator, tmp_path):
    """A client of the test endpoint, set up as by firmware and driver; the simulator must end well."""
    with connected(simulator, tmp_path) as client:
        client.set_up()
        yield client


@pytest.fixture(scope="session")
def host(board):
    """`litepcie_host` of the default board."""
    return board / "simulator" / "litepcie_host"
