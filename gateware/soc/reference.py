#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A SoC without a board, from which tools derive the files that are the same on every board."""

from litex.build.generic_platform import GenericPlatform

from litepcie_soc.phy.sim import SimPHY
from litepcie_soc.soc.soc import LitePCIeSoC

# Reference SoC ------------------------------------------------------------------------------------


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
