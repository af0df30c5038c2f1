#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What passes between a PHY and the transaction layer while the link is down: nothing."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import phy_layout

# Link Gate ----------------------------------------------------------------------------------------

class LinkGate(LiteXModule):
    """Takes and drops every beat while the link is down, and then the rest of the TLP that it cut; combinatorial.

    In `sys`; for the hard block's side it is renamed.

    Nobody behind it waits for the other side of a link that is gone: a host's TLP that was begun is ended by a beat
    that is none of its own, a card's is left to its PHY to forget.

    Parameters
    ----------
    data_width : int, bits.
    ends       : bool, a TLP that is cut short gets a last beat.

    Attributes
    ----------
    sink    : stream of `phy_layout`, **in**.
    source  : stream of `phy_layout`, **out**; a beat that was not taken when the link went is another one then.
    link_up : Signal(), **in**.
    cut     : Signal(), **out**, with a beat of `source`: nothing in it is of the TLP that it ends.
    """
    def __init__(self, data_width, ends=False):
        self.sink    = sink   = stream.Endpoint(phy_layout(data_width))
        self.source  = source = stream.Endpoint(phy_layout(data_width))
        self.link_up = Signal()
        self.cut     = Signal()

        # # #

        inside = Signal()  # Of a TLP that passes.
        owed   = Signal()  # Its end, from before the link came back.
        passes = Signal()
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
