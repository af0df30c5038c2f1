#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The Verilated boards: one for each design, data width, and option that is fixed when a board is built; and the jobs
in parallel that build or run them, with their progress.
"""

import sys
import time

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from litepcie_bench.points import DEFAULT_TAGS, STOCK
from litepcie_bench.stock import folder_name
from litepcie_soc.board.user_options import build_name
from litepcie_soc.build import processes

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

# Jobs in parallel ---------------------------------------------------------------------------------

# Seconds of one wait. Python handles a signal only after a wait, so no wait is endless.
WAIT_S = 1


def side_by_side(work, items, at_once, done, waiting=lambda items: None):
    """Returns the results of ``work(item)`` by item; calls ``done(result)`` after each.

    Every second at least, it calls ``waiting(items)`` with the items that are being worked on.
    When one raises, or the program is interrupted, everything that runs is ended.
    """
    results = {}
    with ThreadPoolExecutor(at_once) as pool:
        try:
            jobs = {pool.submit(work, item): item for item in items}
            left = set(jobs)
            while left:
                ended, left = wait(left, WAIT_S, FIRST_COMPLETED)
                for job in ended:
                    results[jobs[job]] = job.result()
                    done(job.result())
                waiting([jobs[job] for job in left if job.running()])
        except BaseException:  # An interrupt comes only once: litepcie_soc.build.command_line sees to that.
            pool.shutdown(wait=False, cancel_futures=True)
            processes.end_all()
            raise
    return results

# Progress -----------------------------------------------------------------------------------------


class Progress:
    """Counts ``total`` steps of ``what`` on standard error: one changing line on a terminal, a line every few seconds
    elsewhere.
    """
    QUIET_S = 5   # Seconds between lines if standard error is not a terminal.

    def __init__(self, what, total):
        self.what, self.total, self.count = what, total, 0
        self.began = self.said = time.monotonic()
        self.live  = sys.stderr.isatty()

    def step(self, text):
        self.count += 1
        self._say(text, "", self.count == self.total)

    def waiting(self, items):
        """Says what is being worked on; called every second while steps take long."""
        if items:
            text = ", ".join(map(str, items))
            self._say(text, f"; now {text}", False)

    def _say(self, text, more, last):
        now = time.monotonic()
        if self.live:
            line = f"{self.what}: {self.count}/{self.total} {now - self.began:4.0f} s  {text}"
            print(f"\r\033[K{line[:100]}", end="", file=sys.stderr, flush=True)
        elif now - self.said >= self.QUIET_S or last:
            self.said = now
            print(f"{self.what}: {self.count}/{self.total} after {now - self.began:.0f} s{more}", file=sys.stderr,
                flush=True)

    def end(self):
        if self.live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
