#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The tables of boards in `README.md` and `docs/boards.md`, from the boards in `targets/`.

    python3 -m litepcie_soc.build.docs --write     renews them
    python3 -m litepcie_soc.build.docs --check     compares them, exit 1 if they differ
"""

import functools
import sys

from pathlib import Path

from litepcie_soc.board.board import size
from litepcie_soc.build import generated
from litepcie_soc.build.targets import boards

ROOT      = Path(__file__).resolve().parents[2]
DOCUMENTS = {ROOT / "README.md": ("boards",), ROOT / "docs" / "boards.md": ("boards", "configurations")}

# Table --------------------------------------------------------------------------------------------


def at_most(board, configuration):
    """Bytes a second of one direction."""
    c = configuration
    return min(c.link_rate, c.data_path_rate, board.memory_rate(c) or c.data_path_rate)


def row(board, configuration, memory, suffix=""):
    """A line of the table.

    memory : bytes, for people.
    suffix : of the name, where one line stands for two configurations.
    """
    c    = configuration
    rate = at_most(board, c) / 1e6
    return (board.title, f"Gen{c.gen} x{c.lanes}", c.data_width, f"{c.sys_clk_freq / 1e6:g}", f"{rate:.0f}", memory,
        f"`{c.name(board)}{suffix}`")


def rows(board):
    """Every link and data path of a board, with DDR in the same line where nothing else changes."""
    for c in board.configurations():
        bram = size(board.memory_size(c))
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

# Command line -------------------------------------------------------------------------------------


TABLES = {"boards": board_table, "configurations": configuration_table}


def document(text, names):
    """A document with the tables ``names`` as the boards have them. Raises ``ValueError`` if one has no place in it."""
    all_boards = boards()
    return generated.renewed(text, {name: TABLES[name](all_boards) for name in names})


def main(argv=None):
    return generated.main(argv, "litepcie_soc.build.docs", "The tables of boards in README.md and docs/boards.md.",
        {path: functools.partial(document, names=names) for path, names in DOCUMENTS.items()})


if __name__ == "__main__":
    sys.exit(main())
