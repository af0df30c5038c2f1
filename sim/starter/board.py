# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""The board TARGET with the logic of NAME.

    python board.py --build --load     makes a bitstream and loads it
    python board.py --driver           lays out driver, library and tool for the machine with the board
"""

import sys

from pathlib import Path

from core import CARD, add_core

from litepcie_soc.build.main import main
from litepcie_soc.build.targets import load

HERE   = Path(__file__).resolve().parent
target = load("TARGET")


class SoC(target.BaseSoC):
    card = CARD

    def __init__(self, configuration):
        target.BaseSoC.__init__(self, configuration)
        add_core(self)


if __name__ == "__main__":
    sys.exit(main(target.BOARD, SoC, program="board.py", builds=HERE / "build"))
