#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Physical and data link layer of an endpoint in gateware, one above the other, and power management of both."""

from litex.gen import *

from litepcie_soc.phy.soft.data_link import DataLink
from litepcie_soc.phy.soft.link import Link
from litepcie_soc.phy.soft.power import PowerManagement


class Stack(LiteXModule):
    """Carries TLPs over a SerDes. All signals are in ``sys``, the clock domain of the endpoint (``pcie``, 125 MHz).

    Parameters
    ----------
    serdes   : `SerDesInterface`.
    clk_freq : Hz, as of `Link`.
    Others   : as of `DataLink`.

    Attributes
    ----------
    link      : `Link`, for its counters and the state of training.
    data_link : `DataLink`, for TLPs, credits and counters.
    power     : `PowerManagement`, for its ``low_power``, ``turn_off`` and ``off``. It is reset with the link.
    busy      : 1, **in**; the logic above has a TLP to send.
    link_up, dl_up : 1, **out**.
    hot_reset : 1, **out**; a pulse: everything above is to be reset.
    """
    def __init__(self, serdes, clk_freq=125e6, **data_link):
        self.link      = link  = Link(serdes, clk_freq)
        self.data_link = layer = DataLink(**data_link)
        self.power     = power = ResetInserter()(PowerManagement())
        self.busy      = Signal()
        self.link_up   = link.link_up
        self.dl_up     = layer.dl_up
        self.hot_reset = link.hot_reset

        # # #

        self.comb += [
            link.source.connect(layer.rx),
            layer.tx.connect(link.sink),
            layer.link_up.eq(link.link_up),
            layer.active.eq(link.active & ~power.hold),
            link.retrain.eq(layer.retrain),
            link.alive.eq(layer.dllp.update),
            link.ltssm.sleep.eq(power.sleep),
            link.ltssm.wake.eq(power.wake),
            power.reset.eq(~link.link_up),
            power.busy.eq(self.busy | ~layer.quiet),
            power.credits.eq(layer.ready),
            power.active.eq(link.active & layer.dl_up),
            power.asleep.eq(link.ltssm.asleep),
            power.received.eq(layer.power_seen),
            power.dword.eq(layer.dllp.dword),
            power.dllp.connect(layer.power),
        ]
