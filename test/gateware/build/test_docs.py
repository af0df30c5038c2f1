#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

import pytest

from litepcie_soc.board.board import Board, Memory
from litepcie_soc.build import docs, targets


class Platform:
    device = "xc7a200t"


def board(links, memory, **more):
    return Board("some_board", "Some board", "artix7", Platform, links, next(iter(links)), memory, None, **more)


DDR3   = Memory(bram=1 << 20, ddr=1 << 30, kind="DDR3")
DDR    = board({(2, 4): {128: 125e6, 64: 250e6}}, DDR3)
DOCUMENT = """\
text
<!-- boards -->
old
<!-- end of boards -->
<!-- configurations -->
<!-- end of configurations -->
end
"""


def test_a_line_says_what_a_configuration_is():
    assert list(docs.rows(DDR)) == [
        ("Some board", "Gen2 x4", 128, "125", "2000", "1 MiB, DDR 1 GiB", "`some_board_gen2_x4_128[_ddr]`"),
        ("Some board", "Gen2 x4", 64,  "250", "2000", "1 MiB, DDR 1 GiB", "`some_board_gen2_x4_64[_ddr]`"),
    ]


def test_a_data_path_that_is_slower_than_the_link_is_what_the_line_says():
    slow = board({(2, 8): {64: 125e6}}, DDR3)
    assert [line[4] for line in docs.rows(slow)] == ["1000"]


@pytest.mark.parametrize("slower, clock, rate", [
    (board({(2, 4): {128: 125e6}}, DDR3, ddr_clocks=(50e6, 100e6)),         "100", "1600"),
    (board({(2, 4): {128: 125e6}}, Memory(1 << 20, 1 << 30, "DDR4", 1.5e9)), "125", "1500"),
])
def test_ddr_that_is_slower_has_a_line_of_its_own(slower, clock, rate):
    assert [line[3:] for line in docs.rows(slower)] == [
        ("125", "2000", "1 MiB",     "`some_board_gen2_x4_128`"),
        (clock, rate,   "DDR 1 GiB", "`some_board_gen2_x4_128_ddr`")]


@pytest.mark.parametrize("number, text", [
    (0, "0 bytes"), (100, "100 bytes"), (1 << 10, "1 KiB"), (3 << 20, "3 MiB"), (4 << 30, "4 GiB"),
    (3 << 19, "1536 KiB"),
])
def test_sizes_are_whole_numbers(number, text):
    assert docs.size(number) == text


def test_every_target_is_in_the_tables():
    text = docs.document(DOCUMENT, ["boards", "configurations"])
    for board in targets.boards():
        assert f"| `targets/{board.name}.py` |" in text
        for configuration in board.configurations():
            assert f"`{configuration.name(board)}" in text


def test_the_command_renews_and_compares(tmp_path, monkeypatch, capsys):
    short, full = tmp_path / "README.md", tmp_path / "boards.md"
    monkeypatch.setattr(docs, "DOCUMENTS", {short: ["boards"], full: ["boards", "configurations"]})
    for path in (short, full):
        path.write_text(DOCUMENT)
    assert docs.main(["--check"]) == 1
    assert "not up to date; update it with python3 -m litepcie_soc.build.docs --write" in capsys.readouterr().err
    assert docs.main(["--write"]) == 0
    assert docs.main(["--check"]) == 0
    assert full.read_text().startswith("text\n") and full.read_text().endswith("\nend\n")
    assert "_gen2_x4_128_ddr`" in full.read_text() and "_ddr`" not in short.read_text()
    short.write_text("no place\n")
    assert docs.main(["--write"]) == 1
    assert "the document has no section <!-- boards -->" in capsys.readouterr().err
    assert short.read_text() == "no place\n"
