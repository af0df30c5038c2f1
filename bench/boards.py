#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The Verilated boards: one for each design and width of data path."""

import subprocess
import sys

from pathlib import Path

from litepcie_bench.points import STOCK

ROOT = Path(__file__).resolve().parents[1]
LOG  = ROOT / "build" / "bench" / "build.log"

# Links the boards of this width are built for; runs choose their own.
BUILT_AS = {64: (2, 4), 128: (2, 4), 256: (3, 8)}


class BoardError(Exception):
    """Text for the user."""


def host_program(design, width):
    """Path of the host program of a design."""
    if design == STOCK:
        return ROOT / "build" / f"stock_{width}" / "simulator" / "stock_host"
    gen, lanes = BUILT_AS[width]
    return ROOT / "build" / f"sim_gen{gen}_x{lanes}_{width}" / "simulator" / "litepcie_host"


def build(design, width):
    """Builds a host program, if it is not up to date. Raises ``BoardError``."""
    gen, lanes = BUILT_AS[width]
    if design == STOCK:
        command = [sys.executable, "-m", "litepcie_bench.stock.soc", "--data-width", str(width)]
    else:
        command = [sys.executable, str(ROOT / "targets" / "sim.py"), "--build", "--gen", str(gen),
            "--lanes", str(lanes), "--data-width", str(width)]
    result = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace")
    if result.returncode:
        LOG.parent.mkdir(parents=True, exist_ok=True)
        LOG.write_text(result.stdout, encoding="utf-8")
        last = (result.stdout.strip().splitlines() or [f"status {result.returncode}"])[-1]
        raise BoardError(f"building {design} at {width} bit failed: {last} (all of it: {LOG})")
