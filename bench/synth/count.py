#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Converts the cells of a netlist into resources of a device.

ECP5, as nextpnr counts "Total LUT4s": a LUT4 is one LUT and a CCU2C (two bits of carry) two. A TRELLIS_DPR16X4 is six:
four LUTs hold the memory and two serve its write port. BRAM: DP16KD, 18 kbit.

7-series, UltraScale, UltraScale+: a LUT of any size is one LUT, and so is an inverter. LUT RAM and shift registers
count as many LUTs as the SLICEM uses (UG474, UG574). CARRY4 and MUXF have no LUT of their own: the LUTs at their inputs
are in the netlist. BRAM: RAMB36, 36 kbit; a RAMB18 is half.
"""

import re

from dataclasses import asdict, dataclass

FAMILIES  = ("ecp5", "xc7")  # Families for comparing designs. Boards have further families.
BRAM_UNIT = {"ecp5": "DP16KD", "xc7": "RAMB36"}

# Resources of each cell type by family. UltraScale has the cells of 7-series and some of its own.


def _xilinx(series7, ultrascale):
    """Returns the tables by family. UltraScale and UltraScale+ have the same cells."""
    both = {**series7, **ultrascale}
    return {"xc7": series7, "xcu": both, "xcup": both}


LUTS     = {"ecp5": {"LUT4": 1},            **_xilinx({**{f"LUT{n}": 1 for n in range(1, 7)}, "INV": 1}, {})}
CARRIES  = {"ecp5": {"CCU2C": 2},           **_xilinx({"CARRY4": 0}, {"CARRY8": 0})}
MEMORIES = {"ecp5": {"TRELLIS_DPR16X4": 6}, **_xilinx(
    {"RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4, "RAM32X1D": 2, "RAM64X1D": 2,
        "RAM128X1D": 4, "RAM32M": 4, "RAM64M": 4, "SRL16E": 1, "SRLC16E": 1, "SRLC32E": 1},
    {"RAM512X1S": 8, "RAM256X1D": 8, "RAM32M16": 8, "RAM64M8": 8})}
FFS      = {"ecp5": {"TRELLIS_FF": 1},      **_xilinx({"FDRE": 1, "FDSE": 1, "FDCE": 1, "FDPE": 1}, {})}
BRAMS    = {"ecp5": {"DP16KD": 1},          **_xilinx({"RAMB36E1": 1, "RAMB18E1": 0.5},
    {"RAMB36E2": 1, "RAMB18E2": 0.5})}
DSPS     = {"ecp5": {"MULT18X18D": 1, "ALU54B": 0}, **_xilinx({"DSP48E1": 1}, {"DSP48E2": 1})}
FREE     = {"ecp5": {"PFUMX": 0, "L6MUX21": 0},     **_xilinx({"MUXF7": 0, "MUXF8": 0}, {"MUXF9": 0})}

# Other cells of a board use no LUT and no flip-flop: clocking, I/O buffers, serializers, delays, JTAG.
HARD = re.compile(r"BUFG(CTRL|CE|CE_DIV|_GT|_GT_SYNC)?|BUF(IO|R|H|MR)|[IO]+BUF(DS|T|TDS)?(_GTE[234]|E3)?|IBUFGDS|"
    r"(MMCM|PLL)E[234]_(ADV|BASE)|[IO](SERDES|DELAY)E[23]|IDELAYCTRL|[IO]DDR(E1)?|BSCANE2|STARTUPE[23]|DNA_PORT(E2)?")


@dataclass(frozen=True)
class Area:
    """Used resources. ``luts`` includes LUTs of carry chains and LUTs used as memory."""
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


def area(cells, family, boxes=()):
    """Returns the ``Area`` of cells by type without ``boxes``. Raises ``ValueError`` for an unknown cell type."""
    tables  = [table[family] for table in (LUTS, CARRIES, MEMORIES, FFS, BRAMS, DSPS, FREE)]
    known   = {kind for table in tables for kind in table} | set(boxes)
    unknown = sorted(kind for kind in set(cells) - known if not HARD.fullmatch(kind))
    if unknown:
        raise ValueError(f"cells of unknown size: {', '.join(unknown)}")
    logic, carry, memory, ffs, brams, dsps, _ = (sum(cells.get(kind, 0)*size for kind, size in table.items())
        for table in tables)
    return Area(logic + carry + memory, carry, memory, ffs, brams, dsps)
