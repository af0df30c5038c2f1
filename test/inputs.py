#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Files on which a test file depends: those that it imports, and those that were seen opened.

Imports are read from the sources, with imports of imports. All else is observed by an audit hook of Python: every
file of the tree that is opened, every folder of the tree that is listed, and every program that is started.
"""

import ast
import functools
import os
import sys

from collections import defaultdict
from pathlib import Path

from litepcie_sim.guest import cache
from tools.check_imports import PACKAGES, modules

ROOT = Path(__file__).resolve().parents[1]

# Programs that read only what a test wrote for them. Their versions are part of a test's key.
TOOLS = {"verilator", "g++"}

# Imports ------------------------------------------------------------------------------------------


def files_of(parts, root):
    """Paths, relative to the root, of the files that Python reads to import the module `parts` of the tree."""
    parts = [PACKAGES.get(parts[0], parts[0]), *parts[1:]] if parts else []
    found = ["/".join([*parts[:n], "__init__.py"]) for n in range(1, len(parts) + 1)] + ["/".join(parts) + ".py"]
    return {path for path in found if (root / path).is_file()}


@functools.cache
def imported(path, root):
    """Files that the Python file `path` imports itself; a name of `from` may be a module."""
    found = set()
    for _, module, names in modules(path, ast.parse((root / path).read_text(encoding="utf-8"), path)):
        for name in ["", *names]:
            found |= files_of([*module, name] if name else module, root)
    return frozenset(found)


@functools.cache
def closure(path, root=ROOT):
    """The Python file `path`, the conftest.py of its folders, and all that these import, however indirectly."""
    folders = Path(path).parents
    found   = set()
    left    = [path, *(str(folder / "conftest.py") for folder in folders if (root / folder / "conftest.py").is_file())]
    while left:
        file = left.pop()
        if file not in found:
            found.add(file)
            left += imported(file, root)
    return frozenset(found)

# Observation --------------------------------------------------------------------------------------


def in_tree(path, root=ROOT):
    """`path` relative to the root, or None if it is elsewhere, or below build/."""
    try:
        path = os.path.abspath(os.fspath(path))
    except TypeError:   # A number: a file that is open already.
        return None
    path = path.decode() if isinstance(path, bytes) else path
    if path.startswith(f"{root}/build/packages/"):
        path = os.path.realpath(path)
    if not path.startswith(f"{root}/") or path.startswith((f"{root}/build/", f"{root}/.git/", f"{root}/.pytest_cache")):
        return None
    folder, cached, name = path.removeprefix(f"{root}/").rpartition("__pycache__/")
    return f"{folder}{name.partition('.')[0]}.py" if cached else name


class Observer:
    """What the tests of this process have used.

    current : the test file that runs, or None.
    used    : {test file: files and folders that it used}. The name of a folder ends with "/".
    readers : {Python file of the tree: files and folders that its code used}; what it reads at its import, or keeps
              for later calls, counts for each test file that imports it.
    impure  : test files that started a program other than a tool or a compiled model.
    """
    def __init__(self):
        self.current, self.used, self.readers, self.impure = None, defaultdict(set), defaultdict(set), set()

    def hook(self, event, arguments):
        if event == "open":
            self.read(arguments[0])
        elif event in ("os.listdir", "os.scandir"):
            self.read(arguments[0] if arguments[0] is not None else ".", "/")
        elif event in ("subprocess.Popen", "os.posix_spawn", "os.exec", "os.system", "os.fork", "os.forkpty"):
            if self.current and not self.is_tool(event, arguments):
                self.impure.add(self.current)

    @staticmethod
    def is_tool(event, arguments):
        if event != "subprocess.Popen":
            return False
        program, command = os.fspath(arguments[0]), arguments[1]
        # LiteX writes its commit into a comment of the Verilog.
        says_commit = list(command)[:3] == ["git", "rev-parse", "--short"]
        return program in TOOLS or says_commit or str(program).startswith(f"{cache.folder()}/")

    def read(self, path, end=""):
        path = in_tree(path)
        if path is None:
            return
        if self.current:
            self.used[self.current].add(path + end)
        frame = sys._getframe(2)
        while frame and (in_tree(frame.f_code.co_filename) or __file__).endswith(("test/inputs.py", "test/passed.py")):
            frame = frame.f_back
        if frame:
            self.readers[in_tree(frame.f_code.co_filename)].add(path + end)

    def data(self, path):
        """What the test file used besides the Python files that it imports, which an import by a variable name adds to.
        """
        files, left, found = closure(path), closure(path), set(self.used[path])
        while left:
            found |= set().union(*(self.readers[file] for file in left if file in self.readers))
            left   = set().union(*(closure(file) for file in found if file.endswith(".py"))) - files
            files |= left
        return (found | files) - closure(path)

    def install(self):
        sys.addaudithook(self.hook)

# Contents -----------------------------------------------------------------------------------------


@functools.cache
def digest_of(path, modified, size):
    return cache.digest(path.read_bytes())


def content(path, root=ROOT):
    """A digest of a file or of the names in a folder; None if it is not there."""
    path = root / path
    try:
        if path.is_dir():
            return cache.digest(*sorted(set(os.listdir(path)) - {"__pycache__"}))
        found = path.stat()
        return digest_of(path, found.st_mtime_ns, found.st_size)
    except OSError:
        return None
