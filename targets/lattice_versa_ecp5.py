#!/usr/bin/env python3

#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Lattice Versa ECP5-5G and ECP5: an endpoint in gateware, x1, built by yosys and nextpnr.

    ./targets/lattice_versa_ecp5.py --build --load     makes a bitstream and loads it
    ./targets/lattice_versa_ecp5.py --driver           lays out driver and tool for the machine with the board
"""

import sys

import environment  # First: starts again in build/venv if LiteX is not here.  # noqa: F401

from litex_boards.platforms import lattice_versa_ecp5

from litepcie_soc.board.ecp5 import ECP5CRG, ECP5BoardSoC, device_name, ecp5_board
from litepcie_soc.build.main import main as board_main
from litepcie_soc.build.program import OpenFPGALoader

# Board --------------------------------------------------------------------------------------------

BOARD = ecp5_board("lattice_versa_ecp5",
    title      = "Lattice Versa ECP5",
    platform   = lattice_versa_ecp5.Platform,
    devices    = {"um5g-45k": 125e6, "um-45k": 125e6},
    programmer = OpenFPGALoader(cable="ft2232", image="_flash.bit"),
)

# BaseSoC ------------------------------------------------------------------------------------------


class BaseSoC(ECP5BoardSoC):
    def __init__(self, configuration):
        platform        = lattice_versa_ecp5.Platform()
        platform.device = device_name(configuration.device)
        ECP5BoardSoC.__init__(self, BOARD, platform, configuration, dcu=0, channel=0)
        self.crg = ECP5CRG(platform, self.sys_clk_freq)
        self.add_link()
        self.add_leds(platform.request_all("user_led"))

# Main ---------------------------------------------------------------------------------------------


def main(argv=None):
    return board_main(BOARD, BaseSoC, argv)


if __name__ == "__main__":
    sys.exit(main())
