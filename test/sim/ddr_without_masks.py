# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A simulated card like the Alveo U200: 512 bit, chips without data masks, LiteDRAM's controller in its own clock."""

from migen import *
from litex.gen import *

from litepcie_soc.build.targets import load
from litepcie_soc.ddr.dram import DRAMMemory
from litepcie_soc.ddr.sim import SimDRAM
from litepcie_soc.phy.sim import SimPHY, sim_phy_io
from litepcie_soc.soc.soc import LitePCIeSoC

LINK        = dict(gen=3, lanes=16)
DATA_WIDTH  = 512
MEMORY_SIZE = 8 << 20
SYS_HZ      = 250e6
DDR_HZ      = SYS_HZ * 5 / 8


class _CRG(LiteXModule):
    """``sys`` from the top, and ``ddr``, which has five of eight of its cycles."""
    def __init__(self, platform):
        self.cd_sys  = ClockDomain()
        self.cd_fall = ClockDomain(reset_less=True)
        self.cd_ddr  = ClockDomain()

        # # #

        # The gate changes while the clock is low.
        count = Signal(3)
        gate  = Signal()
        self.sync.fall += [count.eq(count + 1), gate.eq(Array([1, 0, 1, 0, 1, 1, 0, 1])[count])]
        self.comb += [self.cd_sys.clk.eq(platform.request("sys_clk")), self.cd_sys.rst.eq(platform.request("sys_rst")),
            self.cd_fall.clk.eq(~self.cd_sys.clk), self.cd_ddr.clk.eq(self.cd_sys.clk & gate),
            self.cd_ddr.rst.eq(self.cd_sys.rst)]


class SoC(LitePCIeSoC):
    """SoC of the card."""
    def __init__(self, platform):
        self.crg   = _CRG(platform)
        LitePCIeSoC.__init__(self, platform, SYS_HZ)
        self.sdram = ClockDomainsRenamer("ddr")(SimDRAM(MEMORY_SIZE, clk_freq=DDR_HZ, byte_mask=False))
        memory     = DRAMMemory(MEMORY_SIZE, DATA_WIDTH, self.sdram.crossbar, "ddr", byte_mask=False)
        pads       = {name: platform.request(name) for name, *_ in sim_phy_io(DATA_WIDTH, split=True)}
        self.pcie_phy = SimPHY(DATA_WIDTH, pads=pads, split=True, endianness="little")
        self.add_litepcie(self.pcie_phy, target="sim ddr without masks", **LINK, memory_size=MEMORY_SIZE, memory=memory,
            tags=256)


def build(folder):
    """Builds the card and its simulator into a folder; returns make's exit status."""
    target = load("sim")
    return target.build(SoC(target.Platform(sim_phy_io(DATA_WIDTH, split=True))), folder)
