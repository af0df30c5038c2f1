#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Makes the throughput table: figures of dma_test, of theory, and of published tables."""

import csv

from pathlib import Path

from rich.table import Table

PUBLISHED = Path(__file__).resolve().parents[2] / "bench" / "published" / "an456_throughput.csv"
THEORIES  = {
    "theory, application notes"  : "application_note",
    "theory, pcie-bench by lanes": "pcie_bench",
}


def published(row):
    """Returns the rows of AN 456 and AN 855 for the same generation, lanes and data path."""
    with open(PUBLISHED, newline="") as f:
        return [line for line in csv.DictReader(f)
            if (int(line["gen"]), int(line["lanes"])) == (row["gen"], row["lanes"])
            and line["datapath_bits"] == str(row["datapath_bits"])]


def megabytes(value):
    """Returns `value`, in bytes per second, as text in MB/s (10^6)."""
    return f"{value/1e6:.0f}"


def throughput_table(rows):
    """Returns a rich table. `rows` is the JSON of dma_test by sequence (write, read, read-and-write)."""
    row   = rows["write"]
    table = Table(caption="MB/s, by the gateware's counters from doorbell to last byte",
        title=f"Gen{row['gen']} x{row['lanes']}, {row['datapath_bits']} bit, MPS {row['mps_bytes']}, "
            f"MRRS {row['mrrs_bytes']}, {row['transfer_bytes']} bytes x {row['iterations']}")
    table.add_column("")
    for name in ("write", "read", "both: write", "both: read"):
        table.add_column(name, justify="right")
    both  = rows["read-and-write"]
    cells = [rows["write"]["write"], rows["read"]["read"], both["write"], both["read"]]
    for name in ("peak", "average", "last"):
        table.add_row(f"this board, {name}",
            *(megabytes(cell["counter_bytes_per_second"][name]) for cell in cells))
    for name, key in THEORIES.items():
        values = [megabytes(cell["theory_bytes_per_second"][key]) for cell in cells]
        table.add_row(name, *values, style="dim")
    for line in published(row):
        source = line["source"].upper().replace("AN", "AN ")
        table.add_row(f"{source} table {line['table']}: {line['device']}",
            line["write_mbs"], line["read_mbs"], line["simul_write_mbs"], line["simul_read_mbs"])
    return table
