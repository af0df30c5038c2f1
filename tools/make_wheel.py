#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Builds the wheels of the Python package of software/python and of the project, in build/wheel or the folder given.

From copies of the files that the commit has, because setuptools writes into the folder that it builds. Equal sources
give equal wheels, byte for byte. Prints the paths of the wheels.
"""

import os
import shutil
import subprocess
import sys
import tempfile

from pathlib import Path

from tools import tracked

ROOT     = tracked.ROOT
PACKAGE  = ROOT / "software" / "python"
PROJECTS = {"liblitepcie": "software/python/", "litepcie_soc": ""}  # Where the sources of each are.
TIME     = 1735689600  # Of all files: a wheel does not depend on when it is made.


def lay_out(sources, folder):
    """Copies the sources, with modes that do not depend on who makes the wheel."""
    for path in tracked.files():
        if path.startswith(sources):
            target = folder / path.removeprefix(sources)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, target)
            target.chmod(0o755 if (ROOT / path).stat().st_mode & 0o100 else 0o644)


def make(output=ROOT / "build" / "wheel", name="liblitepcie"):
    """Builds a wheel with the packages of build/venv, without the network; returns its path."""
    output = Path(output)
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob(f"{name}-*.whl"):
        old.unlink()
    with tempfile.TemporaryDirectory(prefix="litepcie-wheel-") as scratch:
        lay_out(PROJECTS[name], Path(scratch))
        # The back end itself: pip would add seconds. Its umask decides the modes of the files that it writes.
        subprocess.run([sys.executable, "-c", "import os, sys; os.umask(0o22); sys.path.insert(0, ''); "
            "import setuptools.build_meta as b; b.build_wheel(sys.argv[1])", output.resolve()], cwd=scratch, check=True,
            stdout=subprocess.DEVNULL, env=dict(os.environ, SOURCE_DATE_EPOCH=str(TIME)))
    return next(output.glob(f"{name}-*.whl"))


if __name__ == "__main__":
    try:
        for project in PROJECTS:
            print(make(*sys.argv[1:], name=project))
    except subprocess.CalledProcessError as error:
        sys.exit(f"make_wheel: setuptools ended with status {error.returncode}; its lines are above")
