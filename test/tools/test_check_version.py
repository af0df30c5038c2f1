#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

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
def test_another_version_is_found(tree, name):
    text = (tree / name).read_text()
    (tree / name).write_text(text.replace(check_version.version(), "9.9.9"))
    assert list(check_version.complaints(tree)) == [
        f"{name}: version 9.9.9; setup.py has {check_version.version()}"]


@pytest.mark.parametrize("name", FILES[1:])
def test_a_file_without_a_version_is_found(tree, name):
    (tree / name).write_text("")
    assert list(check_version.complaints(tree)) == [
        f"{name}: version not found; setup.py has {check_version.version()}"]
