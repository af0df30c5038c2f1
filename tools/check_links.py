#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Finds links of the documents that lead nowhere: files and anchors of the tree. Links to other sites are not followed.

Exit status 1, and one line for each broken link.
"""

import sys

from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools import markdown_text, tracked


def complaints(path, text, root=tracked.ROOT):
    """Yields one line for each broken link of the document `path`, relative to `root`, that holds `text`."""
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
    print("\n".join(found) or f"links: all links of {len(documents)} documents lead somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
