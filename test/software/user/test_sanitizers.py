# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The tests of the tool once more, with a tool that AddressSanitizer and UndefinedBehaviorSanitizer watch."""

import os
import subprocess
import sys

from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

# test_library and test_examples build programs of their own, Python is not built for sanitizers, test_misbehaviours has
# no quick test, and the others do not run the tool.
FILES = sorted(path.name for path in HERE.glob("test_*.py") if path.stem.removeprefix("test_") not in
    {"sanitizers", "library", "examples", "misbehaviours", "documents", "python"})


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("file", FILES)
def test_sanitizers(file):
    result = subprocess.run([sys.executable, "-m", "pytest", "-q", "-n0", "-m", "not full", HERE / file],
        cwd=HERE.parents[2], env=os.environ | {"LITEPCIE_SANITIZE": "1"}, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-3000:]
