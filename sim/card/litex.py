#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A LiteX SoC with LiteX's own ``add_pcie`` as the card of a virtual machine.

    platform = SimPlatform(CARD)
    self.crg = SimCRG(platform)                        instead of the board's
    self.pcie_phy = SimCardPHY(platform, CARD)         instead of S7PCIEPHY and others
    self.add_pcie(phy=self.pcie_phy, ndmas=1)
"""

from types import SimpleNamespace

from migen import ClockDomain, ClockSignal, Signal

from litex.gen import LiteXModule

from litex.build.generic_platform import GenericPlatform, Pins

from litepcie.common import get_bar_mask

from litepcie_sim.card.card import TOP, CardError, compile_simulator, write_guest
from litepcie_soc.phy.sim import SimPHY, sim_phy_io
from litepcie_soc.soc.export import export_verilog


class SimPlatform(GenericPlatform):
    """Platform with the ports of a ``Card`` instead of pins. Constraints of clocks have no meaning here."""
    def __init__(self, card):
        self.streams = sim_phy_io(card.data_width)
        GenericPlatform.__init__(self, "sim", [("sys_clk", 0, Pins(1)), ("sys_rst", 0, Pins(1)), *self.streams],
            name=TOP)

    def add_period_constraint(self, clk, period, keep=True, name=None):
        pass

    def add_false_path_constraint(self, from_, to):
        pass


class SimCRG(LiteXModule):
    """Clock and reset of ``sys``.

    Attributes
    ----------
    rst : Signal(), **in**, resets the SoC; LiteX connects it to the register ``ctrl_reset``.
    """
    def __init__(self, platform):
        self.rst    = Signal()
        self.cd_sys = ClockDomain()

        # # #

        self.comb += [
            self.cd_sys.clk.eq(platform.request("sys_clk")),
            self.cd_sys.rst.eq(platform.request("sys_rst") | self.rst),
        ]


class SimCardPHY(SimPHY):
    """The simulation PHY with what ``add_pcie`` asks of LitePCIe's own."""
    def __init__(self, platform, card):
        if list(card.bars) != [0] or card.msix_vectors or card.split:
            raise CardError("a LiteX SoC has BAR0 only, MSI without MSI-X, and one stream for each direction")
        SimPHY.__init__(self, card.data_width,
            pads       = {name: platform.request(name) for name, *_ in platform.streams},
            endianness = card.endianness,
            bar0_size  = card.bars[0],
        )
        self.bar0_mask = get_bar_mask(card.bars[0])
        self.cd_pcie   = SimpleNamespace(clk=ClockSignal("sys"))


def build(soc, card, folder, software):
    """Writes a SoC on a ``SimPlatform`` into ``folder`` and builds its simulator. Raises ``CardError``.

    card     : the ``Card`` of the platform.
    software : ``Software`` for the guest.
    """
    export_verilog(soc, soc.platform, folder / "gateware", TOP)
    write_guest(folder, software)
    compile_simulator(card, folder)
