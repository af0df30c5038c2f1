#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tests of tools/docs_site.py: links of the tree become links of the site, and the site can be built."""

import re
import subprocess
import sys

from pathlib import Path

import pytest

from tools import docs_site

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page, link, expected", [
    ("index.md",         "[a](docs/start.md)",              "[a](start.md)"),
    ("index.md",         "![a](docs/pictures/path.svg)",    "![a](pictures/path.svg)"),
    ("index.md",         "[a](ARCHITECTURE.md)",            "[a](architecture.md)"),
    ("index.md",         "[a](LICENSES/GPL-2.0-only.txt)",  "a"),
    ("start.md",         "[a](../README.md)",               "[a](index.md)"),
    ("contracts/dma.md", "[a](../../ARCHITECTURE.md#map)",  "[a](../architecture.md#map)"),
    ("driver.md",        "[a](../examples/README.md)",      "[a](examples.md)"),
    ("bring-up.md",      "[a](#3-load)",                    "[a](#section-3-load)"),
    ("start.md",         "[a](bring-up.md#3-load)",         "[a](bring-up.md#section-3-load)"),
    ("start.md",         "[a](https://example.org/x.md)",   "[a](https://example.org/x.md)"),
])
def test_relinked(page, link, expected):
    assert docs_site.relinked(f"see {link}.", page) == f"see {expected}.\n"


def test_code_is_left_alone():
    text = "a\n\n    [a](docs/start.md)\n"
    assert docs_site.relinked(text, "index.md") == text


def build(folder, *options):
    """Builds a site as `make docs` does. With --quiet, MkDocs would count no warning as an error."""
    return subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder, *options],
        cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_the_site_is_built_without_a_warning(tmp_path):
    result = build(tmp_path)
    assert (result.returncode, re.findall("WARNING.*|ERROR.*", result.stderr)) == (0, [])
    assert "MemoryReadPort" in (tmp_path / "reference" / "tlp.html").read_text()


@pytest.mark.parametrize("link, warning", [
    ("[a](none.md)",      "none.md"),
    ("[a](start.md#none)", "#none"),
])
def test_a_broken_link_is_an_error(link, warning, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "start.md").write_text(f"# Start\n\n{link}\n")
    config = tmp_path / "mkdocs.yml"
    text   = (ROOT / "mkdocs.yml").read_text()
    text   = text[:text.index("nav:")].replace("docs_dir: docs", f"docs_dir: {docs}")
    config.write_text(text.replace("  - tools/docs_site.py", "  []").replace("hooks:\n  []\n", ""))
    result = build(tmp_path / "site", "--config-file", config)
    assert result.returncode == 1
    assert warning in result.stdout + result.stderr
