# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Each mutant has its place in the sources, a name of its own, and tests to run."""

import re

import pytest

from test.mutants.tables import GROUPS, ROOT, stages, text_of


@pytest.mark.parametrize("group", GROUPS)
def test_each_mutant_can_be_made(group):
    mutants = GROUPS[group]()
    assert len({one.name for one in mutants}) == len(mutants) > 0
    for one in mutants:
        assert one.text() != (ROOT / one.path).read_text(encoding="utf-8")
        assert all((ROOT / "test" / name.partition("::")[0]).exists() for name in one.tests) and stages(one), one
        assert all(re.search(rf"def {test}\b", text_of(f"test/{file}")) for file, test in
            re.findall(r"(\S+?)::(\w+)", " ".join(one.tests))), one
