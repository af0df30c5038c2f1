# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The programs of the example boards, in the guest."""

import subprocess
import sys

import pytest

from test.examples.boards import GATEWARE


@pytest.fixture
def run_example():
    """Function that builds an example board, runs a command in its guest, and returns what it says."""
    def run(name, command):
        result = subprocess.run([sys.executable, GATEWARE / f"{name}.py", command], capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout
    return run
