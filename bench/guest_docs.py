#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Generates the tables of `docs/processor.md` from `bench/guest/figures.json`.

`make bench BENCH=--guest` writes build/bench/guest.json. To renew the page, copy that file to bench/guest/figures.json.

    python3 -m litepcie_bench.guest_docs --write     updates the page
    python3 -m litepcie_bench.guest_docs --check     compares it; exit status 1 if it differs
"""

import json
import sys

from litepcie_bench.boards       import ROOT
from litepcie_bench.guest_report import FIGURES, TABLES, check
from litepcie_soc.build          import generated

PAGE = ROOT / "docs" / "processor.md"


def document(text):
    """Returns the page with its tables updated. Raises ``ValueError`` if a figure is not valid."""
    records = json.loads(FIGURES.read_text(encoding="utf-8"))
    for record in records:
        check(record)
    return generated.renewed(text, {name: generated.table(heads, rows(records))
        for name, (rows, heads) in TABLES.items()})


def main(argv=None):
    return generated.main(argv, "litepcie_bench.guest_docs", "Tables of docs/processor.md.", {PAGE: document})


if __name__ == "__main__":
    sys.exit(main())
