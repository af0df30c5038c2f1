# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Tests of tools/check_links.py, in a small tree."""

import pytest

from tools import check_links


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# One\n")
    (tmp_path / "b.py").write_text("")
    (tmp_path / "r.md").write_text("")
    return tmp_path


@pytest.mark.parametrize("target", ["docs/a.md", "docs/a.md#one", "docs", "b.py", "#here", "https://nowhere.invalid/x",
    "mailto:a@b.invalid", "docs/../b.py"])
def test_good_link(tree, target):
    assert list(check_links.complaints("r.md", f"# Here\n[x]({target})\n", tree)) == []


@pytest.mark.parametrize("target, complaint", [
    ("docs/none.md",  "r.md:2: docs/none.md: there is no docs/none.md"),
    ("docs/a.md#two", "r.md:2: docs/a.md#two: no heading makes the anchor #two"),
    ("#two",          "r.md:2: #two: no heading makes the anchor #two"),
    ("../r.md",       "r.md:2: ../r.md leads out of the tree"),
])
def test_broken_link(tree, target, complaint):
    assert list(check_links.complaints("r.md", f"# Here\n[x]({target})\n", tree)) == [complaint]


def test_a_link_starts_at_its_document(tree):
    assert list(check_links.complaints("docs/a.md", "[x](../b.py) [y](a.md)", tree)) == []
    assert list(check_links.complaints("docs/a.md", "[x](b.py)", tree)) == ["docs/a.md:1: b.py: there is no b.py"]


@pytest.mark.parametrize("name", ["docs/a.md", "docs/", "docs/NAME.md", "docs/*.md", "build/x.py", "other/x.py",
    "docs/a.md --help"])
def test_name_that_is_right_or_means_no_file(tree, name):
    assert list(check_links.complaints("r.md", f"see `{name}`", tree)) == []


@pytest.mark.parametrize("name", ["docs/none.md", "targets/none.py", "sim/src"])
def test_name_of_no_file(tree, name):
    assert list(check_links.complaints("r.md", f"see `{name}`", tree)) == [f"r.md:1: `{name}`: there is no {name}"]
