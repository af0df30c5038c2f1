#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The syntax of sizes in targets and configurations. The tool and the simulator read the same."""

import re

UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}

EXAMPLES = "4096, 0x1000, 4K, 4KiB or 64M"


def parse_size(text):
    """Returns the bytes that ``text`` names, such as 4096, 0x1000, 4K, 4KiB or 64M, or None.

    K, M and G are powers of 1024, in upper or lower case; one space may be before them.
    """
    match = re.fullmatch(r"(0x[0-9a-f]+|[0-9]+)(?: ?([kmg])(?:ib)?)?", text, re.IGNORECASE | re.ASCII)
    if not match:
        return None
    digits, unit = match.groups(default="")
    return int(digits, 16 if digits[:2].lower() == "0x" else 10) * UNITS[unit.lower()]
