#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Area and clock from synth.json, which ``make synth`` writes.

The file is a list of records with design, part, family, width (bits), tags, luts, luts_as_memory, ffs, brams, bram_unit
and fmax_hz. An absent key is not known.
"""

import json

from litepcie_bench.points import OURS, STOCK

FAMILIES  = {"ecp5": "ECP5", "xc7": "7-series"}
LUT_RATIO = 1.5      # At most, relative to stock LitePCIe.
CLOCK_MHZ = 125      # ECP5, 64 bit, at least.


def load(path):
    """Returns the records of synth.json; empty if there is no such file. Raises ``ValueError`` if it is malformed."""
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(records, list) or any("design" not in record for record in records):
        raise ValueError(f"{path}: not a list of records")
    return records


def pairs(records):
    """Returns pairs (ours, stock or None) of the same part and width."""
    key   = lambda record: (record.get("family"), record.get("part"), record.get("width"))
    stock = {key(record): record for record in records if record["design"] == STOCK}
    return [(record, stock.get(key(record))) for record in records if record["design"] == OURS]


def name(record):
    """Returns family, data width and tags in words."""
    tags = f", {record['tags']} tags" if record.get("tags") else ""
    return f"{FAMILIES.get(record.get('family'), record.get('family'))}, {record.get('width')} bit{tags}"


def judged(records):
    """Yields (goal, what, value, must, unit, why, at least) for each figure with a goal."""
    for ours, stock in pairs(records):
        what = name(ours)
        if stock and stock.get("luts") and "luts" in ours:
            yield "area", f"{what}, LUTs", ours["luts"]/stock["luts"], LUT_RATIO, "x stock", \
                f"{ours['luts']} LUTs, stock {stock['luts']}", False
        if stock and "brams" in ours and "brams" in stock:
            unit = ours.get("bram_unit", "BRAMs")
            yield "area", f"{what}, {unit}", ours["brams"], stock["brams"], unit, \
                f"{ours['brams']} {unit}, stock {stock['brams']}", False
        if ours.get("fmax_hz") and ours.get("width") == 64:
            yield "clock", what, ours["fmax_hz"]/1e6, CLOCK_MHZ, "MHz", "limited by the longest path", True
