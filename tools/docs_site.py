#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""MkDocs' hooks for the site of `make docs`: documents outside docs/ and the references become pages.

Documents link to each other, and to sources, as files of the tree. On the site a link to a document becomes a link to
its page; a link to another file keeps its text only, because the site does not have that file.
"""

import os
import re

from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from markdown.extensions import toc
from mkdocs.structure.files import File

from tools import docstrings, library_page, markdown_text

ROOT = Path(__file__).resolve().parents[1]
DOCS = PurePosixPath("docs")

# Documents outside docs/, and their pages.
PAGES = {
    "README.md":          "index.md",
    "ARCHITECTURE.md":    "architecture.md",
    "CONTRIBUTING.md":    "contributing.md",
    "CHANGELOG.md":       "changelog.md",
    "SECURITY.md":        "security.md",
    "examples/README.md": "examples.md",
}
REFERENCE = PurePosixPath("reference")
REPORT    = ROOT / "build" / "bench" / "report.html"  # Of `make bench`, if that has run.

# Links --------------------------------------------------------------------------------------------


def source_of(page):
    """The path, in the tree, of the document that a page is made of."""
    roots = {page: source for source, page in PAGES.items()}
    return PurePosixPath(roots.get(page, DOCS / page))


def page_of(path):
    """The page, or the file of the site, that the file `path` of the tree becomes; None if it becomes none."""
    if str(path) in PAGES:
        return PAGES[str(path)]
    if path.is_relative_to(DOCS) and path.suffix in (".md", ".svg", ".png"):
        return str(path.relative_to(DOCS))
    return None


def anchor(name):
    """The name of a heading on the site: the theme's script takes it for a CSS selector, which begins with no digit."""
    return f"section-{name}" if name[:1].isdigit() else name


def relinked(text, page):
    """The text of a page with links of the site in place of links of the tree."""
    source = source_of(page)

    def link(match):
        words, target = match[1], match[2]
        parts = urlsplit(target)
        fragment = anchor(parts.fragment)
        if parts.scheme or not parts.path:
            return match[0] if parts.scheme else f"{words}(#{fragment})"
        path  = PurePosixPath(os.path.normpath(source.parent / parts.path))
        other = page_of(path)
        if other is None:
            return words.removeprefix("!")[1:-1]
        place = os.path.relpath(other, PurePosixPath(page).parent)
        return f"{words}({place}{'#' + fragment if fragment else ''})"

    prose = dict(markdown_text.prose(text))
    return "\n".join(re.sub(r"(!?\[[^\[\]]*\])\(([^)\s]*)\)", link, line) if number in prose else line
        for number, line in enumerate(text.splitlines(), 1)) + "\n"

# Hooks of MkDocs ----------------------------------------------------------------------------------


def on_config(config):
    """Adds the pages of the reference to the navigation."""
    pages = [{name: str(REFERENCE / f"{name}.md")} for name in docstrings.packages()]
    if REPORT.is_file():
        config.nav.append({"Report": "report.html"})
    config.nav.append({"References": [{"C": "reference/c.md"}, {"Python": "reference/python.md"}, {"Gateware": pages}]})
    config.mdx_configs["toc"]["slugify"] = lambda text, separator: anchor(toc.slugify(text, separator))
    return config


def on_files(files, config):
    """Adds the pages that are not files in docs/."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    for name in docstrings.packages():
        files.append(File.generated(config, str(REFERENCE / f"{name}.md"), content=docstrings.page(name)))
    if REPORT.is_file():
        files.append(File.generated(config, "report.html", content=REPORT.read_text(encoding="utf-8")))
    for name, make in (("c", library_page.markdown), ("python", docstrings.python_page)):
        files.append(File.generated(config, str(REFERENCE / f"{name}.md"), content=make()))
    return files


def on_page_markdown(markdown, page, config, files):
    """Turns links of the tree into links of the site."""
    return relinked(markdown, page.file.src_uri)


def on_post_page(output, page, config):
    """The theme's switch of colours needs two elements that it has only with syntax highlighting."""
    return output.replace("</head>", '<meta id="hljs-light"><meta id="hljs-dark"></head>', 1)


def on_post_template(output_content, template_name, config):
    return on_post_page(output_content, None, config)
