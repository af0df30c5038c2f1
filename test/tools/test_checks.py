# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The checks of `make check` find what they are for; the rules of PCI Express; the tests of what was touched."""

import subprocess

import pytest

from tools import check_imports, check_messages, check_text, check_version, markdown_text, rules, touched
from tools.tracked import ROOT, files

LONG  = "word " * 25
CODE  = f"`{LONG}`"
LINK  = f"[{LONG}](x.md)"
TABLE = f"| {LONG} |"


@pytest.mark.parametrize("path", ["a.py", "a/b.cpp", "a.h", "Makefile", "sub/Makefile", "a.md"])
def test_a_long_line_is_found(path):
    assert list(check_text.column_complaints(path, f"x\n{LONG}\n")) == [
        f"{path}:2: {len(LONG)} columns, at most 120 are allowed"]


@pytest.mark.parametrize("path, full", [("a.py", "x" * 120), ("a.c", "\t" * 15)])
def test_120_columns_are_allowed_and_a_tab_counts_to_the_next_stop(path, full):
    assert list(check_text.column_complaints(path, full)) == []
    assert list(check_text.column_complaints(path, f"{full}x")) == [f"{path}:1: 121 columns, at most 120 are allowed"]


@pytest.mark.parametrize("line, found", [
    *((line, 0) for line in (TABLE, CODE, LINK, f"- {CODE}", f"    {LONG}", f"```\n{LONG}\n```", f"# {LONG}",
        f"word <!-- claim {LONG}-->9<!-- /claim --> word")),
    *((line, 1) for line in (f"see {CODE}", f"- {LONG}", f"{LINK} and more"))])
def test_what_of_markdown_may_be_long(line, found):
    assert len(list(check_text.column_complaints("a.md", f"\n{line}\n"))) == found


CYCLE = ["gateware/phy imports gateware/tlp (gateware/phy/a.py:2); gateware/tlp imports gateware/phy "
    "(gateware/tlp/b.py:2)"]
BACK  = "def late():\n    from litepcie_soc.phy import c\n"


@pytest.mark.parametrize("files, cycles", [
    ({"gateware/phy/a.py": "import re\nfrom litepcie_soc.tlp.b import B\n", "gateware/tlp/b.py": BACK}, CYCLE),
    *(({"gateware/phy/a.py": f"import re\n{text}", "gateware/tlp/b.py": BACK}, CYCLE) for text in (
        "from ..tlp.b import B\n", "from .. import tlp\n", "from litepcie_soc import tlp\n",
        "import os, litepcie_soc.tlp.b\n")),
    ({  # In one direction.
        "gateware/phy/a.py":            "from litepcie_soc.phy import b\nimport litex\n",
        "gateware/phy/b.py":            "from litepcie_soc.phy.a import A\n",
        "gateware/phy/ultrascale/c.py": "from litepcie_soc.phy.b import B\n",
        "test/gateware/test_a.py":      "import litepcie_soc.phy.a\n"}, []),
    ({
        "sim/src/main.cpp":      '#include "host/host.h"\n#include "link/tlp.h"\n',
        "sim/src/host/host.h":   '#include <vector>\n#include "memory.h"\n# include "link/tlp.h"\n',
        "sim/src/host/memory.h": "",
        "sim/src/link/tlp.h":    "",
        "sim/src/link/tlp.cpp":  '#include "link/tlp.h"\n#include "host/memory.h"\n#include "nlohmann/json.h"\n'},
        ["sim/src/host imports sim/src/link (sim/src/host/host.h:3); "
         "sim/src/link imports sim/src/host (sim/src/link/tlp.cpp:2)"]),
    *(({  # Past the door of a room.
        "gateware/endpoint/__init__.py": "from litepcie_soc.endpoint.phy import P\n",
        "gateware/endpoint/phy.py":      "",
        "targets/a.py":                  f"from litepcie_soc.endpoint import P\n{text}",
        "test/test_a.py":                "import litepcie_soc.endpoint.phy\n"},
        ["targets/a.py:2 imports gateware/endpoint/phy; outside of gateware/endpoint only what its __init__.py gives "
         "may be imported"] * bool(text)) for text in (
        "", "from litepcie_soc.endpoint.phy import P\n", "from litepcie_soc.endpoint import phy\n",
        "import litepcie_soc.endpoint.phy\n")),
])
def test_what_imports_are_allowed(tmp_path, files, cycles):
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert list(check_imports.complaints(list(files), tmp_path)) == cycles


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# One\n")
    (tmp_path / "b.py").write_text("")
    (tmp_path / "r.md").write_text("")
    (tmp_path / "bench" / "__pycache__").mkdir(parents=True)  # Of a folder that has gone.
    (tmp_path / "bench" / "__pycache__" / "x.pyc").write_text("")
    return tmp_path


