# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""The board TARGET with the logic of NAME, in simulation.

    python sim.py            builds the board and program.c, boots the guest and runs the program there
    python sim.py --load     gives a shell in that guest
"""

import sys

from pathlib import Path

from core import CARD, add_core

from litepcie_sim.user import SimSoC, main
from litepcie_soc.board.simulated import simulated
from litepcie_soc.build.targets import load

HERE = Path(__file__).resolve().parent


class SoC(SimSoC):
    card = CARD

    def __init__(self):
        SimSoC.__init__(self, **simulated(load("TARGET").BOARD))
        add_core(self)


if __name__ == "__main__":
    sys.exit(main(SoC, "NAME", [HERE / "program.c"], "program", folder=HERE / "build" / "sim"))
