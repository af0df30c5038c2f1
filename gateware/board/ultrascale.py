#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The hard blocks of UltraScale and UltraScale+ in all their widths."""

from litepcie_soc.common.abi import BAR0_SIZE
from litepcie_soc.phy.ultrascale import phy

# User clocks --------------------------------------------------------------------------------------

# User clock in MHz, by (gen, lanes, bits): of all blocks, and of PCIE4C.
USER_CLOCKS = phy.GEN3_CLOCKS
PCIE4C_USER_CLOCKS = phy.USER_CLOCKS

# PHYs ---------------------------------------------------------------------------------------------


def made_from(phy_class):
    """Returns a function that makes a PHY from a platform, pads and a ``Configuration``, as ``BoardSoC`` calls it."""
    def make(platform, pads, configuration):
        return phy_class(platform, pads, speed=f"gen{configuration.gen}", data_width=configuration.data_width,
            bar0_size=BAR0_SIZE, lower_address_bits=configuration.lower_address_bits)
    return make


ultrascale_phy      = made_from(phy.UltraScalePHY)
ultrascale_plus_phy = made_from(phy.UltraScalePlusPHY)
