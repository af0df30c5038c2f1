#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Finds folders of `gateware/`, `sim/` and `bench/` that import each other, directly or through others.

Imports of Python count, and includes of C++ below `sim/src/`. Exit status 1, and one line for each cycle, with the
lines of the sources that make it. The same for an import of what is inside a folder of ROOMS by a file outside, but
for tests. Standard library only.
"""

import ast
import re
import sys

from collections import defaultdict, deque
from pathlib import PurePosixPath

from tools import tracked

PACKAGES = {"litepcie_soc": "gateware", "litepcie_sim": "sim", "litepcie_bench": "bench"}
INCLUDE  = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
CPP      = PurePosixPath("sim/src")
# Folders of which only their __init__.py is for others.
ROOMS    = ("gateware/endpoint",)

# Imports ------------------------------------------------------------------------------------------


def modules(path, tree):
    """Yields (line, module, names) of each import of the Python file `path`; a relative one as an absolute one."""
    package = list(PurePosixPath(path).parent.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name.split("."), []
        elif isinstance(node, ast.ImportFrom):
            parts = node.module.split(".") if node.module else []
            if node.level:
                parts = package[:len(package) - node.level + 1] + parts
            yield node.lineno, parts, [name.name for name in node.names]


def folder_of(parts, files, folders):
    """The folder that holds the module `parts`, or None if the module is not of the tree."""
    parts = [PACKAGES.get(parts[0], parts[0]), *parts[1:]] if parts else []
    path  = "/".join(parts)
    if path in folders:
        return path
    return "/".join(parts[:-1]) if f"{path}.py" in files else None


def python_imports(path, text, files, folders):
    """Yields (line, folder) of each import of a module of the tree by the Python file `path`."""
    for line, module, names in modules(path, ast.parse(text, path)):
        # A name may be a module or a folder of the package, or something in the module.
        found = {folder_of([*module, name], files, folders) or folder_of(module, files, folders)
            for name in names or [""]}
        for folder in sorted(found - {None}):
            yield line, folder


def cpp_includes(path, text, files):
    """Yields (line, folder) of each header of the tree that the C++ file `path` includes."""
    for number, line in enumerate(text.splitlines(), 1):
        found = INCLUDE.match(line)
        for folder in (PurePosixPath(path).parent, CPP) if found else ():
            if str(folder / found[1]) in files:
                yield number, str((folder / found[1]).parent)
                break


def imports(files, root):
    """{(folder, folder it imports): [path:line, ...]} of the `files`, whose paths are relative to `root`."""
    files   = {path for path in files if PurePosixPath(path).parts[0] in PACKAGES.values()}
    folders = {str(folder) for path in files if path.endswith(".py") for folder in PurePosixPath(path).parents}
    found   = defaultdict(list)
    for path in sorted(files):
        if path.endswith(".py"):
            targets = python_imports(path, (root / path).read_text(encoding="utf-8"), files, folders)
        elif PurePosixPath(path).is_relative_to(CPP) and path.endswith((".cpp", ".h")):
            targets = cpp_includes(path, (root / path).read_text(encoding="utf-8"), files)
        else:
            continue
        for line, target in targets:
            source = str(PurePosixPath(path).parent)
            if target != source:
                found[source, target].append(f"{path}:{line}")
    return found

# Cycles -------------------------------------------------------------------------------------------


def shortest_way(start, end, targets):
    """The folders from `start` to `end` along imports, both included, or None."""
    before, queue = {start: None}, deque([start])
    while queue:
        folder = queue.popleft()
        if folder == end:
            way = []
            while folder is not None:
                way.append(folder)
                folder = before[folder]
            return way[::-1]
        for target in sorted(targets[folder]):
            if target not in before:
                before[target] = folder
                queue.append(target)
    return None


def cycles(found):
    """For each import that is part of a cycle, the shortest such cycle; each cycle once, from its first folder."""
    targets = defaultdict(set)
    for source, target in found:
        targets[source].add(target)
    seen = set()
    for source, target in sorted(found):
        way = shortest_way(target, source, targets)
        if way:
            first = way.index(min(way))
            seen.add((*way[first:], *way[:first]))
    return sorted(seen)


def intruders(files, root):
    """Yields (line of a source, what it imports) for each import past the __init__.py of one of ROOMS."""
    modules_of = {path.removesuffix(".py").removesuffix("/__init__") for path in files if path.endswith(".py")}
    for path in sorted(files):
        if not path.endswith(".py") or path.startswith("test/"):
            continue
        for line, module, names in modules(path, ast.parse((root / path).read_text(encoding="utf-8"), path)):
            parts = [PACKAGES.get(module[0], module[0]), *module[1:]] if module else []
            found = {"/".join(parts), *("/".join([*parts, name]) for name in names)} & modules_of
            for room in ROOMS:
                inside = [one for one in sorted(found) if one.startswith(f"{room}/")]
                if inside and not path.startswith(f"{room}/"):
                    yield f"{path}:{line}", inside[0], room


def complaints(files, root=tracked.ROOT):
    """Yields one line for each cycle, and for each import past a door."""
    found = imports(files, root)
    for cycle in cycles(found):
        steps = list(zip(cycle, [*cycle[1:], cycle[0]]))
        yield "; ".join(f"{source} imports {target} ({', '.join(found[source, target])})" for source, target in steps)
    for line, inside, room in intruders(files, root):
        yield f"{line} imports {inside}; outside of {room} only what its __init__.py gives may be imported"


def main():
    found = list(complaints(tracked.files()))
    for line in found:
        print(f"not allowed: {line}")
    if not found:
        print("imports: no two folders import each other, and nobody passes a door")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
