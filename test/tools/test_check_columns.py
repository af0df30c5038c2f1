# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Tests of tools/check_columns.py."""

import pytest

from tools import check_columns

LONG  = "word " * 25
CODE  = f"`{LONG}`"
LINK  = f"[{LONG}](x.md)"
TABLE = f"| {LONG} |"


@pytest.mark.parametrize("path", ["a.py", "a/b.cpp", "a.h", "Makefile", "sub/Makefile", "a.md"])
def test_a_long_line_is_found(path):
    assert list(check_columns.complaints(path, f"x\n{LONG}\n")) == [
        f"{path}:2: {len(LONG)} columns, at most 120 are allowed"]


def test_120_columns_are_allowed():
    assert list(check_columns.complaints("a.py", "x" * 120)) == []
    assert len(list(check_columns.complaints("a.py", "x" * 121))) == 1


def test_a_tab_counts_to_the_next_stop():
    assert list(check_columns.complaints("a.c", "\t" * 15)) == []
    assert list(check_columns.complaints("a.c", "\t" * 15 + "x")) == ["a.c:1: 121 columns, at most 120 are allowed"]


@pytest.mark.parametrize("line", [TABLE, CODE, LINK, f"- {CODE}", f"    {LONG}", f"```\n{LONG}\n```", f"# {LONG}",
    f"word <!-- claim {LONG}-->9<!-- /claim --> word"])
def test_what_of_markdown_may_be_long(line):
    assert list(check_columns.complaints("a.md", f"\n{line}\n")) == []


@pytest.mark.parametrize("line", [f"see {CODE}", f"- {LONG}", f"{LINK} and more"])
def test_prose_of_markdown_may_not_be_long(line):
    assert len(list(check_columns.complaints("a.md", line))) == 1
