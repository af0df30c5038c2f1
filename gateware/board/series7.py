#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The hard block of Artix-7 and Kintex-7 in all its link and data widths."""

from litepcie_soc.common.abi import BAR0_SIZE
from litepcie_soc.phy.series7 import Series7PHY

# User clocks --------------------------------------------------------------------------------------

# User clock in MHz by (gen, lanes, bits): settings of the block that keep up with the link (PG054 "Interface Width").
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

# PHY ----------------------------------------------------------------------------------------------


def series7_phy(platform, pads, configuration):
    """Returns LitePCIe's PHY, configured for any generation, lanes and data width of the block.

    By itself LitePCIe's PHY supports Gen2 only: x1 and x2 at 64 bit, x4 and x8 at 128 bit.

    platform, pads : LiteX platform and the pads of the lanes.
    configuration  : ``Configuration`` with gen, lanes and data width.
    """
    gen, width = configuration.gen, configuration.data_width
    bits       = width if (gen, configuration.lanes, width) in USER_CLOCKS else width // 2
    user_clock = USER_CLOCKS[gen, configuration.lanes, bits]
    phy        = Series7PHY(platform, pads, data_width=width, pcie_data_width=bits, bar0_size=BAR0_SIZE)
    set_user_clocks(phy, user_clock * 1e6, bits)
    phy.update_config({
        "Link_Speed":         {1: "2.5_GT/s", 2: "5.0_GT/s"}[gen],
        "Trgt_Link_Speed":    f"4'h{gen}",
        "User_Clk_Freq":      user_clock,
        "Extended_Tag_Field": True,
        "MSI_64b":            True,
    })
    return phy


def set_user_clocks(phy, freq, width):
    """Sets the user clocks. The block has 64 bits, so ``userclk1`` is twice the user clock at 128 bit (PG054)."""
    for n, clock in ((2, freq * width / 64), (3, freq)):  # LitePCIe creates userclk1, then userclk2.
        clkout, _, phase, margin = phy.mmcm.clkouts[n]
        phy.mmcm.clkouts[n] = (clkout, clock, phase, margin)

# Lanes --------------------------------------------------------------------------------------------

CHANNELS = {"xc7a": ("GTPE2", "gtp_channel.gtpe2_channel_i"), "xc7k": ("GTXE2", "gtx_channel.gtxe2_channel_i")}


def place_lanes(platform, sites):
    """Places the transceivers of lane 0 and up, instead of where the constraints of the IP place them.

    The IP places lane 0 at the highest transceiver of its column and the other lanes below, whatever pins they have.

    sites : places such as "X0Y4", one for each lane of the link.
    """
    site, cell = CHANNELS[platform.device[:4]]
    select     = "[get_cells -hierarchical -filter {{{{NAME=~pcie_s7/*{}}}}}]".format
    commands   = [f"reset_property LOC {select(cell)}"]
    for lane, place in enumerate(sites):
        commands.append(f"set_property LOC {site}_CHANNEL_{place} {select(f'pipe_lane[{lane}].gt_wrapper_i/{cell}')}")
    platform.toolchain.pre_placement_commands += commands
