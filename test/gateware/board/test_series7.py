#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The configuration, lanes and constraints of the 7-series hard block, for every shape."""

import pytest

from litex_boards.platforms import sqrl_acorn, xilinx_ac701, xilinx_kc705

from litepcie_soc.board.board import Configuration
from litepcie_soc.board.pads import link_pads
from litepcie_soc.board.series7 import USER_CLOCKS, series7_phy


def make(gen, lanes, width):
    platform = xilinx_kc705.Platform()
    return series7_phy(platform, link_pads(platform, lanes), Configuration(gen, lanes, width, 125e6, 64))

# Configuration ------------------------------------------------------------------------------------


@pytest.mark.parametrize("gen, lanes, width", USER_CLOCKS)
def test_block_is_what_the_link_needs(gen, lanes, width):
    phy  = make(gen, lanes, width)
    mhz  = USER_CLOCKS[gen, lanes, width]
    assert (phy.nlanes, phy.data_width, phy.pcie_data_width) == (lanes, width, width)
    assert phy.config == {
        "Link_Speed":         {1: "2.5_GT/s", 2: "5.0_GT/s"}[gen],
        "Trgt_Link_Speed":    {1: "4'h1", 2: "4'h2"}[gen],
        "User_Clk_Freq":      mhz,
        "Extended_Tag_Field": True,
        "MSI_64b":            True,
    }
    # The block's own side is 64 bit wide: userclk1 carries there what the user clock carries outside.
    freqs = [freq for _, freq, *_ in phy.mmcm.clkouts.values()]
    assert freqs == [125e6, 250e6, mhz * 1e6 * width / 64, mhz * 1e6]


def test_clocks_keep_their_order():
    """LitePCIe's PHY makes userclk1 and userclk2 third and fourth. We change these clocks by their position."""
    phy   = make(2, 4, 128)
    names = ["clk125", "clk250", "userclk1", "userclk2"]
    assert len(phy.mmcm.clkouts) == len(names)
    freqs = [phy.mmcm.clkouts[n][1] for n in range(4)]
    assert freqs == [125e6, 250e6, 250e6, 125e6]  # LitePCIe's own for this shape.

# Lanes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("platform_class, lanes, rx", [
    (sqrl_acorn.Platform,   1, ["B10"]),
    (sqrl_acorn.Platform,   2, ["B10", "B8"]),
    (sqrl_acorn.Platform,   4, ["B10", "B8", "D11", "D9"]),
])
def test_lanes_are_the_first_of_the_wider_link(platform_class, lanes, rx):
    platform = platform_class()
    pads     = link_pads(platform, lanes)
    assert (len(pads.rx_p), len(pads.tx_n)) == (lanes, lanes)
    pins = {id(signal): names for signal, names, *_ in platform.constraint_manager.get_sig_constraints()}
    assert pins[id(pads.rx_p)] == rx
    assert pins[id(pads.rst_n)] == ["J1"]


def test_a_width_that_the_platform_names_is_taken():
    platform = xilinx_ac701.Platform()
    pads     = link_pads(platform, 1)
    assert len(pads.rx_p) == 1 and pads.name == "pcie_x1"
