#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A test design for ECP5: the SerDes sends back what it receives. It is not a PCI Express card."""

from migen import *

from litex.gen import *

from litex.soc.cores.clock import ECP5PLL
from litex_boards.platforms import lattice_versa_ecp5

from litepcie_soc.board.ecp5 import constrain_pll
from litepcie_soc.build.trellis import Design
from litepcie_soc.phy.ecp5.serdes import ECP5SerDes
from litepcie_soc.phy.ecp5.words import in_bitstream

NAME = "serdes"


class SerDesDesign(LiteXModule):
    """The SerDes, with its status on LEDs."""
    def __init__(self, platform, sys_clk_freq=100e6, **options):
        self.cd_sys = ClockDomain()
        self.pll    = pll = ECP5PLL()
        pll.register_clkin(platform.request("clk100"), 100e6)
        pll.create_clkout(self.cd_sys, sys_clk_freq)
        self.serdes = serdes = ECP5SerDes(platform, sys_clk_freq, **options)

        # # #

        lane       = serdes.interface
        self.comb += [
            lane.tx_data.eq(lane.rx_data),
            lane.tx_k.eq(lane.rx_k),
            lane.tx_idle.eq(Replicate(~lane.rx_valid | (lane.rx_error != 0), 2)),
            lane.detect.eq(~lane.detect_done),
            lane.rx_align.eq(lane.rx_overflow),
        ]
        signs      = (lane.ready, lane.rx_valid, serdes.channel.refclk_ok, lane.detect_present)
        self.comb += [platform.request("user_led", n).eq(sign) for n, sign in enumerate(signs)]


def emit(folder, device="LFE5UM5G", **options):
    """Writes Verilog and constraints of the test design into ``folder``; returns the ``Design``."""
    platform = lattice_versa_ecp5.Platform(device=device)
    top    = SerDesDesign(platform, **options)
    clocks = {**top.serdes.clocks, **constrain_pll(platform, top.pll)}
    platform.build(top, build_dir=str(folder), build_name=NAME, run=False)
    return Design(NAME, platform.device, clocks, in_bitstream(top.serdes.channel.words))
