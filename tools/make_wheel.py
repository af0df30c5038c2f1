#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Builds the wheel of the Python package of software/python, in build/wheel or the folder given.

From a copy, because setuptools writes into the folder that it builds. Prints the path of the wheel.
"""

import shutil
import subprocess
import sys
import tempfile

from pathlib import Path

ROOT    = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "software" / "python"


def make(output=ROOT / "build" / "wheel"):
    """Builds the wheel with the packages of build/venv, without the network; returns its path."""
    output = Path(output)
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob("liblitepcie-*.whl"):
        old.unlink()
    with tempfile.TemporaryDirectory(prefix="litepcie-wheel-") as scratch:
        copy = Path(scratch) / "python"
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        # The back end itself: pip would add seconds.
        subprocess.run([sys.executable, "-c", "import sys, setuptools.build_meta as b; b.build_wheel(sys.argv[1])",
            output.resolve()], cwd=copy, check=True, stdout=subprocess.DEVNULL)
    return next(output.glob("liblitepcie-*.whl"))


if __name__ == "__main__":
    try:
        print(make(*sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        sys.exit(f"make_wheel: setuptools ended with status {error.returncode}; its lines are above")
