# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Measured figures in the documents: `make check` compares them, these tests show that the comparison finds faults."""

import pytest

from litepcie_bench import claims, documents
from litepcie_soc.build import generated

VALUE = "reads reach <!-- claim boards/KC705, Gen2 x8/read -->99.5<!-- /claim --> % of it\n"


@pytest.mark.parametrize("path", documents.TABLES, ids=lambda path: path.name)
def test_another_figure_is_found_in_the_table_and_in_the_prose(path, monkeypatch):
    text  = path.read_text(encoding="utf-8")
    other = {key: "12.5" if table == "latency" or column in ("median", "8") else value
        for key, value in claims.read().items() for table, *_, column in [key]}
    monkeypatch.setattr(claims, "read", lambda: other)
    documents.values.cache_clear()
    try:
        changed = documents.document(text, path)
    finally:
        documents.values.cache_clear()
    assert changed.count("12.5") > 8 and "x8/1250 -->12.5<!--" in changed


def test_values_are_replaced_and_the_sentence_stays():
    assert generated.filled(VALUE, {"boards/KC705, Gen2 x8/read": "12.5"}) == VALUE.replace("99.5", "12.5")


@pytest.mark.parametrize("text, error", [
    (VALUE.replace("KC705", "KC706"),          "there is no value for <!-- claim boards/KC706, Gen2 x8/read -->"),
    (VALUE.removeprefix("reads reach "),       "line 1 begins with <!-- claim"),
    ("- " + VALUE.removeprefix("reads reach "), "line 1 begins with <!-- claim"),
    (VALUE.replace("<!-- /claim -->", ""),     "line 1 has <!-- claim or <!-- /claim --> alone"),
    ("\n" + VALUE.split(" ", 4)[4],            "line 2 has <!-- claim or <!-- /claim --> alone"),
])
def test_a_value_that_cannot_be_put_in_is_named(text, error):
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
    with pytest.raises(ValueError, match="claims.csv has no figure for hosts, KC705, Gen2 x8, read, median; run make"):
        documents.document("", documents.README)


def test_keys_are_listed(capsys):
    assert documents.main(["--keys"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert f"latency/KC705, Gen2 x8/1250: {claims.read()['latency', 'KC705, Gen2 x8', '', '1250']}" in shown
    assert len({line.split(": ")[0] for line in shown}) >= len(claims.read())
