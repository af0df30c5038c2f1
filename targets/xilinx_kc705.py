#!/usr/bin/env python3

#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Xilinx KC705: Kintex-7 325T on a card, x8, DDR3.

    ./targets/xilinx_kc705.py --build --load     makes a bitstream and loads it
    ./targets/xilinx_kc705.py --driver           lays out driver and tool for the machine with the board
"""

import sys

import environment  # First: starts again in build/venv if LiteX is not here.  # noqa: F401

from migen import *

from litex.gen import *

from litex.soc.cores.clock import S7MMCM

from litedram.modules import MT8JTF12864

from litex_boards.platforms import xilinx_kc705

from litepcie_soc.board import series7
from litepcie_soc.board.board import Board, Flash, Memory, link_widths
from litepcie_soc.board.soc import BoardSoC
from litepcie_soc.build.main import main as board_main
from litepcie_soc.build.program import OpenFPGALoader
from litepcie_soc.common.link_rates import CLOCK_MARGIN
from litepcie_soc.ddr.ddr3 import DDRClocks

# Board --------------------------------------------------------------------------------------------

BOARD = Board("xilinx_kc705",
    title      = "Xilinx KC705",
    family     = "kintex7",
    platform   = xilinx_kc705.Platform,
    # 200 MHz is what this speed grade can be asked for, and 128 bit too little for Gen2 x8 then. 256 carry it at 150:
    # at 125 a completion of 64 bytes, three beats, takes longer than on the link.
    links      = link_widths(series7.USER_CLOCKS, lanes=(1, 2, 4, 8), sys_clk_freqs={125: 125e6, 250: 200e6},
        doubled=150e6),
    link       = (2, 4),
    memory     = Memory(bram=1 << 20, ddr=1 << 30, kind="64 bit DDR3-1000"),  # 256 of the 445 block RAMs.
    # From where the chips' DLL locks to DDR3-1200: the module does 1333, serializers of this grade 1250 at least.
    ddr_clocks = (76e6, 150e6),
    programmer = OpenFPGALoader(board="kc705", part="xc7k325tffg900"),
    flash      = Flash(rate=50, volts=2.5, bitstream=11_443_612),
    gt_sites   = tuple(f"X0Y{y}" for y in reversed(range(8))),
)

# CRG ----------------------------------------------------------------------------------------------


class _CRG(LiteXModule):
    def __init__(self, platform, sys_clk_freq, with_ddr):
        self.cd_sys = ClockDomain()

        # # #

        self.pll = pll = S7MMCM(speedgrade=-2)
        pll.register_clkin(platform.request("clk200"), 200e6)
        if with_ddr:
            self.ddr = DDRClocks(pll, self.cd_sys, sys_clk_freq, with_dqs=False)
        else:
            pll.create_clkout(self.cd_sys, sys_clk_freq, margin=CLOCK_MARGIN)

# BaseSoC ------------------------------------------------------------------------------------------


class BaseSoC(BoardSoC):
    def __init__(self, configuration):
        BoardSoC.__init__(self, BOARD, xilinx_kc705.Platform(), configuration)
        self.crg = _CRG(self.platform, self.sys_clk_freq, configuration.with_ddr)
        memory   = None
        if configuration.with_ddr:
            memory = self.add_ddr3(self.platform.request("ddram"), MT8JTF12864)
        self.add_link(memory)
        self.add_leds(self.platform.request_all("user_led"))

# Main ---------------------------------------------------------------------------------------------


def main(argv=None):
    return board_main(BOARD, BaseSoC, argv)


if __name__ == "__main__":
    sys.exit(main())
