#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The tables of the boards in ``docs/resources.md``, a row for each build: mapped, and before mapping.

Rows that were not measured stay.
"""

import re

from dataclasses import dataclass

from litepcie_bench.synth.targets import targets
from litepcie_soc.build import generated

# What yosys counts is exact, and the same in each run. Two in a hundred is what a correction may cost without new rows:
# mapping a board takes minutes. As a row from which a figure shrank by more is refused as well, growth that is not seen
# does not add up. Block RAM and DSPs come in pieces that one can count.
FEW, NONE = 0.02, 0


def share(record, key):
    """Of all that the device has, per cent."""
    return f"{100*record[key]/record[f'device_{key}']:.1f}"


@dataclass(frozen=True)
class Table:
    """``place`` in the document; ``columns``: function of a record by heading; ``limits``: how far a figure may be from
    the document's, by heading of the columns that are compared.
    """
    place:   str
    columns: dict
    limits:  dict

    def row(self, record):
        """Cells of a record, text."""
        return tuple(str(cell(record)) for cell in self.columns.values())

    def read(self, text):
        """The rows of a document, cells by build."""
        place = re.search(rf"<!-- {self.place} -->\n(.*?)<!-- end of {self.place} -->", text, re.DOTALL)
        lines = place[1].splitlines()[2:] if place else []
        rows  = [tuple(cell.strip() for cell in line.strip().strip("|").split("|")) for line in lines]
        return {cells[0]: cells for cells in rows if len(cells) == len(self.columns)}

    def text(self, rows):
        return generated.table(tuple(self.columns), rows)


MAPPED = Table("boards", {
    "build":     lambda record: record["build"],
    "device":    lambda record: record["device"],
    "LUTs":      lambda record: record["luts"],
    "LUTs, %":   lambda record: share(record, "luts"),
    "of memory": lambda record: record["luts_as_memory"],
    "FFs":       lambda record: record["ffs"],
    "FFs, %":    lambda record: share(record, "ffs"),
    "BRAM":      lambda record: f"{record['brams']:g}",
    "BRAM, %":   lambda record: share(record, "brams"),
    "DSP":       lambda record: record["dsps"],
    "Verilog":   lambda record: record["verilog"],
}, {"LUTs": FEW, "FFs": FEW, "BRAM": NONE, "DSP": NONE})

COUNTED = Table("gates", {
    "build":       lambda record: record["build"],
    "gates":       lambda record: record["gates"],
    "carry":       lambda record: record["carries"],
    "registers":   lambda record: record["registers"],
    "LUTs of RAM": lambda record: record["ram_luts"],
    "BRAM":        lambda record: f"{record['brams']:g}",
    "DSP":         lambda record: record["dsps"],
    "Verilog":     lambda record: record["verilog"],
}, {"gates": FEW, "carry": FEW, "registers": FEW, "LUTs of RAM": FEW, "BRAM": NONE, "DSP": NONE})


def tables_of(records):
    """The ``Table`` of which there are figures."""
    return [COUNTED] + [MAPPED]*all("luts" in record for record in records)


def tables(records):
    """Text of the tables of these records alone, by their names in the document."""
    return {table.place: table.text([table.row(record) for record in records]) for table in tables_of(records)}


def update(text, records):
    """The document with the rows of ``records`` renewed, and without rows of what is built no more.

    Raises ``ValueError`` if it has no place for a table.
    """
    builds = [target.build for target in targets()]
    found  = {}
    for table in tables_of(records):
        rows = {**table.read(text), **{record["build"]: table.row(record) for record in records}}
        found[table.place] = table.text([rows[build] for build in builds if build in rows])
    return generated.renewed(text, found)


def differing(table, record, written):
    """A line for each figure of a record that is further from its row of the document than it may be."""
    build = record["build"]
    renew = f'make synth SYNTH="--targets {record["target"]}{" --gates"*(table is COUNTED)} --write" renews it'
    if build not in written:
        return [f"{build}: no row in the table of {table.place}; {renew}"]
    before, after = (dict(zip(table.columns, cells)) for cells in (written[build], table.row(record)))
    return [f"{build}: {column} {after[column]}, the row has {before[column]}; {renew}"
        for column, limit in table.limits.items()
        if abs(float(after[column]) - float(before[column])) > limit*float(before[column])]


def grown(records, text):
    """The lines of ``differing`` of all records and tables."""
    found = []
    for table in tables_of(records):
        written = table.read(text)
        for record in records:
            found += differing(table, record, written)
    return found
