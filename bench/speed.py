#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Speed of the simulator itself: cycles of the default board in a second of one core, and the machine that ran it."""

import json
import os
import platform
import tempfile

from dataclasses import dataclass
from pathlib import Path

from litepcie_bench import boards
from litepcie_bench.points import OURS, SimulatedBoard
from litepcie_soc.build import processes

BOARD     = SimulatedBoard(OURS, 128)
GOAL      = 1.5e6   # Cycles in a second.
RUNS      = 5       # The best counts: others only disturb.
TIMEOUT_S = 60


@dataclass(frozen=True)
class Speed:
    """cycles : in a second of the processor's time; machine : its processor; load : processes that wanted to run."""
    cycles:  float
    machine: str
    load:    float

    def __str__(self):
        return f"simulator: {self.cycles/1e6:.2f} M cycles per second of one core, default board, both directions at " \
            f"once, best of {RUNS} runs (goal {GOAL/1e6:g}); {self.machine}, load {self.load:.1f}"


def machine(cpuinfo=Path("/proc/cpuinfo")):
    """Returns the name of the processor and how many there are."""
    try:
        names = [line.partition(":")[2].strip() for line in cpuinfo.read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")]
    except OSError:
        names = []
    return f"{names[0] if names else platform.machine()} x {os.cpu_count()}"


def measure():
    """Returns the ``Speed``, or None if the default board is not built or does not run."""
    program = boards.host_program(BOARD)
    if not program.exists():
        return None
    found = []
    with tempfile.TemporaryDirectory() as folder:
        stats = Path(folder) / "stats.json"
        line  = [program, "--sequence", "read-and-write", "--iterations", 1, "--batch", 40, "--stats", stats]
        load  = os.getloadavg()[0]
        for _ in range(RUNS):
            status, _ = processes.run([str(word) for word in line], timeout=TIMEOUT_S, quiet=True)
            if status:
                return None
            found.append(json.loads(stats.read_text(encoding="utf-8"))["cycles_per_processor_second"])
    return Speed(max(found), machine(), load)
