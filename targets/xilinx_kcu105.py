#!/usr/bin/env python3

#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Xilinx KCU105: Kintex UltraScale 040 on a card, x8, DDR4.

    ./targets/xilinx_kcu105.py --build --load     makes a bitstream and loads it
    ./targets/xilinx_kcu105.py --driver           lays out driver and tool for the machine with the board
"""

import sys

import environment  # First: starts again in build/venv if LiteX is not here.  # noqa: F401

from migen import *

from litex.gen import *

from litex.soc.cores.clock import USMMCM

from litedram.modules import EDY4016A

from litex_boards.platforms import xilinx_kcu105

from litepcie_soc.board import ultrascale
from litepcie_soc.board.board import Board, Flash, Memory, link_widths
from litepcie_soc.board.soc import BoardSoC
from litepcie_soc.build.main import main as board_main
from litepcie_soc.build.program import OpenFPGALoader
from litepcie_soc.common.link_rates import CLOCK_MARGIN
from litepcie_soc.ddr.ddr4 import UltraScaleDDRClocks

# Board --------------------------------------------------------------------------------------------

BOARD = Board("xilinx_kcu105",
    title      = "Xilinx KCU105",
    family     = "ultrascale",
    platform   = xilinx_kcu105.Platform,
    # 512 bits at 166.7 MHz are never slower than 256 bits at the block's 250 MHz: two beats take the time of three.
    links      = link_widths(ultrascale.USER_CLOCKS, lanes=(1, 2, 4, 8), sys_clk_freqs={125: 125e6, 250: 250e6},
        doubled=500e6/3),
    link       = (3, 8),
    # 256 of the 600 block RAMs; all of the four chips.
    memory     = Memory(bram=1 << 20, ddr=2 << 30, kind="64 bit DDR4-1250", ddr_rate=10e9),
    programmer = OpenFPGALoader(board="kcu105"),
    flash      = Flash(rate=50, volts=1.8, bitstream=16_006_908, mbytes=32),
)

# CRG ----------------------------------------------------------------------------------------------


class _CRG(LiteXModule):
    def __init__(self, platform, sys_clk_freq, with_ddr):
        self.cd_sys = ClockDomain()

        # # #

        self.pll = pll = USMMCM(speedgrade=-2)
        pll.register_clkin(platform.request("clk125"), 125e6)
        pll.create_clkout(self.cd_sys, sys_clk_freq, margin=CLOCK_MARGIN)
        if with_ddr:
            clk300   = platform.request("clk300")
            self.ddr = UltraScaleDDRClocks(clk300, 300e6, plus=False)
            # The FPGA ends this pair, as in the board's constraints file (UG917).
            platform.add_platform_command("set_property ODT RTT_48 [get_ports {{{p} {n}}}]", p=clk300.p, n=clk300.n)

# BaseSoC ------------------------------------------------------------------------------------------


class BaseSoC(BoardSoC):
    def __init__(self, configuration):
        BoardSoC.__init__(self, BOARD, xilinx_kcu105.Platform(), configuration)
        self.crg = _CRG(self.platform, self.sys_clk_freq, configuration.with_ddr)
        memory   = None
        if configuration.with_ddr:
            memory = self.add_ddr4(self.platform.request("ddram"), EDY4016A)
        self.add_link(memory)
        self.add_leds(self.platform.request_all("user_led"))

# Main ---------------------------------------------------------------------------------------------


def main(argv=None):
    return board_main(BOARD, BaseSoC, argv)


if __name__ == "__main__":
    sys.exit(main())
