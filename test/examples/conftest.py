# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The modules of the example boards, and their programs in the guest."""

import importlib.util
import subprocess
import sys

from pathlib import Path

import pytest

GATEWARE = Path(__file__).resolve().parents[2] / "examples" / "gateware"


def example(name):
    """The module of an example board."""
    spec   = importlib.util.spec_from_file_location(name, GATEWARE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def run_example():
    """Function that builds an example board, runs a command in its guest, and returns what it says."""
    def run(name, command):
        result = subprocess.run([sys.executable, GATEWARE / f"{name}.py", command], capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout
    return run
