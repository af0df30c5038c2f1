# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A recorded link.

``x1-symbols.csv`` has every symbol of a link of another implementation from the first TS1 to configuration reads, both
directions ("down": host to card), before and behind its scrambler; bit 8 is K.
"""

import csv
from pathlib import Path

import pytest

TRACE = Path(__file__).with_name("x1-symbols.csv")


@pytest.fixture(scope="session")
def trace():
    """The columns of the file."""
    with open(TRACE, encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    return {name: [int(row[name], 16) for row in rows] for name in rows[0]}
