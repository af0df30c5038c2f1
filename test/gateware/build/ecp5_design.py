#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A test design for ECP5: the SerDes channel sends back what it receives. It is not a PCI Express card."""

from migen import *
from migen.genlib.fifo import AsyncFIFO

from litex.gen import *

from litex.soc.cores.clock import ECP5PLL
from litex_boards.platforms import lattice_versa_ecp5

from litepcie_soc.board.ecp5 import constrain_pll
from litepcie_soc.build.trellis import Design
from litepcie_soc.phy.ecp5.channel import ECP5Channel
from litepcie_soc.phy.ecp5.pads import check_pads
from litepcie_soc.phy.ecp5.words import in_bitstream

NAME = "serdes"


class SerDesDesign(LiteXModule):
    """The channel, with the status on LEDs."""
    def __init__(self, platform, sys_clk_freq=100e6, **options):
        self.cd_sys = ClockDomain()
        self.pll    = pll = ECP5PLL()
        pll.register_clkin(platform.request("clk100"), 100e6)
        pll.create_clkout(self.cd_sys, sys_clk_freq)
        pads         = platform.request("pcie_x1")
        self.channel = channel = ECP5Channel(pads, pads.perst, sys_clk_freq, **options)

        # # #

        fifo      = ClockDomainsRenamer({"write": "pcie_rx", "read": "pcie"})(AsyncFIFO(18, 16))
        self.fifo = fifo
        self.comb += [
            fifo.din.eq(Cat(channel.rx_data, channel.rx_k)),
            fifo.we.eq(channel.rx_error == 0),
            fifo.re.eq(1),
            Cat(channel.tx_data, channel.tx_k).eq(fifo.dout),
            channel.tx_idle.eq(Replicate(~fifo.readable, 2)),
            channel.detect.eq(~channel.detect_done),
        ]
        signs      = (channel.ready, channel.rx_ready, channel.refclk_ok, channel.detect_present)
        self.comb += [platform.request("user_led", n).eq(sign) for n, sign in enumerate(signs)]


def emit(folder, device="LFE5UM5G", **options):
    """Writes Verilog and constraints of the test design into ``folder``; returns the ``Design``."""
    platform = lattice_versa_ecp5.Platform(device=device)
    check_pads(platform)
    top    = SerDesDesign(platform, **options)
    clocks = {**top.channel.constrain(platform), **constrain_pll(platform, top.pll)}
    platform.build(top, build_dir=str(folder), build_name=NAME, run=False)
    return Design(NAME, platform.device, clocks, in_bitstream(top.channel.words))
