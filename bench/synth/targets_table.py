#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The table of the boards in ``docs/resources.md``: a row for each build; rows that were not measured stay."""

import re

from litepcie_bench.synth.table import TOLERANCE
from litepcie_bench.synth.targets import targets
from litepcie_soc import generated

PLACE    = "boards"
HEAD     = ("build", "device", "LUTs", "LUTs, %", "of memory", "FFs", "FFs, %", "BRAM", "BRAM, %", "DSP")
COMPARED = ("LUTs", "FFs", "BRAM", "DSP")


def row(record):
    """Cells of a record, text."""
    share = lambda key: f"{100*record[key]/record[f'device_{key}']:.1f}"
    return tuple(map(str, (record["build"], record["device"], record["luts"], share("luts"), record["luts_as_memory"],
        record["ffs"], share("ffs"), f"{record['brams']:g}", share("brams"), record["dsps"])))


def read(text):
    """The rows of a document, cells by build."""
    place = re.search(rf"<!-- {PLACE} -->\n(.*?)<!-- end of {PLACE} -->", text, re.DOTALL)
    lines = place[1].splitlines()[2:] if place else []
    rows  = [tuple(cell.strip() for cell in line.strip().strip("|").split("|")) for line in lines]
    return {cells[0]: cells for cells in rows if len(cells) == len(HEAD)}


def tables(records):
    """Text of the table of these records alone, by its name in the document."""
    return {PLACE: generated.table(HEAD, [row(record) for record in records])}


def update(text, records):
    """The document with the rows of ``records`` renewed, and without rows of what is built no more.

    Raises ``ValueError`` if it has no place for the table.
    """
    rows   = {**read(text), **{record["build"]: row(record) for record in records}}
    builds = [target.build for target in targets()]
    return generated.renewed(text, {PLACE: generated.table(HEAD, [rows[build] for build in builds if build in rows])})


def grown(records, text):
    """A line for each figure of ``records`` that is more than TOLERANCE above the document's, or in no row of it."""
    written, lines = read(text), []
    for record in records:
        build = record["build"]
        if build not in written:
            lines.append(f"{build}: no such row")
            continue
        before, after = (dict(zip(HEAD, cells)) for cells in (written[build], row(record)))
        lines += [f"{build}: {column} {after[column]}, it was {before[column]}" for column in COMPARED
            if float(after[column]) > float(before[column])*(1 + TOLERANCE)]
    return lines
