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

from pathlib import Path

from litepcie_soc.board.board import size
from litepcie_soc.build import generated
from litepcie_soc.build.targets import boards

ROOT      = Path(__file__).resolve().parents[2]
DOCUMENTS = {ROOT / "README.md": ("boards",), ROOT / "docs" / "boards.md": ("boards", "configurations"),
    ROOT / "docs" / "bring-up-hard-block.md": ("flash",)}

# Table --------------------------------------------------------------------------------------------


def at_most(board, configuration):
    """Returns the most bytes per second that one direction can reach: the least of link, data path and memory."""
    c = configuration
    return min(c.link_rate, c.data_path_rate, board.memory_rate(c) or c.data_path_rate)


def row(board, configuration, memory, suffix=""):
    """Returns a row of the table.

    memory : size of the memory as text.
    suffix : suffix of the name, if the row describes two configurations.
    """
    c    = configuration
    rate = at_most(board, c) / 1e6
    return (board.title, f"Gen{c.gen} x{c.lanes}", c.data_width, f"{c.sys_clk_freq / 1e6:g}", f"{rate:.0f}", memory,
        f"`{c.name(board)}{suffix}`")


def rows(board):
    """Yields a row per link and data width, with block RAM and DDR in one row if nothing else differs."""
    for c in board.configurations():
        bram = size(board.memory_size(c))
        if not board.memory.ddr:
            yield row(board, c, bram)
            continue
        ddr  = board.configure(c.gen, c.lanes, c.data_width, with_ddr=True)
        if (ddr.sys_clk_freq, at_most(board, ddr)) == (c.sys_clk_freq, at_most(board, c)):
            yield row(board, c, f"{bram}, DDR {size(board.memory_size(ddr))}", "[_ddr]")
        else:
            yield row(board, c, bram)
            yield row(board, ddr, f"DDR {size(board.memory_size(ddr))}")


def configuration_table(all_boards):
    heads = ("board", "link", "data path, bits", "clock, MHz", "MB/s at most", "memory", "name")
    return generated.table(heads, [line for board in all_boards for line in rows(board)])


def board_table(all_boards):
    lines = []
    for board in all_boards:
        default = board.configure()
        lines.append((f"`targets/{board.name}.py`", board.title, board.platform().device, f"`{default.name(board)}`"))
    return generated.table(("target", "board", "FPGA", "built when no option is given"), lines)


def flash_table(all_boards):
    lines = [(board.title, f"{board.flash.rate:g}", f"{board.flash.volts:g}", board.flash.bitstream,
        f"{board.flash.milliseconds(board.flash.bitstream):.0f}") for board in all_boards if board.flash]
    return generated.table(("board", "MHz, four bits", "V", "bytes, not compressed", "ms"), lines)

# Command line -------------------------------------------------------------------------------------


TABLES = {"boards": board_table, "configurations": configuration_table, "flash": flash_table}


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
