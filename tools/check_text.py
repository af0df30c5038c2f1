#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Checks the files of the tree: licences, columns of lines, and links.

Every file names its licence, which is that of its folder. Lines in sources and in the prose of documents have at most
120 columns. Links of the documents lead somewhere, and names of files in them exist. Exit status 1, and one line for
each complaint.
"""

import re
import sys

from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools import markdown_text, tracked

# Licences -----------------------------------------------------------------------------------------

# The first pattern that matches a path gives its licence. None: the file needs no line (prose, data, expected output).
RULES = [
    (r"LICENSES/|.*\.(md|csv|json)$|.*/golden/",           None),
    (r"software/kernel/Documentation/ABI/",                None),  # The format has no comments.
    (r"software/kernel/include/uapi/",                     "GPL-2.0-only WITH Linux-syscall-note"),
    (r"software/kernel/litepcie_regs\.h$",                 "GPL-2.0-only OR BSD-2-Clause"),
    (r"software/kernel/",                                  "GPL-2.0-only"),
    (r"test/guest/(exporter|neighbour)/",                  "GPL-2.0-only"),
    (r"",                                                  "BSD-2-Clause"),
]

LINE = re.compile(r"SPDX-License-Identifier: ([\w.-]+(?: (?:OR|AND|WITH) [\w.-]+)*)")


def licence(path):
    """The licence that the file `path` must name, or None if it needs none."""
    return next(name for pattern, name in RULES if re.match(pattern, path))


def licence_complaint(path, text):
    """The complaint about the file `path` (relative to the root of the tree) with contents `text`, or None."""
    wanted = licence(path)
    if wanted is None:
        return None
    found = LINE.search("\n".join(text.splitlines()[:12]))
    if found is None:
        return f"{path}: no line SPDX-License-Identifier: {wanted}"
    if found[1] != wanted:
        return f"{path}: licence is {found[1]}, not {wanted}"
    return None

# Columns ------------------------------------------------------------------------------------------

# Tables and code of Markdown may be longer, and so may a line that cannot be broken. Comments of Markdown do not count.

COLUMNS  = 120
TAB      = 8
SUFFIXES = {".py", ".c", ".h", ".cpp", ".sh", ".rst", ".yml", ".toml", ".cfg"}
SKIPPED  = re.compile(r"LICENSES/|.*/golden/")


def is_source(path, text):
    """A source by its name, or a script by its first line."""
    return Path(path).suffix in SUFFIXES or Path(path).name == "Makefile" or text.startswith("#!")


def can_be_broken(line):
    """A line of Markdown that holds more than one word. Code spans and links count as one word."""
    if re.match(r"\s*(\||<|#)", line):
        return False
    line = markdown_text.LIST_ITEM.sub("", line)
    for pattern in (markdown_text.CODE_SPAN, markdown_text.LINK):
        line = pattern.sub(lambda match: "x" * len(match[0]), line)
    return len(line.split()) > 1


def lines_of(path, text):
    """(number, line) of each line of a file that the limit holds for."""
    if Path(path).suffix == ".md":
        lines = ((number, markdown_text.COMMENT.sub("", line)) for number, line in markdown_text.prose(text))
        return [(number, line) for number, line in lines if can_be_broken(line)]
    return enumerate(text.splitlines(), 1) if is_source(path, text) else ()


def column_complaints(path, text):
    """Yields one line for each line of the file `path` that is too long."""
    if SKIPPED.match(path):
        return
    for number, line in lines_of(path, text):
        columns = len(line.expandtabs(TAB))
        if columns > COLUMNS:
            yield f"{path}:{number}: {columns} columns, at most {COLUMNS} are allowed"

# Links --------------------------------------------------------------------------------------------

# A link may lead to a file or an anchor of the tree; links to other sites are not followed. A name is a code span that
# begins with a folder of the tree.

# A code span that names a file. BOARD, NAME and similar words match any name, and `...` or `*` match several.
NAME = re.compile(r"(?:\.github|bench|docs|examples|gateware|sim|software|targets|test|tools)/[\w./-]*")
ANY  = re.compile(r"\b[A-Z]{2,}\b|\.\.\.|\*")


def in_tree(path):
    """A file, or a folder that holds one. What a folder that was moved leaves behind is compiled Python alone."""
    return path.is_file() or any(file.is_file() and "__pycache__" not in file.parts for file in path.rglob("*"))


def broken_names(path, text, root):
    """Yields one line for each file that a document names and that does not exist."""
    for number, code in markdown_text.code_spans(text):
        name = code.split(":")[0]
        if NAME.fullmatch(name) and not ANY.search(name) and not in_tree(root / name):
            yield f"{path}:{number}: `{code}`: there is no {name}"


def link_complaints(path, text, root=tracked.ROOT):
    """Yields one line for each broken link or name of the document `path`, relative to `root`, that holds `text`."""
    yield from broken_names(path, text, root)
    for number, target in markdown_text.links(text):
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            continue
        other = (root / path).parent / unquote(parts.path) if parts.path else root / path
        if not other.resolve().is_relative_to(root.resolve()):
            yield f"{path}:{number}: {target} leads out of the tree"
        elif not in_tree(other):
            yield f"{path}:{number}: {target}: there is no {parts.path}"
        elif parts.fragment and other.suffix == ".md":
            found = markdown_text.anchors(text if not parts.path else other.read_text(encoding="utf-8"))
            if unquote(parts.fragment) not in found:
                yield f"{path}:{number}: {target}: no heading makes the anchor #{parts.fragment}"

# Program ------------------------------------------------------------------------------------------


def main():
    texts     = {path: (tracked.ROOT / path).read_text(encoding="utf-8", errors="replace") for path in tracked.files()}
    documents = {path: text for path, text in texts.items() if Path(path).suffix == ".md"}
    status    = 0
    for found, good in (
        ([line for item in texts.items() if (line := licence_complaint(*item))],
            "SPDX lines: all files name their licence"),
        ([line for item in documents.items() for line in link_complaints(*item)],
            f"links: all links and names of files in {len(documents)} documents are right"),
        ([line for item in texts.items() for line in column_complaints(*item)],
            f"columns: no line has more than {COLUMNS}"),
    ):
        print("\n".join(found) or good)
        status |= bool(found)
    return status


if __name__ == "__main__":
    sys.exit(main())
