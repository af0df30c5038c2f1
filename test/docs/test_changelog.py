#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""CHANGELOG.md has the version of setup.py, under a heading for unreleased changes."""

import re

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_newest_version_is_that_of_setup():
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    version  = re.search(r"^    version += \"(.+?)\"", (ROOT / "setup.py").read_text(), re.MULTILINE)[1]
    assert headings[:2] == ["Unreleased", version]
