#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The hard block of Artix-7 and Kintex-7, in every shape it has."""

from litepcie_soc.common.abi import BAR0_SIZE
from litepcie_soc.phy import series7 as phy

# Links --------------------------------------------------------------------------------------------

# User clock in MHz, by (gen, lanes, bits): what the block offers that carries the link (PG054 "Interface Width").
USER_CLOCKS = {
    (1, 1,  64): 125,
    (1, 2,  64): 125,
    (1, 4,  64): 125,
    (1, 8,  64): 250,
    (1, 8, 128): 125,
    (2, 1,  64): 125,
    (2, 2,  64): 125,
    (2, 4,  64): 250,
    (2, 4, 128): 125,
    (2, 8, 128): 250,
}


def links(lanes, sys_clk_freqs, doubled=None):
    """``links`` of a ``Board``: every shape of the block up to its lanes, the widest data path first.

    lanes         : of the board's links.
    sys_clk_freqs : {user clock in MHz: Hz of ``sys``}: what the fabric of this board reaches.
    doubled       : Hz of ``sys`` for twice the block's bits, where even its widest asks for 250 MHz; None: not offered.
    """
    found = {}
    for (gen, n, width), clock in sorted(USER_CLOCKS.items(), key=lambda item: (*item[0][:2], -item[0][2])):
        if n in lanes:
            if clock == 250 and doubled and (gen, n) not in found:
                found[gen, n] = {2 * width: doubled}
            found.setdefault((gen, n), {})[width] = sys_clk_freqs[clock]
    return found

# PHY ----------------------------------------------------------------------------------------------


class Series7PHY(phy.Series7PHY):
    """LitePCIe's PHY, which knows Gen2 at x1 and x2 of 64 bit and x4 and x8 of 128 bit, in every shape.

    Parameters
    ----------
    platform, pads : where the block is and its lanes.
    configuration  : ``Configuration``: gen, lanes, data width.
    """
    def __init__(self, platform, pads, configuration):
        gen, width = configuration.gen, configuration.data_width
        bits       = width if (gen, configuration.lanes, width) in USER_CLOCKS else width // 2
        user_clock = USER_CLOCKS[gen, configuration.lanes, bits]
        phy.Series7PHY.__init__(self, platform, pads, data_width=width, pcie_data_width=bits, bar0_size=BAR0_SIZE)
        self.set_user_clocks(user_clock * 1e6, bits)
        self.update_config({
            "Link_Speed":         {1: "2.5_GT/s", 2: "5.0_GT/s"}[gen],
            "Trgt_Link_Speed":    f"4'h{gen}",
            "User_Clk_Freq":      user_clock,
            "Extended_Tag_Field": True,
            "MSI_64b":            True,
        })

    def set_user_clocks(self, freq, width):
        """The block's own side has 64 bits: ``userclk1`` is twice the user clock where that has 128 (PG054)."""
        for n, clock in ((2, freq * width / 64), (3, freq)):  # In the order LitePCIe makes them: userclk1, userclk2.
            clkout, _, phase, margin = self.mmcm.clkouts[n]
            self.mmcm.clkouts[n] = (clkout, clock, phase, margin)
