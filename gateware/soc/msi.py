#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""MSI of every engine, one at a time to the PHY."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.arbiter import PacketArbiter

# MSI Merger ---------------------------------------------------------------------------------------


def msi_layout():
    """LitePCIe's: ``dat`` is the vector."""
    return [("dat", 8)]


def msi_enable(phy):
    """Signal of a PHY: MSI enabled by the host. LitePCIe's PHYs have it in a register only."""
    return phy.msi_enable if hasattr(phy, "msi_enable") else phy._msi_enable.status


class MSIMerger(LiteXModule):
    """Passes the MSI of the engines to the PHY, round robin.

    While the host has not enabled MSI, a request is taken and dropped: a driver that polls must
    not stop an engine (PCI Local Bus 3.0, 6.8.1.3: a function may not send it then).

    Parameters
    ----------
    sources : streams of ``msi_layout``, one for each engine.

    Attributes
    ----------
    source : Endpoint, out, sys, to the PHY.
    enable : 1, in, sys, MSI enabled by the host.
    """
    def __init__(self, sources):
        self.source = stream.Endpoint(msi_layout())
        self.enable = Signal()

        # # #

        self.arbiter = PacketArbiter(msi_layout(), len(sources))
        for source, sink in zip(sources, self.arbiter.sinks):
            # A register each: no path leads from the PHY's ready through the arbiter to itself.
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
