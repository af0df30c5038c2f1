#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Compares the version of the project, which setup.py defines, with every other file that has to name it.

The Makefile of library and tool reads setup.py itself. Exit status 1, and one line for each file that differs. With
`--write` it writes the version of setup.py into all of them, and gives CHANGELOG.md an empty section "Unreleased" above
that of the version.
"""

import re
import sys

from pathlib import Path

ROOT  = Path(__file__).resolve().parents[1]
SETUP = ("setup.py", r'^    version += "(.+?)"')

PLACES = [
    ("gateware/__init__.py",                   r'^__version__ = "(.+?)"'),
    ("software/python/liblitepcie/version.py", r'^__version__ = "(.+?)"'),
    ("software/kernel/dkms.conf",              r'^PACKAGE_VERSION="(.+?)"'),
    ("software/user/litepcie_util.1",          r'^\.TH LITEPCIE_UTIL 1 "" "LitePCIe SoC (.+?)"'),
    ("software/user/liblitepcie.3",            r'^\.TH LIBLITEPCIE 3 "" "LitePCIe SoC (.+?)"'),
    ("software/user/lib/liblitepcie.h",        r'^/\* Version of this library, "(.+?)"\. \*/$'),
    ("test/software/user/golden/version.txt",  r"^litepcie_util (.+?), driver interface \d+$"),
    ("CHANGELOG.md",                           r"^## \[Unreleased\]\n(?:(?!## ).*\n)*## \[(\d.+?)\]"),
]


def found(root, path, pattern):
    """Returns the version that a file names first, or None."""
    match = re.search(pattern, (root / path).read_text(encoding="utf-8"), re.MULTILINE)
    return match and match[1]


def version(root=ROOT):
    """Returns the version of the project."""
    return found(root, *SETUP)


def complaints(root=ROOT):
    """Yields one line for each file with another version than setup.py."""
    wanted = version(root)
    for path, pattern in PLACES:
        seen = found(root, path, pattern)
        if seen != wanted:
            yield f"{path}: version {seen or 'not found'}; setup.py has {wanted}"


def write(root=ROOT):
    """Writes the version of setup.py into every other file."""
    for path, pattern in PLACES:
        text = (root / path).read_text(encoding="utf-8")
        if path == "CHANGELOG.md":
            new = text.replace("## [Unreleased]\n", f"## [Unreleased]\n\n## [{version(root)}]\n", 1)
        else:
            match = re.search(pattern, text, re.MULTILINE)
            new   = text[:match.start(1)] + version(root) + text[match.end(1):]
        if found(root, path, pattern) != version(root):
            (root / path).write_text(new, encoding="utf-8")


def main(arguments=()):
    if "--write" in arguments:
        write()
    lines = list(complaints())
    print("\n".join(lines) or f"version: {version()} everywhere")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
