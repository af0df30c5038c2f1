#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The open endpoint in the simulation: its SerDes and its clock are top-level ports."""

from migen import *

from litex.gen import *

from litex.build.generic_platform import Pins, Subsignal

from litepcie_soc.phy.soft.symbols import SERDES_LAYOUT, SerDesInterface


def soft_sim_io():
    """Platform resources: ``pcie_clk``, ``pcie_rst`` (125 MHz), ``serial_*``, ``serdes_*``, see `SerDesInterface`."""
    return [
        ("pcie_clk", 0, Pins(1)),
        ("pcie_rst", 0, Pins(1)),
        ("serdes", 0, *[Subsignal(name, Pins(bits)) for name, bits in SERDES_LAYOUT]),
        ("serial", 0, Subsignal("tx", Pins(1)), Subsignal("rx", Pins(1))),
    ]


class SimSerDes(LiteXModule):
    """A SerDes behind top-level ports, with the clock domain ``pcie``.

    Attributes
    ----------
    interface : `SerDesInterface`.
    """
    # Of the card.
    OUTPUTS = ("tx_data", "tx_k", "tx_idle", "tx_negative", "rx_align", "rx_strict", "polarity", "detect")

    def __init__(self, platform):
        self.interface = interface = SerDesInterface()
        self.cd_pcie   = ClockDomain()

        # # #

        pads = platform.request("serdes")
        self.comb += [
            self.cd_pcie.clk.eq(platform.request("pcie_clk")),
            self.cd_pcie.rst.eq(platform.request("pcie_rst")),
        ]
        for name, _ in SERDES_LAYOUT:
            pad, signal = getattr(pads, name), getattr(interface, name)
            self.comb  += pad.eq(signal) if name in self.OUTPUTS else signal.eq(pad)
