#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Texts of the tree that a program makes: ``--write`` renews them, ``--check`` compares them. Standard library only.

A whole file, or places of a document: what stands between the lines ``<!-- name -->`` and ``<!-- end of name -->``.
"""

import difflib
import re
import sys

from pathlib import Path

from litepcie_soc.build.command_line import Parser

# Text ---------------------------------------------------------------------------------------------


def table(heads, rows):
    """A table of Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def renewed(text, bodies):
    """A document with other texts in its places, ``bodies`` by name. Raises ``ValueError`` if a place is missing."""
    for name, body in bodies.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        pieces     = re.split(f"^({begin}).*^({end})", text, flags=re.DOTALL | re.MULTILINE)
        if len(pieces) != 4:
            raise ValueError(f"no place for the {name}: {begin.strip()} ... {end.strip()}")
        text = f"{pieces[0]}{begin}{body}\n{end}{pieces[3]}"
    return text


def read(path):
    """Text of a file; empty if there is none."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""

# Program ------------------------------------------------------------------------------------------


def main(argv, module, about, texts, note=""):
    """The program of generated texts; returns its exit status.

    Parameters
    ----------
    argv   : arguments; those of the command line if None.
    module : what ``python3 -m`` runs.
    about  : what is generated, for ``--help``.
    texts  : committed file to function that makes the text it should have, from the one it has. The function may
        raise ``ValueError``.
    note   : one sentence behind the differences: what they mean to others.
    """
    parser = Parser(prog=module, description=about)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="Renew the committed text.")
    action.add_argument("--check", action="store_true", help="Compare it; exit 1 if it differs.")
    if len(texts) == 1:
        (path, make), = texts.items()
        parser.add_argument("--file", type=Path, default=path, metavar="FILE", help="Another file (%(default)s).")
    args = parser.parse_args(argv)
    if len(texts) == 1:
        texts = {args.file: make}
    return max(renew(file, make, args.write, module, note) for file, make in texts.items())


def renew(file, make, write, module, note):
    """Renews one file if ``write``, else compares it; returns the exit status."""
    try:
        committed = read(file)
        text      = make(committed)
        if write and text != committed:
            file.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        print(f"{file}: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
        return 1
    if write or text == committed:
        return 0
    print("\n".join(difflib.unified_diff(committed.splitlines(), text.splitlines(), file.name, "generated",
        lineterm="", n=0)))
    print(f"{file.name} is not up to date; python3 -m {module} --write renews it{note and '. ' + note}",
        file=sys.stderr)
    return 1
