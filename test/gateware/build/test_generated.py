# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Texts that a program makes: documents, tables of boards, the lane's header, names; Verilog, the same each time."""

import pytest
from litex.build.sim import SimPlatform
from litex.gen import LiteXContext
from litex.gen.fhdl.verilog import convert
from litex.soc.integration.soc_core import SoCMini
from migen import Module, Signal

from litepcie_soc.board.board import Board, Memory
from litepcie_soc.board.user_options import build_name
from litepcie_soc.build import docs, generated
from litepcie_soc.build.emit import numbered_alike
from litepcie_soc.endpoint.lane_view.layout import COUNTERS, COUNTERS_AT, LOG_AT, LOG_ENTRIES, STATE, STATE_AT, WORDS

TEXT = "head\n<!-- one -->\nold\n<!-- end of one -->\nbetween\n<!-- two -->\n<!-- end of two -->\ntail\n"


def test_places_are_renewed_and_the_rest_stays():
    text = generated.renewed(TEXT, {"two": "2\\1", "one": "| 1 |"})
    assert text == TEXT.replace("old", "| 1 |").replace("<!-- two -->\n", "<!-- two -->\n2\\1\n")
    assert generated.renewed(text, {"two": "2\\1", "one": "| 1 |"}) == text


@pytest.mark.parametrize("missing", ["<!-- one -->\n", "<!-- end of one -->\n"])
def test_a_place_that_is_missing_is_named(missing):
    with pytest.raises(ValueError, match="the document has no section <!-- one --> ... <!-- end of one -->"):
        generated.renewed(TEXT.replace(missing, ""), {"one": "1"})


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
<!-- cards -->
<!-- end of cards -->
<!-- configurations -->
<!-- end of configurations -->
end
"""


def test_a_line_says_what_a_configuration_is():
    assert docs.configuration_rows([DDR]) == [
        ("Gen2 x4", 128, "some_board", "125", "2000", "125", "2000"),
        ("Gen2 x4", 64,  "some_board", "250", "2000", "250", "2000")]


def test_boards_with_the_same_figures_share_a_line_and_a_board_without_ddr_does_not():
    other = board({(1, 1): {64: 125e6}, **DDR.links}, Memory(bram=1 << 16))
    lines = docs.configuration_rows([DDR, DDR, other])
    assert [line[:3] for line in lines] == [("Gen1 x1", 64, "some_board"),
        *(("Gen2 x4", width, names) for width in (128, 64) for names in ("some_board, some_board", "some_board"))]
    assert lines[0][3:] == ("125", "250", "-", "-")


def test_a_data_path_that_is_slower_than_the_link_is_what_the_line_says():
    assert docs.configuration_rows([board({(2, 8): {64: 125e6}}, DDR3)])[0][4] == "1000"


def test_the_command_renews_and_compares(tmp_path, monkeypatch, capsys):
    short, full = tmp_path / "README.md", tmp_path / "boards.md"
    monkeypatch.setattr(docs, "DOCUMENTS", {short: ["boards"], full: ["cards", "configurations"]})
    for path in (short, full):
        path.write_text(DOCUMENT)
    assert docs.main(["--check"]) == 1
    assert "not up to date; update it with python3 -m litepcie_soc.build.docs --write" in capsys.readouterr().err
    assert docs.main(["--write"]) == 0
    assert docs.main(["--check"]) == 0
    assert full.read_text().startswith("text\n") and full.read_text().endswith("\nend\n")
    assert "MHz with DDR" in full.read_text() and "with DDR" not in short.read_text()
    short.write_text("no place\n")
    assert docs.main(["--write"]) == 1
    assert "the document has no section <!-- boards -->" in capsys.readouterr().err
    assert short.read_text() == "no place\n"


def test_the_parts_of_the_snapshot_are_apart():
    assert COUNTERS_AT + len(COUNTERS) <= STATE_AT and STATE_AT + len(STATE) <= LOG_AT
    assert LOG_AT + 2*LOG_ENTRIES == WORDS


@pytest.mark.parametrize("options, name", [
    ({},                                                           "sim_gen2_x4_128"),
    ({"gen": 3, "lanes": 8, "data_width": 512, "tags": 256},       "sim_gen3_x8_512_tags256"),
    ({"phy": "split", "endianness": "little", "with_ddr": True},   "sim_gen2_x4_128_split_little_ddr"),
    ({"streams": 2, "patterns": 1},                                "sim_gen2_x4_128_streams2_patterns1"),
    ({"streams": 2, "memory_size": 1 << 20},                       "sim_gen2_x4_128_streams2_memory_size1048576")])
def test_name_says_what_is_not_default(options, name):
    assert build_name(**options) == name


def verilog():
    """Ports of one name: LiteX numbers them in the order of a set."""
    ports = [Signal(8, name="port") for _ in range(9)]
    dut   = Module()
    dut.comb += [port.eq(n) for n, port in enumerate(ports)]
    return "".join(line for line in convert(dut, set(ports), name="top").main_source.splitlines(True)
        if not line.startswith("//"))


def test_a_design_is_the_same_each_time():
    found = set()
    for n in range(20):
        [Signal() for _ in range(n)]
        with numbered_alike():
            found.add(verilog())
    assert len(found) == 1


class Part(Module):
    def __init__(self):
        self.value = Signal(8)


def names_of_parts():
    parts = [Part() for _ in range(2)]
    return [part.value.backtrace[-2:] for part in parts]


def test_modules_of_a_class_are_counted_anew():
    first = names_of_parts()
    assert names_of_parts() != first
    with numbered_alike():
        inside = names_of_parts()
    with numbered_alike():
        assert names_of_parts() == inside
    assert names_of_parts() != first


def test_the_hierarchy_of_an_earlier_soc_is_not_in_the_text(monkeypatch):
    monkeypatch.setattr(LiteXContext, "top", SoCMini(SimPlatform("SIM", [], toolchain="verilator"), 125e6))
    assert "SoCMini" in verilog()
    with numbered_alike():
        assert "SoCMini" not in verilog()
    assert "SoCMini" in verilog()
