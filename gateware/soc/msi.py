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
    Local Bus 3.0 6.8.1.3), and engines must not stall when the driver polls.

    Parameters
    ----------
    sources : list of streams of ``msi_layout``, one per engine.

    Attributes
    ----------
    source : stream of ``msi_layout``, **out**; to the PHY.
    enable : Signal(), **in**; the host enabled MSI.
    """
    def __init__(self, sources):
        self.source = stream.Endpoint(msi_layout())
        self.enable = Signal()

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
        self.comb += [
            self.arbiter.source.connect(self.source, omit={"valid", "ready"}),
            self.source.valid.eq(self.arbiter.source.valid & self.enable),
            self.arbiter.source.ready.eq(self.source.ready | ~self.enable),
        ]
