#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The Verilated boards: one for each design, data width, and option that is fixed when a board is built."""

import sys

from pathlib import Path

from litepcie_bench.points import DEFAULT_TAGS, STOCK
from litepcie_bench.stock.names import folder_name
from litepcie_soc.build import processes
from litepcie_soc.build.simulation import build_name

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "build" / "bench"

# Link (gen, lanes) that a board of each width is built for. Every run chooses its own link.
BUILT_AS = {64: (2, 4), 128: (2, 4), 256: (3, 8), 512: (3, 8)}

# The board with the endpoint in gateware has one link, by its width.
SOFT = {64: (1, 1)}

AT_ONCE = 2   # Builds in parallel: parts of a build use one processor only.


class BoardError(Exception):
    """A board could not be built; the text is for the user."""


def link(board):
    """Returns the link (gen, lanes) that a ``SimulatedBoard`` is built for."""
    return (SOFT if board.phy == "soft" else BUILT_AS)[board.width]


def folder(board):
    """Returns the build folder of a ``SimulatedBoard``, as ``targets/sim.py`` names it."""
    if board.design == STOCK:
        return ROOT / "build" / folder_name(board.width, board.tags, board.address)
    endianness = "little" if board.phy == "split" else "big"
    return ROOT / "build" / build_name(*link(board), board.width, board.phy, endianness, board.tags,
        with_ddr=board.memory == "ddr", completion_space=board.space, fabric_width=board.fabric)


def host_program(board):
    """Path of the host program of a ``SimulatedBoard``."""
    name = "stock_host" if board.design == STOCK else "litepcie_host"
    return folder(board) / "simulator" / name


def command(board):
    """Arguments that build a ``SimulatedBoard``."""
    if board.design == STOCK:
        return [sys.executable, "-m", "litepcie_bench.stock.soc", "--data-width", str(board.width),
            "--pending-requests", str(board.tags), "--address-width", str(board.address)]
    gen, lanes = link(board)
    line = [sys.executable, str(ROOT / "targets" / "sim.py"), "--build", "--optimize", "--gen", str(gen),
        "--lanes", str(lanes), "--data-width", str(board.width), "--output-dir", str(folder(board))]
    if board.phy == "split":
        line += ["--phy", "split", "--endianness", "little"]
    if board.phy == "soft":
        line += ["--phy", "soft"]
    if board.tags != DEFAULT_TAGS:
        line += ["--tags", str(board.tags)]
    if board.memory == "ddr":
        line.append("--with-ddr")
    if board.space:
        line += ["--completion-space", "{},{}".format(*board.space)]
    if board.fabric:
        line += ["--fabric-width", str(board.fabric)]
    return line


def build(board):
    """Builds a host program if it is not up to date. Raises ``BoardError``."""
    status, output = processes.run(command(board), cwd=ROOT)
    if status:
        log = LOGS / f"build_{folder(board).name}.log"
        LOGS.mkdir(parents=True, exist_ok=True)
        log.write_text(output, encoding="utf-8")
        last = (output.strip().splitlines() or [f"status {status}"])[-1]
        raise BoardError(f"building {board} failed: {last} (full output: {log})")
    return board
