#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Passes the MSI requests of all engines to the PHY, one at a time."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.arbiter import PacketArbiter
from litepcie_soc.phy.gate import MSIGate

# MSI Merger ---------------------------------------------------------------------------------------


def msi_layout():
    """Returns LitePCIe's layout of an MSI request: ``dat`` is the vector."""
    return [("dat", 8)]


def msi_enable(phy):
    """Returns the signal of a PHY that says whether the host enabled MSI. LitePCIe's PHYs have it in a CSR only."""
    return phy.msi_enable if hasattr(phy, "msi_enable") else phy._msi_enable.status


class MSIMerger(LiteXModule):
    """Passes the MSI requests of the engines to the PHY, round robin.

    While the host has not enabled MSI, the merger accepts and drops requests: a function must not send them then (PCI
    Local Bus 3.0 6.8.1.3), and engines must not stall when the driver polls. While bus mastering is off or the link is
    down, the merger holds requests: an MSI is a memory write, which the function must not send then (PCIe 4.0
    7.5.1.1.3), but which the host still has to get.

    Parameters
    ----------
    sources : list of streams of ``msi_layout``, one per engine.

    Attributes
    ----------
    source : stream of ``msi_layout``, **out**; to the PHY.
    enable : Signal(), **in**; the host enabled MSI, and the function is not being reset.
    master : Signal(), **in**; bus mastering is on and the link is up.
    """
    def __init__(self, sources):
        self.source = stream.Endpoint(msi_layout())
        self.enable = Signal()
        self.master = Signal()

        # # #

        self.arbiter = PacketArbiter(msi_layout(), len(sources))
        for source, sink in zip(sources, self.arbiter.sinks):
            # A register per engine breaks the combinatorial path from the PHY's ready through the arbiter to its valid.
            buffer = stream.Buffer(msi_layout())
            self.submodules += buffer
            self.comb += [
                source.connect(buffer.sink),
                buffer.source.connect(sink, omit={"last"}),
                sink.last.eq(1),
            ]
        self.gate  = gate = MSIGate()
        self.comb += [
            self.arbiter.source.connect(gate.sink, keep={"valid", "ready", "dat"}),
            gate.enable.eq(self.enable),
            gate.master.eq(self.master),
            gate.source.connect(self.source),
        ]
