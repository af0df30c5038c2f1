#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Finds lines of more than 120 columns in sources and in the prose of documents.

Tables and code of Markdown may be longer, and so may a line that cannot be broken. Comments of Markdown do not count.
Exit status 1, and one line for each line that is too long.
"""

import re
import sys

from pathlib import Path

from tools import markdown_text, tracked

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


def complaints(path, text):
    """Yields one line for each line of the file `path` that is too long."""
    if SKIPPED.match(path):
        return
    for number, line in lines_of(path, text):
        columns = len(line.expandtabs(TAB))
        if columns > COLUMNS:
            yield f"{path}:{number}: {columns} columns, at most {COLUMNS} are allowed"


def main():
    found = [line for path in tracked.files()
        for line in complaints(path, (tracked.ROOT / path).read_text(encoding="utf-8", errors="replace"))]
    print("\n".join(found) or f"columns: no line has more than {COLUMNS}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
