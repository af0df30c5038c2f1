#!/usr/bin/env python3

#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Xilinx AC701: Artix-7 200T on a card, x4, DDR3.

    ./targets/xilinx_ac701.py --build --load     makes a bitstream and loads it
    ./targets/xilinx_ac701.py --driver           lays out driver and tool for the machine with the board
"""

import sys

import environment  # First: starts again in build/venv if LiteX is not here.  # noqa: F401

from migen import *

from litex.gen import *

from litex.soc.cores.clock import S7MMCM, S7PLL

from litedram.common import PHYPadsReducer
from litedram.modules import MT8JTF12864

from litex_boards.platforms import xilinx_ac701

from litepcie_soc.board import series7
from litepcie_soc.board.board import Board, Flash, Memory, link_widths
from litepcie_soc.board.soc import BoardSoC
from litepcie_soc.build.main import main as board_main
from litepcie_soc.build.program import OpenFPGALoader
from litepcie_soc.common.link_rates import CLOCK_MARGIN
from litepcie_soc.ddr.ddr3 import DDRClocks

# Board --------------------------------------------------------------------------------------------

BOARD = Board("xilinx_ac701",
    title      = "Xilinx AC701",
    family     = "artix7",
    platform   = xilinx_ac701.Platform,
    links      = link_widths(series7.USER_CLOCKS, lanes=(1, 2, 4), sys_clk_freqs={125: 125e6, 250: 125e6}),
    link       = (2, 4),
    memory     = Memory(bram=1 << 20, ddr=1 << 29, kind="32 of 64 bit DDR3-800"),  # 256 of the 365 block RAMs.
    ddr_clocks = (76e6, 100e6),  # From where the chips' DLL locks to this speed grade's DDR3-800 (DS181).
    programmer = OpenFPGALoader(board="ac701"),
    flash      = Flash(rate=50, volts=3.3, bitstream=9_730_652),
    gt_sites   = ("X0Y7", "X0Y6", "X0Y5", "X0Y4"),
)

# Four of the SODIMM's eight bytes. Its clock reaches each chip later than the one before. Artix-7 has no output delays,
# so bytes whose chips are far apart cannot be written at the same time.
DDR_BYTES = (0, 1, 2, 3)

# CRG ----------------------------------------------------------------------------------------------


class _CRG(LiteXModule):
    def __init__(self, platform, sys_clk_freq, with_ddr):
        self.cd_sys = ClockDomain()

        # # #

        self.pll = pll = (S7MMCM if with_ddr else S7PLL)(speedgrade=-2)
        pll.register_clkin(platform.request("clk200"), 200e6)
        if with_ddr:
            self.ddr = DDRClocks(pll, self.cd_sys, sys_clk_freq)
        else:
            pll.create_clkout(self.cd_sys, sys_clk_freq, margin=CLOCK_MARGIN)

# BaseSoC ------------------------------------------------------------------------------------------


class BaseSoC(BoardSoC):
    def __init__(self, configuration):
        BoardSoC.__init__(self, BOARD, xilinx_ac701.Platform(), configuration)
        self.crg = _CRG(self.platform, self.sys_clk_freq, configuration.with_ddr)
        memory   = None
        if configuration.with_ddr:
            pads   = self.platform.request("ddram")
            memory = self.add_ddr3(PHYPadsReducer(pads, DDR_BYTES), MT8JTF12864)
            # Chips that are not used are not written.
            unused = range(max(DDR_BYTES) + 1, len(pads.dm))
            self.specials += [Instance("OBUF", i_I=1, o_O=pads.dm[n]) for n in unused]
        self.add_link(memory)
        self.add_leds(self.platform.request_all("user_led"))

# Main ---------------------------------------------------------------------------------------------


def main(argv=None):
    return board_main(BOARD, BaseSoC, argv)


if __name__ == "__main__":
    sys.exit(main())
