#!/usr/bin/env python3

#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Xilinx Alveo U280: Virtex UltraScale+ with HBM on a card, Gen4 x8 or Gen3 x16.

    ./targets/xilinx_alveo_u280.py --build --load     makes a bitstream and loads it
    ./targets/xilinx_alveo_u280.py --driver           lays out driver and tool for the machine with the board
"""

import sys

import environment  # First: starts again in build/venv if LiteX is not here.  # noqa: F401

from migen import *

from litex.gen import *

from litex.build.generic_platform import IOStandard, Misc, Pins
from litex.build.xilinx import XilinxUSPPlatform
from litex.soc.cores.clock import USPMMCM

from litex_boards.platforms import xilinx_alveo_u280

from litepcie_soc.board import ultrascale
from litepcie_soc.board.board import Board, Flash, Memory, link_widths
from litepcie_soc.board.soc import BoardSoC
from litepcie_soc.build.main import main as board_main
from litepcie_soc.build.vivado import Vivado
from litepcie_soc.common.link_rates import CLOCK_MARGIN

FLASH_START = 0x01002000  # Behind the image the card comes with, which it falls back to.

# Platform -----------------------------------------------------------------------------------------

# The satellite controller of the card takes a high level, or none, for too hot an HBM and switches the power off
# (UG1314, "CATTRIP"). LiteX-Boards has this pin as the second user LED.
_CATTRIP = [("hbm_cattrip", 0, Pins("D32"), IOStandard("LVCMOS18"), Misc("PULLTYPE=PULLDOWN"))]


class _Platform(xilinx_alveo_u280.Platform):
    def __init__(self):
        xilinx_alveo_u280.Platform.__init__(self)
        self.device = "xcu280-fsvh2892-2L-e"  # LiteX-Boards has the first samples.
        self.add_extension(_CATTRIP)

    def do_finalize(self, fragment):
        # Without what LiteX-Boards adds for DDR4 and HBM, which are not used: Vivado stops at a net that is not there.
        XilinxUSPPlatform.do_finalize(self, fragment)
        self.add_period_constraint(self.lookup_request("sysclk", 0, loose=True), 1e9/100e6)
        self.add_platform_command("set_property BITSTREAM.CONFIG.OVERTEMPSHUTDOWN ENABLE [current_design]")

# Board --------------------------------------------------------------------------------------------

BOARD = Board("xilinx_alveo_u280",
    title      = "Xilinx Alveo U280",
    family     = "ultrascale_plus",
    platform   = _Platform,
    links      = link_widths(ultrascale.PCIE4C_USER_CLOCKS, lanes=(4, 8, 16), sys_clk_freqs={125: 125e6, 250: 250e6}),
    link       = (4, 8),
    memory     = Memory(bram=1 << 20),
    programmer = Vivado(device="xcu280", memory="mt25qu01g-spi-x1_x2_x4"),
    flash      = Flash(rate=63.8, volts=1.8, bitstream=None, mbytes=128, kind="mcs", start=FLASH_START),
    tags       = 256,
)

# CRG ----------------------------------------------------------------------------------------------


class _CRG(LiteXModule):
    def __init__(self, platform, sys_clk_freq):
        self.cd_sys = ClockDomain()

        # # #

        self.pll = pll = USPMMCM(speedgrade=-2)
        pll.register_clkin(platform.request("sysclk", 0), 100e6)
        pll.create_clkout(self.cd_sys, sys_clk_freq, margin=CLOCK_MARGIN)

# BaseSoC ------------------------------------------------------------------------------------------


class BaseSoC(BoardSoC):
    def __init__(self, configuration):
        BoardSoC.__init__(self, BOARD, _Platform(), configuration)
        self.crg = _CRG(self.platform, self.sys_clk_freq)
        self.add_link(None)
        self.comb += self.platform.request("hbm_cattrip").eq(0)
        self.add_leds([self.platform.request("gpio_led", n) for n in (0, 2)])

# Main ---------------------------------------------------------------------------------------------


def main(argv=None):
    return board_main(BOARD, BaseSoC, argv)


if __name__ == "__main__":
    sys.exit(main())
