#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Finds links of the documents that lead nowhere, and names of files that do not exist.

A link may lead to a file or an anchor of the tree; links to other sites are not followed. A name is a code span that
begins with a folder of the tree. Exit status 1, and one line for each that is broken.
"""

import re
import sys

from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools import markdown_text, tracked


# A code span that names a file. BOARD, NAME and similar words match any name, and `...` or `*` match several.
NAME = re.compile(r"(?:\.github|bench|docs|examples|gateware|sim|software|targets|test|tools)/[\w./-]*")
ANY  = re.compile(r"\b[A-Z]{2,}\b|\.\.\.|\*")


def broken_names(path, text, root):
    """Yields one line for each file that a document names and that does not exist."""
    for number, code in markdown_text.code_spans(text):
        name = code.split(":")[0]
        if NAME.fullmatch(name) and not ANY.search(name) and not (root / name).exists():
            yield f"{path}:{number}: `{code}`: there is no {name}"


def complaints(path, text, root=tracked.ROOT):
    """Yields one line for each broken link or name of the document `path`, relative to `root`, that holds `text`."""
    yield from broken_names(path, text, root)
    for number, target in markdown_text.links(text):
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            continue
        other = (root / path).parent / unquote(parts.path) if parts.path else root / path
        if not other.resolve().is_relative_to(root.resolve()):
            yield f"{path}:{number}: {target} leads out of the tree"
        elif not other.exists():
            yield f"{path}:{number}: {target}: there is no {parts.path}"
        elif parts.fragment and other.suffix == ".md":
            found = markdown_text.anchors(text if not parts.path else other.read_text(encoding="utf-8"))
            if unquote(parts.fragment) not in found:
                yield f"{path}:{number}: {target}: no heading makes the anchor #{parts.fragment}"


def main():
    documents = [path for path in tracked.files() if Path(path).suffix == ".md"]
    found = [line for path in documents for line in complaints(path, (tracked.ROOT / path).read_text(encoding="utf-8"))]
    print("\n".join(found) or f"links: all links and names of files in {len(documents)} documents are right")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
