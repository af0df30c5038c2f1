#!/usr/bin/env python3

#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""SQRL XCU1525 (BCU1525, VCU1525): Virtex UltraScale+ VU9P on a card, x16, DDR4.

    ./targets/sqrl_xcu1525.py --build --load     makes a bitstream and loads it
    ./targets/sqrl_xcu1525.py --driver           lays out driver and tool for the machine with the board
"""

import sys

import environment  # First: starts again in build/venv if LiteX is not here.  # noqa: F401

from migen import *

from litex.gen import *

from litex.soc.cores.clock import USPMMCM

from litedram.modules import MT40A512M8

from litex_boards.platforms import sqrl_xcu1525

from litepcie_soc.board import ultrascale
from litepcie_soc.board.board import Board, Flash, Memory, link_widths
from litepcie_soc.board.soc import BoardSoC
from litepcie_soc.build.main import main as board_main
from litepcie_soc.build.vivado import Vivado
from litepcie_soc.common.link_rates import CLOCK_MARGIN
from litepcie_soc.ddr.ddr4 import UltraScaleDDRClocks

# Board --------------------------------------------------------------------------------------------

BOARD = Board("sqrl_xcu1525",
    title      = "SQRL XCU1525",
    family     = "ultrascale_plus",
    platform   = sqrl_xcu1525.Platform,
    links      = link_widths(ultrascale.USER_CLOCKS, lanes=(2, 4, 8, 16), sys_clk_freqs={125: 125e6, 250: 250e6}),
    link       = (3, 16),
    # 256 of the 720 block RAMs of a die; another die is far, at 250 MHz. A module of one rank, of eight chips.
    memory     = Memory(bram=1 << 20, ddr=4 << 30, kind="64 bit DDR4-1250", ddr_rate=10e9),
    programmer = Vivado(device="xcvu9p", memory="mt25qu01g-spi-x1_x2_x4"),
    flash      = Flash(rate=85.0, volts=1.8, bitstream=80_159_108, mbytes=128, kind="mcs"),
    tags       = 256,
)

# CRG ----------------------------------------------------------------------------------------------


class _CRG(LiteXModule):
    def __init__(self, platform, sys_clk_freq, with_ddr):
        self.cd_sys = ClockDomain()

        # # #

        # The DDR uses the oscillator next to its module's banks. `sys` uses the next one, with DDR or without.
        self.pll = pll = USPMMCM(speedgrade=-2)
        pll.register_clkin(platform.request("clk300", 1), 300e6)
        pll.create_clkout(self.cd_sys, sys_clk_freq, margin=CLOCK_MARGIN)
        if with_ddr:
            self.ddr = UltraScaleDDRClocks(platform.request("clk300", 0), 300e6, plus=True)

# BaseSoC ------------------------------------------------------------------------------------------


class BaseSoC(BoardSoC):
    def __init__(self, configuration):
        BoardSoC.__init__(self, BOARD, sqrl_xcu1525.Platform(), configuration)
        self.crg = _CRG(self.platform, self.sys_clk_freq, configuration.with_ddr)
        memory   = None
        if configuration.with_ddr:
            memory = self.add_ddr4(self.platform.request("ddram", 0), MT40A512M8)
            # LiteX's own target does the same: Vivado 2018.2 stops at this check.
            self.platform.add_platform_command("set_property SEVERITY {{Warning}} [get_drc_checks PDCN-2736]")
        self.add_link(memory)
        self.add_leds(self.platform.request_all("user_led"))

# Main ---------------------------------------------------------------------------------------------


def main(argv=None):
    return board_main(BOARD, BaseSoC, argv)


if __name__ == "__main__":
    sys.exit(main())
