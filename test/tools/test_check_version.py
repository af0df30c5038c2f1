# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Tests of tools/check_version.py."""

import pytest

from tools import check_version
from tools.check_version import PLACES, ROOT

FILES = ["setup.py", *(path for path, _ in PLACES)]


@pytest.fixture
def tree(tmp_path):
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    return tmp_path


@pytest.mark.parametrize("name", FILES[1:])
def test_another_version_and_a_missing_one_are_found(tree, name):
    version, text = check_version.version(), (tree / name).read_text()
    for changed, said in ((text.replace(version, "9.9.9"), "version 9.9.9"), ("", "version not found")):
        (tree / name).write_text(changed)
        assert list(check_version.complaints(tree)) == [f"{name}: {said}; setup.py has {version}"]
