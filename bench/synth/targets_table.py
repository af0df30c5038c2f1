#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The tables of the boards: one row per build, after mapping in ``docs/resources.md``, and before it in ``gates.md``.

An update keeps rows that were not measured.
"""

import re

from dataclasses import dataclass

from litepcie_bench.boards import ROOT
from litepcie_bench.synth.elaborate import GOAL
from litepcie_bench.synth.table import PATH, TOLERANCE
from litepcie_bench.synth.targets import targets
from litepcie_soc.build import generated

PATHS = (PATH, ROOT / "bench" / "synth" / "gates.md")


def share(record, key):
    """Returns the share of the device in percent."""
    return f"{100*record[key]/record[f'device_{key}']:.1f}"


@dataclass(frozen=True)
class Table:
    """A table of the documents.

    place   : its name there.
    columns : heading: function of a record.
    limits  : heading: largest relative growth over the document, for the columns that are compared. Block RAM and DSPs
        may not grow at all.
    every   : whether each build must have a row. Otherwise a build without one is not compared.
    """
    place:   str
    columns: dict
    limits:  dict
    every:   bool = True

    def row(self, record):
        """Returns the cells of a record as text."""
        return tuple(str(cell(record)) for cell in self.columns.values())

    def read(self, text):
        """Returns the rows of a document: cells by build."""
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
}, {"LUTs": TOLERANCE, "FFs": TOLERANCE, "BRAM": 0, "DSP": 0})

COUNTED = Table("gates", {
    "build":       lambda record: record["build"],
    "gates":       lambda record: record["gates"],
    "carry":       lambda record: record["carries"],
    "registers":   lambda record: record["registers"],
    "LUTs of RAM": lambda record: record["ram_luts"],
    "BRAM":        lambda record: f"{record['brams']:g}",
    "DSP":         lambda record: record["dsps"],
    "Verilog":     lambda record: record["verilog"],
}, {"gates": TOLERANCE, "carry": TOLERANCE, "registers": TOLERANCE, "LUTs of RAM": TOLERANCE, "BRAM": 0, "DSP": 0})

LEVELS = Table("levels", {
    "build":        lambda record: record["build"],
    "sys":          lambda record: record["levels"]["sys_clk"]["levels"],
    "pcie":         lambda record: record["levels"]["pcie_clk"]["levels"],
    "goal":         lambda _: GOAL,
    "sys, ends over it":  lambda record: record["levels"]["sys_clk"]["over"],
    "pcie, ends over it": lambda record: record["levels"]["pcie_clk"]["over"],
    "longest of sys":  lambda record: longest(record, "sys_clk"),
    "longest of pcie": lambda record: longest(record, "pcie_clk"),
    "Verilog":      lambda record: record["verilog"],
}, {"sys": 0, "pcie": 0}, every=False)


def longest(record, clock):
    depth = record["levels"][clock]
    return f"`{depth['first']}` to `{depth['last']}`"


def tables_of(records):
    """Returns the tables for which the records have figures."""
    return [COUNTED] + [MAPPED]*all("luts" in record for record in records) + [LEVELS]*all("levels" in record
        for record in records)


def tables(records):
    """Returns the text of the tables with these records only, by name in the document."""
    return {table.place: table.text([table.row(record) for record in records]) for table in tables_of(records)}


def update(text, records):
    """Returns a document with the rows of ``records`` updated and without rows of builds that no longer exist."""
    builds = [target.build for target in targets()]
    found  = {}
    for table in (table for table in tables_of(records) if f"<!-- {table.place} -->" in text):
        rows = {**table.read(text), **{record["build"]: table.row(record) for record in records}}
        found[table.place] = table.text([rows[build] for build in builds if build in rows])
    return generated.renewed(text, found)


def exceeding(table, record, written):
    """Returns a line per figure of a record that exceeds its row by more than its limit."""
    build = record["build"]
    renew = f'make synth SYNTH="--targets {record["target"]}{" --gates"*(table is COUNTED)} --write" renews it'
    if build not in written:
        return [] if not table.every else [f"{build}: no row in the table of {table.place}; {renew}"]
    before, after = (dict(zip(table.columns, cells)) for cells in (written[build], table.row(record)))
    return [f"{build}: {column} {after[column]}, the row has {before[column]}; {renew}"
        for column, limit in table.limits.items()
        if float(after[column]) > float(before[column])*(1 + limit)]


def grown(records, text):
    """Returns the lines of ``exceeding`` for all records and tables."""
    found = []
    for table in tables_of(records):
        written = table.read(text)
        for record in records:
            found += exceeding(table, record, written)
    return found
