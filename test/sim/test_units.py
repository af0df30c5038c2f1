#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs the C++ unit tests of the simulator, test/sim/src."""

import subprocess

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_units(test_endpoint):
    result = subprocess.run(["make", "-C", ROOT / "sim", "test"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-6000:]
    assert "PASSED" in result.stdout
