# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Measured figures and plots in the documents, and the comparison of `make check`; published tables, all used."""

import csv
import re

import pytest

from litepcie_bench import claims, documents, pictures, published, records
from litepcie_bench.points import OURS, STOCK
from litepcie_bench.published import FOLDER
from litepcie_soc.build import generated

VALUE = "reads reach <!-- claim boards/KC705, Gen2 x8/read -->99.5<!-- /claim --> % of it\n"


@pytest.mark.parametrize("path", documents.TABLES, ids=lambda path: path.name)
def test_another_figure_is_found_in_the_table_and_in_the_prose(path, monkeypatch):
    text  = path.read_text(encoding="utf-8")
    other = {key: "12.5" if table == "latency" or column in ("median", "8", "both_read") else value
        for key, value in claims.read().items() for table, *_, column in [key]}
    monkeypatch.setattr(claims, "read", lambda: other)
    documents.values.cache_clear()
    try:
        changed = documents.document(text, path)
    finally:
        documents.values.cache_clear()
    assert changed.count("12.5") > 8 and re.search("Gen2 x8/(1250|both_read) -->12.5<!--", changed)


@pytest.mark.parametrize("text, error", [
    (VALUE.replace("KC705", "KC706"),          "there is no value for <!-- claim boards/KC706, Gen2 x8/read -->"),
    (VALUE.removeprefix("reads reach "),       "line 1 begins with <!-- claim"),
    ("- " + VALUE.removeprefix("reads reach "), "line 1 begins with <!-- claim"),
    (VALUE.replace("<!-- /claim -->", ""),     "line 1 has <!-- claim or <!-- /claim --> alone"),
    ("\n" + VALUE.split(" ", 4)[4],            "line 2 has <!-- claim or <!-- /claim --> alone")])
def test_a_value_that_cannot_be_put_in_is_named(text, error):
    assert generated.filled(VALUE, {"boards/KC705, Gen2 x8/read": "12.5"}) == VALUE.replace("99.5", "12.5")
    with pytest.raises(ValueError, match=error):
        generated.filled(text, {"boards/KC705, Gen2 x8/read": "99.5"})


def test_a_share_written_by_hand_is_found():
    """Smaller ones are differences."""
    table = "<!-- shares -->\n| 84.0 % |\n<!-- end of shares -->\n"
    assert documents.by_hand(VALUE + table + "ours takes 1.6 % more\n") == []
    assert documents.by_hand(VALUE + table + "it reached 89.7 %, now 97.0 to 98.1 %\n") == ["89.7 %", "97.0 to 98.1 %"]


@pytest.mark.parametrize("share", ["100.1", "0.0", "-3"])
def test_a_share_of_the_bound_above_it_is_refused(share):
    good = claims.read()
    assert claims.checked(good) == good
    with pytest.raises(ValueError, match=f"KC705, Gen2 x8, , read: {share} %"):
        claims.checked(good | {("boards", "KC705, Gen2 x8", "", "read"): share})


def test_a_figure_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(claims, "read", lambda: {("stock", "KC705, Gen2 x8", "read", "ours"): "99.5"})
    with pytest.raises(ValueError, match="claims.csv has no figure for boards, KC705, Gen2 x8, read; run make"):
        documents.document("", documents.BENCHMARK)


def test_keys_are_listed(capsys):
    assert documents.main(["--keys"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert f"latency/KC705, Gen2 x8/1250: {claims.read()['latency', 'KC705, Gen2 x8', '', '1250']}" in shown
    assert len({line.split(": ")[0] for line in shown}) >= len(claims.read())


def record(design, sequence, size, value, **others):
    return {"design": design, "source": "bench equal_chains, 100 transfers per doorbell", "gen": 2, "lanes": 4,
        "datapath_bits": 128, "mps": 256, "mrrs": 512, "tags": 8, "sequence": sequence, "transfer_bytes": size,
        f"{sequence}_bytes_per_second": value, f"bound_{sequence}_bytes_per_second": 2e9, **others}


RECORDS = [record(design, sequence, size, size*1e6) for design in (OURS, STOCK) for sequence in ("read", "write")
    for size in (64, 256)]


def test_rows_are_equal_chains_of_the_boards_link_and_no_other_records():
    found = pictures.rows(pictures.PICTURES[0], [*RECORDS, record(STOCK, "read", 64, 70e6, tags=32)])
    assert {("read", STOCK, 64, 64.0), ("read", "bound", 64, 2000.0)} <= {*found} and len(found) == 2*2*2 + 2*2
    for others in ({"gen": 1}, {"mps": 128}, {"mrrs": 256}, {"source": "bench sizes"}, {"design": "published"}):
        assert pictures.rows(pictures.PICTURES[0], [record(OURS, "read", 64, 1e6) | others]) == []


def test_check_finds_a_plot_of_other_figures(tmp_path):
    one = pictures.PICTURES[:1]
    assert pictures.write(tmp_path, RECORDS, one) == ["throughput"]
    assert pictures.stale(tmp_path, one) == []
    figures = tmp_path / "throughput.csv"
    figures.write_text(figures.read_text().replace("256,256.0", "256,255.0"))
    assert pictures.stale(tmp_path, one) == ["throughput"]


CLAIMS = {("stock", board, direction, column): value
    for board in ("Fast, Gen3 x16", "Some, Others, Third, Gen2 x8", "Small, Gen2 x4")
    for direction in ("read", "write") for column, value in (("ours", "99.0"), ("best", "50.0"), ("8", "25.0"))}


def test_a_line_for_each_board_over_the_latency():
    axes, = pictures.latency_figure({("latency", board, "", str(ns)): str(at) for board, at in
        (("Fast, Gen3 x16", 50), ("Small, Gen2 x4", 90)) for ns in (2000, 600)}).axes
    assert {line.get_label(): line.get_xydata().tolist() for line in axes.lines} == {
        "Small, Gen2 x4": [[600, 90], [2000, 90]], "Fast, Gen3 x16": [[600, 50], [2000, 50]]}
    assert pictures.latency_figure({}) is None


def test_boards_have_a_bar_for_each_design_the_fastest_link_last():
    read, write = pictures.boards_figure(CLAIMS).axes
    assert [text.get_text() for text in read.get_xticklabels()] == ["Small\nGen2 x4", "Some, Others\nThird\nGen2 x8",
        "Fast\nGen3 x16"]
    for panel in (read, write):
        assert [bar.get_height() for bar in panel.patches] == [99.0, 50.0, 25.0]*3


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
