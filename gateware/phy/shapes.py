#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""One view of every PHY: four streams and the state of the link.

LitePCIe 2024.12 has two shapes: one shared pair of streams (7-series, Cyclone V), or channels split into
requests and completions (UltraScale, UltraScale+). The transaction layer sees the split one.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.arbiter import PacketArbiter
from litepcie_soc.common.pcie import TYPE_COMPLETION, phy_layout
from litepcie_soc.phy.gate import LinkGate
from litepcie_soc.phy.hard_block import check_phy

# Shared Streams -----------------------------------------------------------------------------------

class CompletionDemux(LiteXModule):
    """Parts the TLPs of one stream into requests (and messages) and completions; combinatorial.

    Attributes
    ----------
    sink : stream of `phy_layout`, **in**, `sys`.
    req_source, cmp_source : streams of `phy_layout`, **out**, `sys`.
    """
    def __init__(self, data_width):
        self.sink       = sink = stream.Endpoint(phy_layout(data_width))
        self.req_source = stream.Endpoint(phy_layout(data_width))
        self.cmp_source = stream.Endpoint(phy_layout(data_width))

        # # #

        # Type is dw0[28:24]; 0101x are Cpl, CplD, CplLk and CplDLk (PCIe 4.0 table 2-3).
        is_completion = Signal()
        held          = Signal()
        self.comb += [
            is_completion.eq(Mux(sink.first, sink.dat[25:29] == TYPE_COMPLETION >> 1, held)),
            # The beats go both ways: to gate them too would be a LUT for every bit.
            sink.connect(self.cmp_source, omit={"valid", "ready"}),
            sink.connect(self.req_source, omit={"valid", "ready"}),
            self.cmp_source.valid.eq(sink.valid & is_completion),
            self.req_source.valid.eq(sink.valid & ~is_completion),
            sink.ready.eq(Mux(is_completion, self.cmp_source.ready, self.req_source.ready)),
        ]
        self.sync += If(sink.valid, held.eq(is_completion))

# Shape --------------------------------------------------------------------------------------------

class PHYShape(LiteXModule):
    """Split channels and link state of a PHY of either shape.

    Parameters
    ----------
    phy : `Series7PHY`, `UltraScalePHY`, `UltraScalePlusPHY` or `SimPHY`: their streams (`sink` and `source`, or
        `req_sink`, `cmp_sink`, `req_source`, `cmp_source`) and the state below.

    Attributes
    ----------
    split : bool, the PHY has the split shape.
    req_sink, cmp_sink     : streams of `phy_layout`, **in**, `sys`: requests and completions to the host.
    req_source, cmp_source : streams of `phy_layout`, **out**, `sys`: requests and completions of the host.
    id                : **out**, bus, device, function (16 bits).
    bus_master_enable : **out**, requests may be sent.
    req_cut, cmp_cut  : **out**, with a beat of `req_source`, `cmp_source`: it only ends a TLP that the link cut.
    link_up           : **out**, link is up. While it is down nothing passes and nothing waits, see `LinkGate`.
    extended_tag      : **out**, Extended Tag Field Enable.
    msi               : stream of `dat[8]` (vector), **in**, `sys`, behind every TLP taken before it; None without.

    Raises ValueError for a PHY that cannot be used.
    """
    def __init__(self, phy):
        shared = hasattr(phy, "sink") and hasattr(phy, "source")
        split  = all(hasattr(phy, name) for name in ("req_sink", "cmp_sink", "req_source", "cmp_source"))
        if not (shared or split):
            raise ValueError(f"phy has neither sink and source nor split channels: {type(phy).__name__}")
        check_phy(phy)
        self.split      = split
        self.data_width = phy.data_width
        self.endianness = phy.endianness
        self.id         = phy.id

        # # #

        self.bus_master_enable = phy.bus_master_enable
        self.link_up           = phy.link_up
        self.extended_tag      = phy.extended_tag
        self.msi               = getattr(phy, "msi", None)

        # Requests to the host need no gate: their builder drops them while the link is down.
        if split:
            self.req_sink   = phy.req_sink
            self.cmp_sink   = self.gated_sink(phy.cmp_sink)
            self.req_source, self.req_cut = self.gated(phy.req_source)
            self.cmp_source, self.cmp_cut = self.gated(phy.cmp_source)
            return
        source, cut = self.gated(phy.source)
        # Reset while the link is down: a TLP cut short must not keep the other side locked out.
        self.merge = merge = ResetInserter()(PacketArbiter(phy_layout(phy.data_width), 2))
        self.demux = demux = CompletionDemux(phy.data_width)
        self.comb += [
            merge.reset.eq(~self.link_up),
            merge.source.connect(phy.sink),
            source.connect(demux.sink),
        ]
        completions, self.req_sink       = merge.sinks
        self.cmp_sink                    = self.gated_sink(completions)
        self.req_source, self.cmp_source = demux.req_source, demux.cmp_source
        self.req_cut, self.cmp_cut       = cut, cut

    def gated(self, source):
        """`source` behind a gate, where every TLP has an end; and what tells with a beat that it is not its own."""
        gate = LinkGate(self.data_width, ends=True)
        self.submodules += gate
        self.comb += [source.connect(gate.sink), gate.link_up.eq(self.link_up)]
        return gate.source, gate.cut

    def gated_sink(self, sink):
        """A sink before `sink`, with a gate."""
        gate = LinkGate(self.data_width)
        self.submodules += gate
        self.comb += [gate.source.connect(sink), gate.link_up.eq(self.link_up)]
        return gate.sink
