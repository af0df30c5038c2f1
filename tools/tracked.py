#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The files of the tree, for the checks. Standard library only."""

import subprocess

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def files():
    """Paths, relative to ROOT, of the files in the repository and of those that `git add` would add."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT,
        check=True, capture_output=True, text=True).stdout
    return sorted({path for path in listed.split("\0") if path and (ROOT / path).is_file()})
