#!/usr/bin/env python3

#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""SQRL Acorn CLE-215+: Artix-7 200T on M.2, x4, DDR3. Also CLE-215 and NiteFury: ``--device xc7a200t-2``, no DDR.

    ./targets/sqrl_acorn.py --build --load       makes a bitstream and loads it
    ./targets/sqrl_acorn.py --driver             lays out driver and tool for the machine with the board
"""

import sys

import environment  # First: starts again in build/venv if LiteX is not here.  # noqa: F401

from migen import *

from litex.gen import *

from litex.soc.cores.clock import S7MMCM, S7PLL

from litedram.modules import MT41K512M16

from litex_boards.platforms import sqrl_acorn

from litepcie_soc.board import series7
from litepcie_soc.board.board import Board, Flash, Memory, link_widths
from litepcie_soc.board.soc import BoardSoC
from litepcie_soc.build.main import main as board_main
from litepcie_soc.build.program import OpenFPGALoader
from litepcie_soc.common.link_rates import CLOCK_MARGIN
from litepcie_soc.ddr.ddr3 import DDRClocks

# Board --------------------------------------------------------------------------------------------

# Variants of LiteX's platform: the package, its pins and the flash are the same.
VARIANTS = {"xc7a200t-3": "cle-215+", "xc7a200t-2": "cle-215"}

BOARD = Board("sqrl_acorn",
    title      = "SQRL Acorn CLE-215+",
    family     = "artix7",
    platform   = sqrl_acorn.Platform,
    links      = link_widths(series7.USER_CLOCKS, lanes=(1, 2, 4), sys_clk_freqs={125: 125e6, 250: 125e6}),
    link       = (2, 4),
    memory     = Memory(bram=1 << 20, ddr=1 << 30, kind="16 bit DDR3-1000"),  # 256 of the 365 block RAMs.
    programmer = OpenFPGALoader(board="acornCle215"),
    flash      = Flash(rate=50, volts=3.3, bitstream=9_730_652),
    gt_sites   = ("X0Y6", "X0Y4", "X0Y5", "X0Y7"),
    devices    = dict.fromkeys(VARIANTS, 250e6),
    ddr_device = "xc7a200t-3",          # Other cards have other chips.
    ddr_clocks = (76e6, 133e6),         # From where the chips' DLL locks to this speed grade's DDR3-1066 (DS181).
)

# CRG ----------------------------------------------------------------------------------------------


class _CRG(LiteXModule):
    def __init__(self, platform, sys_clk_freq, with_ddr):
        self.cd_sys = ClockDomain()

        # # #

        speedgrade    = -int(platform.device[-1])
        self.pll = pll = (S7MMCM if with_ddr else S7PLL)(speedgrade=speedgrade)
        pll.register_clkin(platform.request("clk200"), 200e6)
        if with_ddr:
            self.ddr = DDRClocks(pll, self.cd_sys, sys_clk_freq)
        else:
            pll.create_clkout(self.cd_sys, sys_clk_freq, margin=CLOCK_MARGIN)

# BaseSoC ------------------------------------------------------------------------------------------


class BaseSoC(BoardSoC):
    def __init__(self, configuration):
        BoardSoC.__init__(self, BOARD, sqrl_acorn.Platform(VARIANTS[configuration.device]), configuration)
        self.crg = _CRG(self.platform, self.sys_clk_freq, configuration.with_ddr)
        memory   = None
        if configuration.with_ddr:
            memory = self.add_ddr3(self.platform.request("ddram"), MT41K512M16)
        self.add_link(memory)
        self.add_leds(self.platform.request_all("user_led"))
        self.comb += self.platform.request("pcie_clkreq_n").eq(0)

# Main ---------------------------------------------------------------------------------------------


def main(argv=None):
    return board_main(BOARD, BaseSoC, argv)


if __name__ == "__main__":
    sys.exit(main())
