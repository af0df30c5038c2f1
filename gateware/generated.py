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

from litepcie_soc.command_line import Parser

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


def main(argv, module, about, path, make, note=""):
    """The program of a generated text; returns its exit status.

    Parameters
    ----------
    argv   : arguments; those of the command line if None.
    module : what ``python3 -m`` runs.
    about  : what is generated, for ``--help``.
    path   : the committed file.
    make   : the text it should have, from the one it has. May raise ``ValueError``.
    note   : one sentence behind the differences: what they mean to others.
    """
    parser = Parser(prog=module, description=about)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="Renew the committed text.")
    action.add_argument("--check", action="store_true", help="Compare it; exit 1 if it differs.")
    parser.add_argument("--file", type=Path, default=path, metavar="FILE", help="Another file (%(default)s).")
    args = parser.parse_args(argv)
    try:
        committed = read(args.file)
        text      = make(committed)
        if args.write and text != committed:
            args.file.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        print(f"{args.file}: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
        return 1
    if args.write or text == committed:
        return 0
    print("\n".join(difflib.unified_diff(committed.splitlines(), text.splitlines(), args.file.name, "generated",
        lineterm="", n=0)))
    print(f"{args.file.name} is not up to date; python3 -m {module} --write renews it{note and '. ' + note}",
        file=sys.stderr)
    return 1
