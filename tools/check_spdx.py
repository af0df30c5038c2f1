#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Checks that every file of the tree names its licence, and that it is the licence of its folder.

Prints a line for each file that fails; exit status 1 if there is one.
"""

import re
import sys

from tools import tracked

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


def complaint(path, text):
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


def main():
    found = [complaint(path, (tracked.ROOT / path).read_text(errors="replace")) for path in tracked.files()]
    found = [line for line in found if line]
    print("\n".join(found) or "SPDX lines: all files name their licence")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
