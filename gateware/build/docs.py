#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Generates the tables of boards in `README.md`, `docs/boards.md` and `docs/bring-up-hard-block.md` from `targets/`.

    python3 -m litepcie_soc.build.docs --write     updates them
    python3 -m litepcie_soc.build.docs --check     compares them; exit status 1 if they differ
"""

import functools
import sys
import textwrap

from pathlib import Path

from litepcie_soc.board.board import size
from litepcie_soc.build import generated
from litepcie_soc.build.targets import boards

ROOT      = Path(__file__).resolve().parents[2]
DOCUMENTS = {ROOT / "README.md": ("boards",), ROOT / "docs" / "boards.md": ("cards", "configurations"),
    ROOT / "docs" / "bring-up-hard-block.md": ("flash",)}

# Table --------------------------------------------------------------------------------------------


def at_most(board, configuration):
    """Returns the most bytes per second that one direction can reach: the least of link, data path and memory."""
    c = configuration
    return min(c.link_rate, c.data_path_rate, board.memory_rate(c) or c.data_path_rate)


def frequency_and_rate(board, configuration):
    return f"{configuration.sys_clk_freq/1e6:g}", f"{at_most(board, configuration)/1e6:.0f}"


def configuration_rows(all_boards):
    """Returns a row per link and data path, the widest first, with all boards of which it says the same."""
    found = {}
    for board in all_boards:
        for c in board.configurations():
            cells = [f"Gen{c.gen} x{c.lanes}", c.data_width, *frequency_and_rate(board, c), "-", "-"]
            if board.memory.ddr:
                cells[4:] = frequency_and_rate(board, board.configure(c.gen, c.lanes, c.data_width, with_ddr=True))
            found.setdefault((c.gen, c.lanes, *cells), []).append(board.name)
    order = sorted(found, key=lambda key: (*key[:2], -key[3]))
    return [(*key[2:4], ", ".join(found[key]), *key[4:]) for key in order]


def configuration_table(all_boards):
    heads = ("link", "data path, bits", "boards", "MHz", "MB/s at most", "MHz with DDR", "MB/s with DDR")
    return generated.table(heads, configuration_rows(all_boards))


def card_table(all_boards):
    lines = [(board.name, board.title, board.platform().device, f"`{board.configure().name(board)}`",
        size(board.memory.bram), size(board.memory.ddr) if board.memory.ddr else "-")
        for board in all_boards]
    return generated.table(("name", "board", "FPGA", "built when no option is given", "memory", "DDR"), lines)


def board_list(all_boards):
    """The boards in README.md."""
    return textwrap.fill(", ".join(board.title for board in all_boards) + ".", 120)


def flash_table(all_boards):
    lines = [(board.title, f"{board.flash.rate:g}", f"{board.flash.volts:g}", board.flash.bitstream,
        f"{board.flash.milliseconds(board.flash.bitstream):.0f}")
        for board in all_boards if board.flash and board.flash.bitstream]
    return generated.table(("board", "MHz, four bits", "V", "bytes, not compressed", "ms"), lines)

# Command line -------------------------------------------------------------------------------------


TABLES = {"boards": board_list, "cards": card_table, "configurations": configuration_table, "flash": flash_table}


def document(text, names):
    """Returns a document with its tables updated. Raises ``ValueError`` if a table has no place in it."""
    all_boards = boards()
    return generated.renewed(text, {name: TABLES[name](all_boards) for name in names})


def main(argv=None):
    return generated.main(argv, "litepcie_soc.build.docs",
        "Tables of the boards in README.md, docs/boards.md and docs/bring-up-hard-block.md.",
        {path: functools.partial(document, names=names) for path, names in DOCUMENTS.items()})


if __name__ == "__main__":
    sys.exit(main())
