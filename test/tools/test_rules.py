# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""The page of rules is made from marks in the tests."""

import pytest

from tools import rules


def test_marks_of_each_kind_of_test():
    texts = {"a.py": "# Rules: 2.6.1; 2.8\n@full\ndef test_it():\n\n# Rules: 2.8\nclass Proven(Harness):\n",
        "b.cpp": "// Rules: 2.8\nTEST_F(Suite, Name) {\n"}
    assert rules.marks(texts) == {"2.6.1": [("a.py", "test_it")],
        "2.8": [("a.py", "test_it"), ("a.py", "Proven"), ("b.cpp", "Suite.Name")]}
    page = rules.page(texts)
    assert "| 2.6.1 | no TLP is sent without credits | `a.py` test_it |" in page
    assert "2 of 78 rules have a test" in page and "- 2.4.1: writes pass reads" in page and "- 2.8:" not in page


@pytest.mark.parametrize("mark, said", [
    ("# Rules: 2.6.1, 2.8\ndef test_it():", "names 2.6.1, 2.8, which tools/rules.py"),
    ("# Rules: 2.8\ndef helper():", "is a mark without a test")])
def test_marks_that_are_wrong(mark, said):
    with pytest.raises(ValueError, match=said):
        rules.marks({"a.py": mark})
