#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Cells of a netlist as resources of the device.

ECP5: as nextpnr counts "Total LUT4s": a LUT4 is one, a CCU2C (two bits of carry) two, a
TRELLIS_DPR16X4 six: four LUTs are the memory, two more carry its write port. BRAM: DP16KD, 18 kbit.

7-series: a LUT of any size is one, an inverter too; RAM of LUTs and shift registers as many as the
SLICEM uses (UG474). CARRY4 and MUXF have no LUT of their own: the LUTs in front are in the netlist.
BRAM: RAMB36E1, 36 kbit, a RAMB18E1 is half of one.
"""

from dataclasses import asdict, dataclass

FAMILIES  = ("ecp5", "xc7")
BRAM_UNIT = {"ecp5": "DP16KD", "xc7": "RAMB36"}

LUTS = {
    "ecp5": {"LUT4": 1},
    "xc7":  {**{f"LUT{n}": 1 for n in range(1, 7)}, "INV": 1},
}
CARRIES  = {"ecp5": {"CCU2C": 2}, "xc7": {"CARRY4": 0}}
MEMORIES = {
    "ecp5": {"TRELLIS_DPR16X4": 6},
    "xc7":  {"RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4, "RAM32X1D": 2, "RAM64X1D": 2,
        "RAM128X1D": 4, "RAM32M": 4, "RAM64M": 4, "SRL16E": 1, "SRLC16E": 1, "SRLC32E": 1},
}
FFS   = {"ecp5": {"TRELLIS_FF": 1}, "xc7": {"FDRE": 1, "FDSE": 1, "FDCE": 1, "FDPE": 1}}
BRAMS = {"ecp5": {"DP16KD": 1}, "xc7": {"RAMB36E1": 1, "RAMB18E1": 0.5}}
DSPS  = {"ecp5": {"MULT18X18D": 1, "ALU54B": 0}, "xc7": {"DSP48E1": 1}}
FREE  = {"ecp5": ("PFUMX", "L6MUX21"), "xc7": ("MUXF7", "MUXF8")}


@dataclass(frozen=True)
class Area:
    """Resources; ``luts`` are all that are used, of which those of carry chains and of memory."""
    luts:           int
    luts_as_carry:  int
    luts_as_memory: int
    ffs:            int
    brams:          float
    dsps:           int

    @property
    def luts_as_logic(self):
        return self.luts - self.luts_as_carry - self.luts_as_memory

    def record(self):
        return asdict(self)


def area(cells, family):
    """``Area`` of a netlist's cells by type. Raises ``ValueError`` for a type it cannot count."""
    tables = [table[family] for table in (LUTS, CARRIES, MEMORIES, FFS, BRAMS, DSPS)]
    known  = {kind for table in tables for kind in table} | set(FREE[family])
    if set(cells) - known:
        raise ValueError(f"cells of unknown size: {', '.join(sorted(set(cells) - known))}")
    logic, carry, memory, ffs, brams, dsps = (sum(cells.get(kind, 0)*size for kind, size in table.items())
        for table in tables)
    return Area(logic + carry + memory, carry, memory, ffs, brams, dsps)
