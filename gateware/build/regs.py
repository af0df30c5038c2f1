#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Generates the committed headers of registers, from the gateware.

    python3 -m litepcie_soc.build.regs --write     updates those of the driver and the lane
    python3 -m litepcie_soc.build.regs --check     compares them; exit status 1 if one differs
"""

import logging
import sys

from litex.build.generic_platform import GenericPlatform

from litepcie_soc.build import generated
from litepcie_soc.endpoint import LANE_HEADER, lane_header
from litepcie_soc.phy.sim import SimPHY
from litepcie_soc.soc.regs import COMMITTED, header
from litepcie_soc.soc.soc import LitePCIeSoC

# SoC ----------------------------------------------------------------------------------------------
# A SoC without a board, from which tools derive the files that are the same on every board.


class ReferenceSoC(LitePCIeSoC):
    """SoC with a simulation PHY without pads, a small memory, ``channels`` memory channels and ``streams`` streams.

    soc_options : parameters of LiteX's SoC, as a dict.
    options     : further parameters of ``add_litepcie``.
    """
    def __init__(self, data_width=128, channels=1, memory_size=64 << 10, streams=0, soc_options=None, **options):
        LitePCIeSoC.__init__(self, GenericPlatform("none", [], name="reference"), 125e6, **soc_options or {})
        self.pcie_phy = SimPHY(data_width)
        self.add_litepcie(self.pcie_phy, target="reference", gen=2, lanes=4,
            memory_size=memory_size, channels=channels, streams=streams, **options)

# Headers ------------------------------------------------------------------------------------------


def text(_committed):
    """Returns the header of a SoC without a board. All boards have the same pinned registers."""
    soc = ReferenceSoC()
    soc.finalize()
    return header(soc)


def main(argv=None):
    logging.basicConfig(level=logging.WARNING)  # LiteX logs much at INFO.
    return generated.main(argv, "litepcie_soc.build.regs", "The pinned registers, and the lane's state, as C headers.",
        {COMMITTED: text, LANE_HEADER: lambda _committed: lane_header()})


if __name__ == "__main__":
    sys.exit(main())
