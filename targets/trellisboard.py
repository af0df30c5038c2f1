#!/usr/bin/env python3

#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""TrellisBoard with an ECP5-5G of 85k LUTs: an endpoint in gateware, x1 of its two lanes, built by yosys and nextpnr.

    ./targets/trellisboard.py --build --load     makes a bitstream and loads it
    ./targets/trellisboard.py --driver           lays out driver and tool for the machine with the board
"""

import functools
import sys

import environment  # First: starts again in build/venv if LiteX is not here.  # noqa: F401

from litex_boards.platforms import trellisboard

from litepcie_soc.board.ecp5 import ECP5CRG, ECP5BoardSoC, device_name, ecp5_board
from litepcie_soc.build.main import main as board_main
from litepcie_soc.build.program import OpenFPGALoader

# Board --------------------------------------------------------------------------------------------

BOARD = ecp5_board("trellisboard",
    title      = "TrellisBoard",
    platform   = trellisboard.Platform,
    devices    = {"um5g-85k": 125e6},
    check_part = functools.partial(device_name, package="BG756"),
    slot_clock = False,  # The clock generator may take its crystal.
    programmer = OpenFPGALoader(cable="ft2232", image="_flash.bit"),
)

# BaseSoC ------------------------------------------------------------------------------------------


class BaseSoC(ECP5BoardSoC):
    def __init__(self, configuration):
        platform = trellisboard.Platform()
        ECP5BoardSoC.__init__(self, BOARD, platform, configuration, dcu=0, channel=0)
        self.crg = ECP5CRG(platform, self.sys_clk_freq)  # From 12 MHz: the pins of clk100 are no pair on revision 1.0.
        self.add_link()
        self.add_leds(platform.request_all("user_led"))

# Main ---------------------------------------------------------------------------------------------


def main(argv=None):
    return board_main(BOARD, BaseSoC, argv)


if __name__ == "__main__":
    sys.exit(main())
