# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Published tables: all of them are read, and nothing in them is left unused."""

import csv

from litepcie_bench import published, records
from litepcie_bench.published import FOLDER

# How many figures are read of each file, and its columns of figures; 1 where a row is one figure.
READERS = {
    "an456_throughput":        (lambda: 4*len(published.application_notes()), 4),
    "msc8156_measured_gbps":   (lambda: msc_figures("msc8156_measured_gbps"), 12),
    "msc8157_measured_gbps":   (lambda: msc_figures("msc8157_measured_gbps"), 12),
    "msc815x_calculated_gbps": (lambda: msc_figures("msc815x_calculated_gbps"), 6),
    "pio_2007":                (lambda: len(published.pio()), 1),
    "bus_mastering_2009":      (lambda: len(published.bus_mastering()), 1),
    "litepcie_stock_baseline": (lambda: len(published.stock_baseline()), 1),
}


def msc_figures(name):
    """Figures of the columns that come from one file."""
    header = set(published.table(name)[0])
    return sum(len(column.rates) for column in published.msc_columns() if column.name in header
        and ("815x" in name or name.startswith(column.source)))


def test_every_file_has_a_reader_and_every_figure_is_used():
    assert {path.stem for path in FOLDER.glob("*.csv")} == set(READERS)
    for name, (read, columns) in READERS.items():
        with open(FOLDER / f"{name}.csv", newline="") as f:
            rows = list(csv.reader(line for line in f if not line.startswith("#")))[1:]
        assert rows and read() == columns*len(rows), name


def test_misprints_are_those_that_cannot_be():
    found = [(row.table, row.gen, row.lanes, cell) for row in published.application_notes()
        for cell in row.rates if row.misprint(cell)]
    assert found == [(8, 2, 1, "write"), (8, 2, 1, "both_read")]


def test_calculated_columns_follow_from_the_formula():
    """Every printed cell is the formula's figure, rounded to two decimals: no misprint is among them."""
    columns = [column for column in published.msc_columns() if column.calculated]
    assert len(columns) == 12
    for column in columns:
        for size, value in column.rates.items():
            mine = published.msc_calculated(size, column.gen, column.lanes, column.direction, column.mps)
            assert f"{mine/published.BOTH_WAYS_GBPS:.2f}" == f"{value/published.BOTH_WAYS_GBPS:.2f}", \
                (column.source, column.name, size)


def test_every_published_figure_is_a_record():
    found = records.published()
    for record in found:
        records.check(record)
    figures = sum(key.split("_")[0] in ("read", "write", "theory") for record in found
        for key in record if key.endswith("bytes_per_second")
        and not (key.startswith("theory") and "MSC" not in record["source"].upper()
            and "limit" not in record["source"]))
    tables = set(READERS) - {"litepcie_stock_baseline"}
    assert figures == sum(READERS[name][0]() for name in tables)