@pytest.mark.parametrize("target, complaints", [
    *((target, []) for target in ("docs/a.md", "docs/a.md#one", "docs", "b.py", "#here", "https://nowhere.invalid/x",
        "mailto:a@b.invalid", "docs/../b.py")),
    ("docs/none.md",  ["r.md:2: docs/none.md: there is no docs/none.md"]),
    ("docs/a.md#two", ["r.md:2: docs/a.md#two: no heading makes the anchor #two"]),
    ("#two",          ["r.md:2: #two: no heading makes the anchor #two"]),
    ("../r.md",       ["r.md:2: ../r.md leads out of the tree"]),
])
def test_link(tree, target, complaints):
    assert list(check_text.link_complaints("r.md", f"# Here\n[x]({target})\n", tree)) == complaints


def test_a_link_starts_at_its_document(tree):
    assert list(check_text.link_complaints("docs/a.md", "[x](../b.py) [y](a.md)", tree)) == []
    assert list(check_text.link_complaints("docs/a.md", "[x](b.py)", tree)) == ["docs/a.md:1: b.py: there is no b.py"]


@pytest.mark.parametrize("name, known", [
    *((name, True) for name in ("docs/a.md", "docs/", "docs/NAME.md", "docs/*.md", "build/x.py", "other/x.py",
        "docs/a.md --help")),
    *((name, False) for name in ("docs/none.md", "targets/none.py", "sim/src", "bench/"))])
def test_name_of_a_file(tree, name, known):
    """A name outside the tree's folders, or with a word for any name, means no file."""
    assert list(check_text.link_complaints("r.md", f"see `{name}`", tree)) == [
        f"r.md:1: `{name}`: there is no {name}"]*(not known)


GUIDE = check_messages.GUIDE.read_text(encoding="utf-8")
MOON  = r"%s: the moon has %u sides: %s\n"


@pytest.mark.parametrize("message, guide, missing", [
    (r"%s made no progress for %u ms\n", GUIDE, False), (r"%s moved everything for %u ms\n", GUIDE, True),
    (r"%s: %s\n", GUIDE, False), (MOON, "the moon has sides: ...", True), (MOON, "the moon has N sides: ...", False),
    (r"%s: the moon has no sides; give --sun\n", "", False),  # A message with advice needs no row.
])
def test_a_message_that_the_guide_does_not_have_is_found(message, guide, missing):
    assert bool(check_messages.missing(message, guide)) == missing


def test_complaints_name_source_and_message():
    found = list(check_messages.complaints("./targets/no_board.py\n"))
    assert "driver: no row for: unknown reason" in found
    assert "targets/no_board.py is named, and does not exist" in found
    assert {line.split(":")[0] for line in found[:-1]} == {"driver", "tool", "rescan", "targets"}


def test_another_version_and_a_missing_one_are_found(tmp_path):
    version, places = check_version.version(), [path for path, _ in check_version.PLACES]
    for name in ("setup.py", *places):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((check_version.ROOT / name).read_text())
    for name in places:
        text = (tmp_path / name).read_text()
        for changed, said in ((text.replace(version, "9.9.9"), "version 9.9.9"), ("", "version not found")):
            (tmp_path / name).write_text(changed)
            assert list(check_version.complaints(tmp_path)) == [f"{name}: {said}; setup.py has {version}"]
        (tmp_path / name).write_text(text)
    (tmp_path / "setup.py").write_text((tmp_path / "setup.py").read_text().replace(f'"{version}"', '"9.8.7"', 1))
    check_version.write(tmp_path)
    assert list(check_version.complaints(tmp_path)) == []
    assert "## [Unreleased]\n\n## [9.8.7]\n" in (tmp_path / "CHANGELOG.md").read_text()


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
    assert {"Prose.", "    the item's second paragraph"} <= {*lines}
    assert not {"    indented code", "fenced code", "```"} & {*lines}
    assert [number for number, _ in markdown_text.prose("a\n    b\n")] == [1, 2]  # A paragraph with an indented line.


