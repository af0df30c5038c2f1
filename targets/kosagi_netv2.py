#!/usr/bin/env python3

#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Kosagi NeTV2: Artix-7 35T on a card, x4, DDR3.

    ./targets/kosagi_netv2.py --build --load     makes a bitstream and loads it
    ./targets/kosagi_netv2.py --driver           lays out driver and tool for the machine with the board
"""

import sys

import environment  # First: starts again in build/venv if LiteX is not here.  # noqa: F401

from migen import *

from litex.gen import *

from litex.soc.cores.clock import S7MMCM, S7PLL

from litedram.modules import K4B2G1646F

from litex_boards.platforms import kosagi_netv2

from litepcie_soc.board import series7
from litepcie_soc.board.board import Board, Flash, Memory, link_widths
from litepcie_soc.board.soc import BoardSoC
from litepcie_soc.build.main import main as board_main
from litepcie_soc.build.program import OpenFPGALoader
from litepcie_soc.common.link_rates import CLOCK_MARGIN
from litepcie_soc.ddr.ddr3 import DDRClocks

# Board --------------------------------------------------------------------------------------------

BOARD = Board("kosagi_netv2",
    title      = "Kosagi NeTV2",
    family     = "artix7",
    platform   = kosagi_netv2.Platform,
    links      = link_widths(series7.USER_CLOCKS, lanes=(1, 2, 4), sys_clk_freqs={125: 125e6, 250: 125e6}),
    link       = (2, 4),
    memory     = Memory(bram=1 << 16, ddr=1 << 29, kind="32 bit DDR3-800"),  # 16 of the 50 block RAMs.
    channels   = 3,  # By its registers, each takes about 3600 more of 20800 LUTs.
    ddr_clocks = (76e6, 100e6),  # From where the chips' DLL locks to this speed grade's DDR3-800 (DS181).
    programmer = OpenFPGALoader(part="xc7a35tfgg484", pins="27:22:4:17"),
    flash      = Flash(rate=50, volts=3.3, bitstream=2_192_012),
    gt_sites   = ("X0Y1", "X0Y2", "X0Y3", "X0Y0"),
)

# CRG ----------------------------------------------------------------------------------------------


class _CRG(LiteXModule):
    def __init__(self, platform, sys_clk_freq, with_ddr):
        self.cd_sys = ClockDomain()

        # # #

        self.pll = pll = (S7MMCM if with_ddr else S7PLL)(speedgrade=-2)
        pll.register_clkin(platform.request("clk50"), 50e6)
        if with_ddr:
            self.ddr = DDRClocks(pll, self.cd_sys, sys_clk_freq)
        else:
            pll.create_clkout(self.cd_sys, sys_clk_freq, margin=CLOCK_MARGIN)

# BaseSoC ------------------------------------------------------------------------------------------


class BaseSoC(BoardSoC):
    def __init__(self, configuration):
        BoardSoC.__init__(self, BOARD, kosagi_netv2.Platform(variant="a7-35"), configuration)
        self.crg = _CRG(self.platform, self.sys_clk_freq, configuration.with_ddr)
        memory   = None
        if configuration.with_ddr:
            memory = self.add_ddr3(self.platform.request("ddram"), K4B2G1646F)
        self.add_link(memory)
        self.add_leds(self.platform.request_all("user_led"))

# Main ---------------------------------------------------------------------------------------------


def main(argv=None):
    return board_main(BOARD, BaseSoC, argv)


if __name__ == "__main__":
    sys.exit(main())
