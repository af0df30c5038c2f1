# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""The board NAME in simulation.

    python target.py            builds the board and program.c, boots the guest and runs the program there
    python target.py --load     gives a shell in that guest
    python target.py --driver   lays out driver, library and tool with the headers of this board in build/driver
"""

import sys

from pathlib import Path

from core import Core

from litepcie_sim.user import SimSoC, main
from litepcie_soc.stream_dma.port import StreamPort

HERE = Path(__file__).resolve().parent


class SoC(SimSoC):
    card = {"streams": 1, "user_bus": True}  # user_bus: the registers of the SoC are /dev/litepcie0_user.

    def __init__(self):
        SimSoC.__init__(self, gen=2, lanes=4)
        self.core  = core = Core()
        self.port  = port = StreamPort(self.streams[0], data_width=32)
        self.comb += port.source.connect(core.sink), core.source.connect(port.sink)


if __name__ == "__main__":
    sys.exit(main(SoC, "NAME", [HERE / "program.c"], "program", folder=HERE / "build"))