@pytest.mark.parametrize("line, targets", [
    ("[a](x.md)", ["x.md"]), ("[a](x.md) and [b](<y z.md>)", ["x.md", "y z.md"]), ('[a](x.md "title")', ["x.md"]),
    ("![a](x.svg)", ["x.svg"]), ("[![a](x.svg)](y.md)", ["x.svg", "y.md"]), ("`[a](x.md)`", []),
    ('<img alt="" src="x.svg"> <a href="y.md">', ["x.svg", "y.md"]), ('<source srcset="x.svg">', ["x.svg"]),
    ("[a]: x.md", ["x.md"]), ("list[0](1)", ["1"])])
def test_links(line, targets):
    assert [target for _, target in markdown_text.links(line)] == targets


def test_anchors():
    assert markdown_text.anchors(TEXT) == {"one-head-here", "twice", "twice-1", "mark"}
    for heading, anchor in (("9. DDR: what no board has shown yet", "9-ddr-what-no-board-has-shown-yet"),
            ("`--tags` and [this](x.md)", "--tags-and-this"), ("snake_case stays", "snake_case-stays")):
        assert markdown_text.slug(heading) == anchor


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


def test_the_table_names_what_exists_and_every_folder_of_sources():
    for starts, tests in touched.TABLE:
        assert all(any(ROOT.glob(f"{path.rstrip('/')}*")) for path in starts), starts
        assert all((ROOT / path).exists() for path in tests), tests
    sources = {path for path in files() if path.endswith((".py", ".c", ".h", ".cpp", ".v", "Makefile"))}
    assert {path for path in sources if not touched.tests_of(path)} <= {path for path in sources
        if path.startswith(("test/", "docs/")) or path == "Makefile"}


@pytest.mark.parametrize("paths, tests", [
    ([],                                                 []),
    (["README.md", "test/runs.py"],                      []),
    (["gateware/ddr/dram.py"], ["test/gateware/ddr", "test/guest/test_ddr.py", "test/sim/test_transfers.py"]),
    (["test/sim/test_host.py", "test/gone/test_it.py"],  ["test/sim/test_host.py"]),
    (["test/sim/conftest.py", "test/sim/test_host.py"],  ["test/sim"]),
    (["requirements.txt", "software/kernel/ring.c"],     ["test"]),
])
def test_what_a_change_touches(paths, tests):
    assert touched.touched(paths) == tests


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """(folder, its four commits): each but the first changes file N."""
    monkeypatch.setenv("LITEPCIE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CI_BASE", raising=False)
    root = tmp_path / "tree"

    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=n@example.org", *arguments], cwd=root, check=True,
            capture_output=True)

    root.mkdir()
    git("init")
    for number in range(4):
        (root / f"file{number}").touch()
        git("add", ".")
        git("commit", "-m", "commit")
    return root, touched.git("rev-list", "HEAD", root=root)[::-1]


def test_the_parent_is_the_base_if_no_ancestor_passed(repository, monkeypatch):
    root, commits = repository
    assert touched.base(root) == commits[2] and touched.changed(root) == ["file3"]
    subprocess.run(["git", "checkout", "-q", commits[0]], cwd=root, check=True)
    assert touched.base(root) is None and touched.changed(root) == ["file0"]


def test_the_newest_ancestor_that_passed_is_the_base(repository, monkeypatch):
    root, commits = repository
    for commit in (commits[1], commits[0], "f"*40):
        touched.remember(commit)
    assert touched.base(root) == commits[1] and touched.changed(root) == ["file2", "file3"]
    monkeypatch.setenv("CI_BASE", commits[0])
    assert touched.changed(root) == ["file1", "file2", "file3"]
    monkeypatch.setenv("CI_BASE", "e"*40)   # Not in this clone: everything may have changed.
    assert touched.changed(root) == ["file0", "file1", "file2", "file3"]
