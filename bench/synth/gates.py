#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Counts gates, registers and memories of a board before its logic is mapped to LUTs.

Optimising and mapping logic takes most of the time of a synthesis. This count maps memories and carry chains as a full
synthesis does, and counts the remaining logic as gates. It takes a third of the time, so that the tests can compare
boards.
"""

import re

from dataclasses import asdict, dataclass

from litepcie_bench.synth.count import area
from litepcie_bench.synth.elaborate import LIBRARY, figures

# Each optimisation runs once instead of until nothing changes. DSPs, block RAM and LUT RAM as in a full synthesis.
SHRINK  = "opt_expr; opt_merge; opt_muxtree; opt_reduce; opt_dff; opt_clean; wreduce"
XILINX  = "synth_xilinx -family {family} -flatten -top {top} -run"
ADDERS  = "techmap -map +/techmap.v -map +/xilinx/arith_map.v -D LUT_SIZE=6"
COMMAND = "; ".join(["read_rtlil design.il", "read_verilog boxes.v", LIBRARY, "hierarchy -check -top {top}", "flatten",
    SHRINK, f"{XILINX} map_dsp:coarse", "alumacc; opt_clean; memory -nomap", f"{XILINX} map_memory:map_ffram",
    "memory_map; opt_clean; pmuxtree; simplemap", ADDERS, "opt_expr; opt_clean", "tee -q -o stat.json stat -json"])

REGISTER = re.compile(r"\$_\w*(DFF|LATCH)\w*_")
GATE     = re.compile(r"\$_\w+_")
CARRY    = {"CARRY4": 4, "CARRY8": 8}


@dataclass(frozen=True)
class Gates:
    """Counts before mapping.

    gates     : gates of two inputs, inverters and multiplexers.
    carries   : bits of carry chains.
    registers : bits of registers.
    ram_luts  : LUTs used as memory.
    brams     : block RAMs of 36 kbit.
    dsps      : DSP blocks.
    """
    gates:     int
    carries:   int
    registers: int
    ram_luts:  int
    brams:     float
    dsps:      int

    def record(self):
        return asdict(self)


def gates_of(cells, family, hard_block):
    """Returns the ``Gates`` of cells by type. Raises ``ValueError`` for an unknown type."""
    registers = {kind for kind in cells if REGISTER.fullmatch(kind)}
    gates     = {kind for kind in cells if GATE.fullmatch(kind)} - registers
    mapped    = area({kind: cells[kind] for kind in set(cells) - gates - registers}, family, [hard_block])
    return Gates(
        gates     = sum(cells[kind] for kind in gates),
        carries   = sum(cells.get(kind, 0)*bits for kind, bits in CARRY.items()),
        registers = sum(cells[kind] for kind in registers) + mapped.ffs,
        ram_luts  = mapped.luts_as_memory,
        brams     = mapped.brams,
        dsps      = mapped.dsps,
    )


def count(project, family, hard_block):
    """Returns the ``Gates`` of a ``Project``. Raises ``ToolError``."""
    return gates_of(figures(COMMAND, project, family, hard_block), family, hard_block)
