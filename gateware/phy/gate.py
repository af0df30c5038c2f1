#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Isolates the transaction layer from the PHY while the link is down."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import phy_layout

# Link Gate ----------------------------------------------------------------------------------------

class LinkGate(LiteXModule):
    """Accepts and drops beats while the link is down, so that no stage waits for a link partner that is gone.

    If the link goes down in the middle of a TLP, the gate also drops the rest of that TLP after the link is up again.
    With `ends`, the gate adds a last beat to such a truncated TLP, so that the receiver of `source` sees an end.
    Without `ends`, the receiver has to discard the truncated TLP by itself. The path is combinatorial.

    The module is written in `sys`; ClockDomainsRenamer moves it to `pcie` where it faces the hard block.

    Parameters
    ----------
    data_width : int, bits.
    ends       : bool, add a last beat to truncated TLPs.

    Attributes
    ----------
    sink    : stream of `phy_layout`, **in**.
    source  : stream of `phy_layout`, **out**; a beat that waits for `ready` may change when the link goes down.
    link_up : Signal(), **in**, beats may pass.
    cut     : Signal(), **out**, the beat on `source` was added to end a truncated TLP; its data is not of that TLP.
    """
    def __init__(self, data_width, ends=False):
        self.sink    = sink   = stream.Endpoint(phy_layout(data_width))
        self.source  = source = stream.Endpoint(phy_layout(data_width))
        self.link_up = Signal()
        self.cut     = Signal()

        # # #

        inside = Signal()  # The first beat of a TLP left `source`, its last beat did not yet.
        owed   = Signal()  # The added last beat was not accepted yet; the link may be up again.
        passes = Signal()  # The beat on `sink` goes to `source`; otherwise it is dropped.
        self.comb += [
            passes.eq(self.link_up & ~owed & (sink.first | inside)),
            sink.connect(source, omit={"valid", "ready", "first", "last"}),
            source.valid.eq((sink.valid & passes) | self.cut),
            source.first.eq(sink.first & ~self.cut),
            source.last.eq(sink.last | self.cut),
            sink.ready.eq(Mux(passes, source.ready, ~owed)),
        ]
        self.sync += If(source.valid & source.ready, inside.eq(~source.last))
        if ends:
            self.comb += self.cut.eq(owed | (inside & ~self.link_up))
            self.sync += owed.eq(self.cut & ~source.ready)
        else:
            self.sync += If(~self.link_up, inside.eq(0))
