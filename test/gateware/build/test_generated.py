#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Texts that a program makes: places of a document, and the program that renews and compares."""

import pytest

from litepcie_soc.build import generated

TEXT = "head\n<!-- one -->\nold\n<!-- end of one -->\nbetween\n<!-- two -->\n<!-- end of two -->\ntail\n"


def test_places_are_renewed_and_the_rest_stays():
    text = generated.renewed(TEXT, {"two": "2\\1", "one": "| 1 |"})
    assert text == TEXT.replace("old", "| 1 |").replace("<!-- two -->\n", "<!-- two -->\n2\\1\n")
    assert generated.renewed(text, {"two": "2\\1", "one": "| 1 |"}) == text


@pytest.mark.parametrize("missing", ["<!-- one -->\n", "<!-- end of one -->\n"])
def test_a_place_that_is_missing_is_named(missing):
    with pytest.raises(ValueError, match="the document has no section <!-- one --> ... <!-- end of one -->"):
        generated.renewed(TEXT.replace(missing, ""), {"one": "1"})


def test_table():
    assert generated.table(("a", "b"), [(1, "x"), (2, "y")]) == "| a | b |\n| --- | --- |\n| 1 | x |\n| 2 | y |"


def program(argument, path, make):
    return generated.main([argument, "--file", str(path)], "a.module", "A text.", {path: make}, note="So there")


def test_write_and_check(tmp_path, capsys):
    path = tmp_path / "text"
    make = lambda text: "first\nsecond\n"
    assert program("--check", path, make) == 1  # No file yet.
    assert program("--write", path, make) == 0 and path.read_text() == "first\nsecond\n"
    assert program("--check", path, make) == 0
    capsys.readouterr()
    path.write_text("first\nother\n")
    assert program("--check", path, make) == 1
    output = capsys.readouterr()
    assert "-other\n+second\n" in output.out and "first" not in output.out
    assert output.err == "text is not up to date; update it with python3 -m a.module --write. So there\n"


def test_what_cannot_be_is_one_line(tmp_path, capsys):
    def refuse(text):
        raise ValueError("no place for it")

    assert program("--write", tmp_path / "text", refuse) == 1
    assert program("--write", tmp_path, lambda text: text) == 1
    assert program("--write", tmp_path / "none" / "text", lambda text: "1") == 1
    assert capsys.readouterr().err.splitlines() == [f"{tmp_path}/text: no place for it", f"{tmp_path}: Is a directory",
        f"{tmp_path}/none/text: No such file or directory"]
