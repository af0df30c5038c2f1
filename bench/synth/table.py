#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The tables of ``docs/resources.md``: written from records, and read back for comparison."""

import re

from litepcie_bench.boards import ROOT
from litepcie_bench.synth.designs import OURS, STOCK, STOCK_BARE
from litepcie_soc.build import generated

PATH      = ROOT / "docs" / "resources.md"
TOLERANCE = 0.1   # Relative growth of a figure that is accepted: small corrections need no new rows.
NAMES     = {OURS: "LitePCIe SoC", STOCK: "LitePCIe 2024.12", STOCK_BARE: "LitePCIe 2024.12, bare"}
ORDER     = list(NAMES)
FAMILIES  = {"ecp5": "ECP5", "xc7": "7-series"}

AREA_HEAD = ("family", "bits", "design", "tags", "LUTs", "of logic", "of carry", "of memory", "FFs", "BRAM", "DSP",
    "LUTs to stock", "BRAM to stock")
CLOCK_HEAD = ("bits", "design", "MHz, median", "MHz, best", "longest path of the median")
COMPARED  = {"LUTs": "luts", "FFs": "ffs", "BRAM": "brams", "DSP": "dsps"}

# Writing ------------------------------------------------------------------------------------------


def _ratio(value, stock):
    return f"{value/stock:.2f}" if stock else "-"


def _key(line):
    """Returns the key of a row: family, bits, design, tags."""
    return (FAMILIES[line["family"]], str(line["width"]), NAMES[line["design"]], str(line.get("tags", "-")))


def _area(records):
    stock = {(line["family"], line["width"]): line for line in records if line["design"] == STOCK}
    rows  = []
    for line in sorted(records, key=lambda line: (line["family"], line["width"], ORDER.index(line["design"]))):
        peer = stock.get((line["family"], line["width"]), {})
        rows.append((*_key(line), line["luts"], line["luts_as_logic"], line["luts_as_carry"],
            line["luts_as_memory"], line["ffs"], f"{line['brams']:g}", line["dsps"],
            _ratio(line["luts"], peer.get("luts")), _ratio(line["brams"], peer.get("brams"))))
    return generated.table(AREA_HEAD, rows)


def _clock(records):
    rows = []
    for line in records:
        if "fmax_hz" in line:
            first, last, ns = line["critical_path"]
            rows.append((line["width"], NAMES[line["design"]], f"{line['fmax_hz']/1e6:.1f}",
                f"{line['fmax_best_hz']/1e6:.1f}", f"{ns:.1f} ns, `{first}` to `{last}`"))
    return generated.table(CLOCK_HEAD, rows)


def tables(records):
    """Returns the text of each table with records, by its name in the document."""
    found = {"area": _area(records)}
    if any("fmax_hz" in line for line in records):
        found["clock"] = _clock(records)
    return found


def update(text, records):
    """Returns the document with its tables replaced. Raises ``ValueError`` if a table has no place in it."""
    return generated.renewed(text, tables(records))

# Comparing ----------------------------------------------------------------------------------------


def clocks(text):
    """Returns the median clock in MHz by design from the clock rows of a document."""
    rows = ([cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines())
    return {cells[1]: float(cells[2]) for cells in rows
        if len(cells) == len(CLOCK_HEAD) and re.fullmatch(r"[\d.]+", cells[2])}


def read(text):
    """Returns the area rows of a document: {(family, bits, design, tags): {column: number}}."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if len(cells) == len(AREA_HEAD) and re.fullmatch(r"\d+", cells[1]):
            row = dict(zip(AREA_HEAD, cells))
            found[tuple(cells[:4])] = {column: float(row[column]) for column in COMPARED}
    return found


def grown(records, text):
    """Returns a line per figure that exceeds the document by more than TOLERANCE, or that has no row in it."""
    written, lines = read(text), []
    for record in records:
        key  = _key(record)
        name = f"{key[0]} {key[1]} bit, {key[2]}" + (f", {key[3]} tags" if key[3] != "-" else "")
        if key not in written:
            lines.append(f"{name}: docs/resources.md has no such row")
            continue
        for column, value in written[key].items():
            if record[COMPARED[column]] > value*(1 + TOLERANCE):
                lines.append(f"{name}: {column} {record[COMPARED[column]]:g}, the document has {value:g}")
    return lines
