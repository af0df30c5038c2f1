# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Tests of the Markdown parser of the checks."""

import pytest

from tools import markdown_text

TEXT = """\
# One `head`: here

Prose.

    indented code

- item

    the item's second paragraph

```
fenced code
```

## Twice
## Twice
<a id="mark"></a> end
"""


def test_prose_leaves_code_out():
    lines = [line for _, line in markdown_text.prose(TEXT)]
    assert "Prose." in lines
    assert "    the item's second paragraph" in lines
    assert not {"    indented code", "fenced code", "```"} & set(lines)


def test_an_indented_line_of_a_paragraph_is_prose():
    assert [number for number, _ in markdown_text.prose("a\n    b\n")] == [1, 2]


@pytest.mark.parametrize("line, targets", [
    ("[a](x.md)",                                ["x.md"]),
    ("[a](x.md) and [b](<y z.md>)",              ["x.md", "y z.md"]),
    ('[a](x.md "title")',                        ["x.md"]),
    ("![a](x.svg)",                              ["x.svg"]),
    ("[![a](x.svg)](y.md)",                      ["x.svg", "y.md"]),
    ("`[a](x.md)`",                              []),
    ('<img alt="" src="x.svg"> <a href="y.md">', ["x.svg", "y.md"]),
    ('<source srcset="x.svg">',                  ["x.svg"]),
    ("[a]: x.md",                                ["x.md"]),
    ("list[0](1)",                               ["1"]),
])
def test_links(line, targets):
    assert [target for _, target in markdown_text.links(line)] == targets


@pytest.mark.parametrize("heading, anchor", [
    ("Start here",                              "start-here"),
    ("9. DDR: what no board has shown yet",     "9-ddr-what-no-board-has-shown-yet"),
    ("`--tags` and [this](x.md)",               "--tags-and-this"),
    ("snake_case stays",                        "snake_case-stays"),
])
def test_slug(heading, anchor):
    assert markdown_text.slug(heading) == anchor


def test_anchors():
    assert markdown_text.anchors(TEXT) == {"one-head-here", "twice", "twice-1", "mark"}
