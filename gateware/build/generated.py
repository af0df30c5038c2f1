#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Generated texts in the tree: ``--write`` updates them, ``--check`` compares them. Standard library only.

A text is a whole file, a section of a document between the lines ``<!-- name -->`` and ``<!-- end of name -->``, or a
value in its prose, between ``<!-- claim key -->`` and ``<!-- /claim -->``.
"""

import difflib
import re
import sys

from pathlib import Path

from litepcie_soc.build.command_line import Parser

# Text ---------------------------------------------------------------------------------------------


def table(heads, rows):
    """Returns a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def renewed(text, bodies):
    """Returns a document with its sections replaced, ``bodies`` by name. Raises ``ValueError`` if one is missing."""
    for name, body in bodies.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        pieces     = re.split(f"^({begin}).*^({end})", text, flags=re.DOTALL | re.MULTILINE)
        if len(pieces) != 4:
            raise ValueError(f"the document has no section {begin.strip()} ... {end.strip()}")
        text = f"{pieces[0]}{begin}{body}\n{end}{pieces[3]}"
    return text


VALUE = re.compile(r"(<!-- claim (.*?) -->)(.*?)(<!-- /claim -->)")


def filled(text, values):
    """Returns a document with the values in its prose replaced, ``values`` by key. Raises ``ValueError`` if it cannot.

    A comment at the beginning of a line would end the paragraph.
    """
    for key in {match[2] for match in VALUE.finditer(text)} - values.keys():
        raise ValueError(f"there is no value for <!-- claim {key} -->")
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*([-*+]\s+|\d+\.\s+)?<!-- claim ", line):
            raise ValueError(f"line {number} begins with <!-- claim; move a word in front of it")
        if re.search(r"<!-- /?claim\b", VALUE.sub("", line)):
            raise ValueError(f"line {number} has <!-- claim or <!-- /claim --> alone; both belong on one line")
    return VALUE.sub(lambda match: f"{match[1]}{values[match[2]]}{match[4]}", text)


def read(path):
    """Returns the text of a file, or an empty text if there is no such file."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""

# Program ------------------------------------------------------------------------------------------


def main(argv, module, about, texts, note=""):
    """Body of a program that generates texts; returns its exit status.

    Parameters
    ----------
    argv   : arguments. None: those of the command line.
    module : name of the module for ``python3 -m``.
    about  : description for ``--help``.
    texts  : {committed file: function}. The function takes the present text and returns the text that the file should
        have. It may raise ``ValueError``.
    note   : a sentence printed after the differences.
    """
    parser = Parser(prog=module, description=about)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="Update the committed text.")
    action.add_argument("--check", action="store_true", help="Compare the committed text; exit status 1 if it differs.")
    if len(texts) == 1:
        (path, make), = texts.items()
        parser.add_argument("--file", type=Path, default=path, metavar="FILE",
            help="File to write or compare (%(default)s).")
    args = parser.parse_args(argv)
    if len(texts) == 1:
        texts = {args.file: make}
    return max(renew(file, make, args.write, module, note) for file, make in texts.items())


def renew(file, make, write, module, note):
    """Updates one file if ``write`` is set, else compares it. Returns the exit status."""
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
    print(f"{file.name} is not up to date; update it with python3 -m {module} --write{note and '. ' + note}",
        file=sys.stderr)
    return 1
