#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Published figures, read from the tables in bench/published/."""

import csv

from dataclasses import dataclass
from pathlib import Path

from litepcie_bench.points import narrowest

FOLDER = Path(__file__).resolve().parent / "published"

MB = 1e6
# The notes of Freescale/NXP add both directions of a link, in Gb/s.
BOTH_WAYS_GBPS = 1e9/8/2


def table(name):
    """Returns the rows of bench/published/``name``.csv as dicts of text; lines that begin with # are comments."""
    with open(FOLDER / f"{name}.csv", newline="") as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))

# AN 456, AN 855 -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class NoteRow:
    """A row of AN 456 tables 8-11 or AN 855 table 6; rates in bytes per second."""
    source:      str
    table:       int
    device:      str
    chipset:     str
    ip:          str
    gen:         int
    lanes:       int
    width:       int   # Bits; where the note names no width, the narrowest that keeps up with the link.
    width_given: bool
    rates:       dict  # By "read", "write", "both_read", "both_write".
    theory:      float

    @property
    def name(self):
        return f"{self.source.upper().replace('AN', 'AN ')} table {self.table}, {self.device}"

    def misprint(self, cell):
        """Returns whether a printed figure exceeds the theory of its link, which is impossible."""
        return self.rates[cell] > self.theory


CELLS = {"read": "read_mbs", "write": "write_mbs", "both_read": "simul_read_mbs",
    "both_write": "simul_write_mbs"}


def application_notes():
    """Returns all rows of AN 456 and AN 855."""
    rows = []
    for line in table("an456_throughput"):
        gen, lanes = int(line["gen"]), int(line["lanes"])
        given      = line["datapath_bits"]
        rows.append(NoteRow(line["source"], int(line["table"]), line["device"], line["chipset"],
            line["ip"], gen, lanes, int(given) if given else narrowest(gen, lanes), bool(given),
            {cell: float(line[column])*MB for cell, column in CELLS.items()},
            float(line["theory_mbs"])*MB))
    return rows

# MSC8156, MSC8157 ---------------------------------------------------------------------------------

MSC_GEN = {"msc8156": 1, "msc8157": 2}
MSC_MPS = 256


@dataclass(frozen=True)
class Column:
    """One column of the MSC8156 and MSC8157 notes: rates over size, in bytes per second each way."""
    source:     str
    name:       str
    gen:        int
    lanes:      int
    mps:        int
    direction:  str   # read, write
    batch:      int   # Requests back to back; 0: not given in the note.
    calculated: bool
    rates:      dict  # Key: bytes of a transfer.


def _msc_column(source, name, rows, calculated):
    """Returns one column of a table; its name is, for example, write_x4_b2b4 or read_mps128_x4."""
    words = name.removeprefix("calc_").removeprefix(f"{source}_").split("_")
    lanes = next(int(word[1:]) for word in words if word[0] == "x")
    mps   = 128 if "mps128" in words else MSC_MPS
    batch = 1 if "single" in words else 4 if "b2b4" in words else 0
    direction = "write" if "write" in words else "read"
    return Column(source, name, MSC_GEN[source], lanes, mps, direction, batch, calculated,
        {int(row["bytes"]): float(row[name])*BOTH_WAYS_GBPS for row in rows})


def msc_columns():
    """Returns all columns of the MSC8156/8157 notes, measured and calculated."""
    columns = []
    for source in MSC_GEN:
        rows = table(f"{source}_measured_gbps")
        columns += [_msc_column(source, name, rows, name.startswith("calc_"))
            for name in rows[0] if name != "bytes"]
    rows = table("msc815x_calculated_gbps")
    for name in rows[0]:
        if name != "bytes":
            columns.append(_msc_column(name.split("_")[0], name, rows, True))
    return columns


def msc_calculated(size, gen, lanes, direction, mps=MSC_MPS):
    """Returns bytes per second each way by the notes' formula, for links that they do not print.

    Each TLP has 20 bytes of overhead. A read needs a request of 20 bytes for every 256 bytes. Every four TLPs need an
    ACK and an UpdateFC of 8 bytes each; only in the column of reads with an MPS of 128 are requests among these TLPs.
    """
    ceil     = lambda a, b: -(-a//b)
    tlps     = ceil(size, mps)
    requests = ceil(size, MSC_MPS) if direction == "read" else 0
    answered = tlps + requests*(mps == 128)
    overhead = 20*(tlps + requests) + 16*ceil(answered, 4)
    return 250e6*gen*lanes*size/(size + overhead)

# PIO, 2007, and bus mastering, 2009 ---------------------------------------------------------------


def pio():
    """Returns the rows of the PIO table: (method, direction, bytes per second, note), Gen1 x1."""
    return [(row["method"], row["direction"], float(row["mbs"])*MB, row["note"])
        for row in table("pio_2007")]


def bus_mastering():
    """Returns the rows of the table of 2009: (direction, what, bytes per second), Gen1 x1."""
    return [("read" if row["direction"].endswith("read") else
             "write" if row["direction"].endswith("write") else "either",
            row["what"], float(row["mbs"])*MB) for row in table("bus_mastering_2009")]


def stock_baseline():
    """Returns the rows of the first measurement of stock LitePCIe as dicts of text."""
    return table("litepcie_stock_baseline")
