#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The references of the gateware and of the Python package: pages of Markdown made of docstrings.

Standard library only: the sources are parsed and not imported. A page has the modules of one folder, with their public
classes and functions.
"""

import ast
import inspect
import re

from pathlib import Path

GATEWARE = Path(__file__).resolve().parents[1] / "gateware"
PYTHON   = GATEWARE.parent / "software" / "python" / "liblitepcie"
FIRST    = ("soc", "phy", "endpoint", "tlp", "dma", "stream_dma", "memory", "ddr", "board", "standalone", "common")
SKIPPED  = ("build",)  # Programs of the host, with --help.
SECTIONS = ("Parameters", "Attributes", "Registers", "Returns", "Raises")

# Text ---------------------------------------------------------------------------------------------


def escaped(text):
    """A docstring's text as Markdown: code spans and **in**, **out** stay, no other character is special."""
    text  = text.replace("``", "`")
    parts = re.split(r"(`[^`]*`|\*\*(?:in|out)\*\*)", text)
    for n in range(0, len(parts), 2):
        parts[n] = re.sub(r"([\\*_>\[\]#])", r"\\\1", parts[n]).replace("<", "&lt;")
    return "".join(parts)


def paragraphs(lines):
    """Yields the paragraphs of a docstring's lines; an indented block stays a block of code."""
    for block in re.split(r"\n\s*\n", "\n".join(lines)):
        if not block.strip():
            continue
        rows = block.strip("\n").split("\n")
        if all(row.startswith("    ") for row in rows):
            yield block
        elif re.match(r"[-*] ", rows[0]):
            yield "\n".join(f"- {escaped(' '.join(item.split()))}" for item in re.split(r"(?:^|\n)[-*] ", block)[1:])
        else:
            yield escaped(" ".join(block.split()))


def items(lines):
    """Yields the entries of a section: a name and its description, with the lines that continue it."""
    entry = []
    for line in lines:
        if line.strip() and not line.startswith(" ") and entry:
            yield " ".join(entry)
            entry = []
        if line.strip():
            entry.append(line.strip())
    if entry:
        yield " ".join(entry)


def item(entry):
    """An entry, `name : meaning`, as an item of a list."""
    name, colon, meaning = entry.partition(":")
    if not colon or len(name) > 60:
        return f"- {escaped(entry)}"
    names = ", ".join(f"`{one.strip(' `')}`" for one in name.split(","))
    return f"- {names}: {escaped(meaning.strip())}"


def sections(text):
    """Returns (title, lines) of each section of a docstring. The text before the first section has the title None."""
    found = [(None, [])]
    lines = text.splitlines()
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if line in SECTIONS and re.fullmatch(r"-{3,}", below):
            found.append((line, []))
        elif re.fullmatch(r"-{3,}", line) and found[-1][0] and not found[-1][1]:
            continue
        else:
            found[-1][1].append(line)
    return found


def body(docstring):
    """A docstring as Markdown."""
    parts = []
    for title, lines in sections(inspect.cleandoc(docstring)):
        if title is None:
            parts += paragraphs(lines)
            continue
        # A paragraph after the entries does not belong to the section.
        entries = "\n".join(lines).rstrip().split("\n\n")
        parts += [f"**{title}**", "\n".join(item(entry) for entry in items(entries[0].splitlines()))]
        for rest in entries[1:]:
            listed = re.match(r"\S+(?:, \S+)* +:|`?\w[\w, `]*`? : ", rest)
            parts += ["\n".join(item(entry) for entry in items(rest.splitlines()))] if listed else paragraphs([rest])
    return "\n\n".join(parts)

# Modules ------------------------------------------------------------------------------------------


def signature(node):
    """The arguments of a function or class as they are written."""
    if isinstance(node, ast.ClassDef):
        inits = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
        if not inits:
            return node.name
        text = ast.unparse(inits[0].args)
        return f"{node.name}({re.sub(r'^self(, )?', '', text)})"
    return f"{node.name}({re.sub(r'^self(, )?', '', ast.unparse(node.args))})"


def parts(path, name, wanted=lambda text: len(sections(text)) > 1):
    """Yields the pieces of a module's part of a page; `wanted` chooses the methods that are shown."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield f"## `{name}`"
    if ast.get_docstring(tree):
        yield body(ast.get_docstring(tree))
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
            text = ast.get_docstring(node)
            if text:
                yield f"### {escaped(node.name)}"
                yield f"    {signature(node)}"
                yield body(text)
                yield from methods(node, wanted)


def methods(node, wanted):
    """Yields the pieces of those public methods of a class whose docstring is wanted."""
    for part in node.body if isinstance(node, ast.ClassDef) else ():
        text = isinstance(part, ast.FunctionDef) and not part.name.startswith("_") and ast.get_docstring(part)
        if text and wanted(text):
            yield f"#### {escaped(f'{node.name}.{part.name}')}"
            yield f"    {signature(part)}"
            yield body(text)


def packages():
    """The folders of the reference, in its order."""
    found = {path.parent.name for path in GATEWARE.glob("*/__init__.py")} - set(SKIPPED)
    return [name for name in FIRST if name in found] + sorted(found - set(FIRST))


def page(name):
    """The page of a folder of gateware/."""
    modules = sorted(path for path in (GATEWARE / name).rglob("*.py") if path.name != "__init__.py")
    pieces  = [f"# {name}", f"Made of the docstrings in `gateware/{name}/`."]
    return "\n\n".join(pieces + [part for path in modules
        for part in parts(path, path.relative_to(GATEWARE).as_posix())]) + "\n"


def python_page():
    """The page of the Python package: what `from liblitepcie import *` gives, and all methods of it."""
    tree   = ast.parse((PYTHON / "__init__.py").read_text(encoding="utf-8"))
    names  = [node.module for node in tree.body if isinstance(node, ast.ImportFrom) and node.module[-7:] != "version"]
    pieces = ["# Python reference", "Made of the docstrings in `software/python/liblitepcie/`. "
        "[Python](../python.md) has examples.", body(ast.get_docstring(tree))]
    return "\n\n".join(pieces + [part for name in names
        for part in parts(PYTHON.parent / f"{name.replace('.', '/')}.py", name, bool)]) + "\n"
