# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""tools/touched.py: its table fits the tree, and its base is the right commit of a small repository."""

import subprocess

import pytest

from tools         import touched
from tools.tracked import ROOT, files


def test_the_table_names_what_exists_and_every_folder_of_sources():
    for starts, tests in touched.TABLE:
        assert all((ROOT / path).exists() for path in (*starts, *tests)), starts
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
