#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""One interface to every PHY: four streams and the state of the link.

LitePCIe 2024.12's PHYs have one of two shapes. The shared shape is one pair of streams (7-series, Cyclone V); the
split shape has separate channels for requests and completions (UltraScale, UltraScale+). The transaction layer always
sees the split shape.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.arbiter import PacketArbiter
from litepcie_soc.common.pcie import is_completion, phy_layout
from litepcie_soc.phy.gate import LinkGate
from litepcie_soc.phy.hard_block import check_phy

# Errors -------------------------------------------------------------------------------------------
# Errors that the transaction layer reports to configuration space: Device Status and AER (PCIe 4.0 6.2).

# Name of each error at a PHY, and the strobes of the transaction layer that it sums up.
#
# A completion that matches a request except for its byte count, lower address or length may be handled as unexpected
# (PCIe 4.0 2.3.2). A completion with an error status is no error of this function (PCIe 4.0 6.2.3.2.4.1). A poisoned
# write of the host is not here: a PHY reports it by itself.
REPORTED_ERRORS = {
    "completion_timeout":    ("timeout",),
    "unexpected_completion": ("unexpected", "bad_length"),
    "poisoned":              ("poisoned",),
    "unsupported_request":   ("unsupported",),
    "completer_abort":       ("aborted",),
}
# Three dwords, of which the first is in bits 31:0.
HEADER_BITS = 96


def error_record():
    """Returns a Record with one Signal() for each of REPORTED_ERRORS; each is a strobe of one cycle in `sys`.

    With a strobe of `unexpected_completion`, `poisoned` or `completer_abort`, `header` has the first three dwords of
    the header of the completion, or of the request that is aborted.
    """
    return Record([*[(name, 1) for name in REPORTED_ERRORS], ("header", HEADER_BITS)], name="error")

# Shapes -------------------------------------------------------------------------------------------


class CompletionDemux(LiteXModule):
    """Splits one stream into a stream of requests and messages and a stream of completions; combinatorial.

    Parameters
    ----------
    data_width : int, bits.

    Attributes
    ----------
    sink       : stream of `phy_layout`, **in**, all TLPs.
    req_source : stream of `phy_layout`, **out**, requests and messages.
    cmp_source : stream of `phy_layout`, **out**, completions.
    """
    def __init__(self, data_width):
        self.sink       = sink = stream.Endpoint(phy_layout(data_width))
        self.req_source = stream.Endpoint(phy_layout(data_width))
        self.cmp_source = stream.Endpoint(phy_layout(data_width))

        # # #

        completion = Signal()
        held       = Signal()
        self.comb += [
            completion.eq(Mux(sink.first, is_completion(sink.dat), held)),
            # Both sources carry all data, and only one asserts `valid`: gating the data would cost a LUT per bit.
            sink.connect(self.cmp_source, omit={"valid", "ready"}),
            sink.connect(self.req_source, omit={"valid", "ready"}),
            self.cmp_source.valid.eq(sink.valid & completion),
            self.req_source.valid.eq(sink.valid & ~completion),
            sink.ready.eq(Mux(completion, self.cmp_source.ready, self.req_source.ready)),
        ]
        self.sync += If(sink.valid, held.eq(completion))


class PHYShape(LiteXModule):
    """Split channels and link state of a PHY of either shape.

    While the link is down no TLP passes and no stream blocks, see `LinkGate`. Raises ValueError for an unsupported PHY.

    Parameters
    ----------
    phy : `Series7PHY`, `UltraScalePHY`, `UltraScalePlusPHY` or `SimPHY`. It has the streams of its shape (`sink` and
        `source`, or `req_sink`, `cmp_sink`, `req_source` and `cmp_source`) and the state signals listed below.

    Attributes
    ----------
    split             : bool, the PHY has the split shape.
    data_width        : int, bits.
    endianness        : "big" or "little", byte order of payload dwords.
    req_sink          : stream of `phy_layout`, **in**, requests to the host.
    cmp_sink          : stream of `phy_layout`, **in**, completions to the host.
    req_source        : stream of `phy_layout`, **out**, requests of the host.
    cmp_source        : stream of `phy_layout`, **out**, completions of the host.
    req_cut, cmp_cut  : Signal(), **out**, the beat on `req_source` or `cmp_source` was added to end a TLP that a loss
        of the link truncated.
    id                : Signal(16), **out**, bus, device and function number.
    bus_master_enable : Signal(), **out**, requests may be sent.
    link_up           : Signal(), **out**, the link is up.
    extended_tag      : Signal(), **out**, Extended Tag Field Enable.
    relaxed_ordering_enable, no_snoop_enable : Signal(), **out**, Enable Relaxed Ordering, Enable No Snoop (PCIe 4.0
        7.5.3.4).
    rcb_128           : Signal(), **out**, Read Completion Boundary: 128 bytes, else 64 (PCIe 4.0 7.5.3.7).
    requests_stopped  : Signal(), **in**, bus mastering is off, no request has begun on `req_sink`, and none begins
        before it is on; None if the PHY does not ask.
    function_reset    : Signal(), **out**, a function level reset waits for `function_reset_done`.
    function_reset_done : Signal(), **in**, one cycle: the function is reset (PCIe 4.0 6.6.2).
    non_posted_taken  : Signal(), **in**, one cycle: a non-posted request of the host is complete; None if the PHY does
        not ask.
    posted            : Signal(), **out**, number of posted requests of the host that the PHY hands over in this cycle,
        before `cmp_source` has any completion that the hard block held back for them; None: they are on `req_source`
        before that completion.
    errors            : Record of `error_record`, **in**, errors to be reported to the host.
    msi               : stream of `dat[8]` (vector), **in**, an MSI is sent after every TLP accepted before it; None if
        the PHY has no MSI.
    msix_enable, msix_function_mask : Signal(), **out**, MSI-X Enable and Function Mask; None if the PHY has no MSI-X.
    """
    def __init__(self, phy):
        shared = hasattr(phy, "sink") and hasattr(phy, "source")
        split  = all(hasattr(phy, name) for name in ("req_sink", "cmp_sink", "req_source", "cmp_source"))
        if not (shared or split):
            raise ValueError(f"{type(phy).__name__} is not a PHY: it must have sink and source, or req_sink, cmp_sink, "
                f"req_source and cmp_source")
        check_phy(phy)
        self.split      = split
        self.data_width = phy.data_width
        self.endianness = phy.endianness
        self.id         = phy.id

        # # #

        self.bus_master_enable = phy.bus_master_enable
        self.link_up           = phy.link_up
        self.extended_tag      = phy.extended_tag
        self.relaxed_ordering_enable = phy.relaxed_ordering_enable
        self.no_snoop_enable         = phy.no_snoop_enable
        self.rcb_128                 = phy.rcb_128
        self.requests_stopped        = getattr(phy, "requests_stopped", None)
        self.non_posted_taken        = getattr(phy, "non_posted_taken", None)
        self.posted                  = getattr(phy, "posted", None)
        self.function_reset          = phy.function_reset
        self.function_reset_done     = phy.function_reset_done
        self.errors                  = phy.errors
        self.msi               = getattr(phy, "msi", None)
        self.msix_enable       = getattr(phy, "msix_enable", None)
        self.msix_function_mask = getattr(phy, "msix_function_mask", None)

        # Requests to the host need no gate: RequestBuilder drops them while the link is down.
        if split:
            self.req_sink   = phy.req_sink
            self.cmp_sink   = self.gated_sink(phy.cmp_sink)
            self.req_source, self.req_cut = self.gated(phy.req_source)
            self.cmp_source, self.cmp_cut = self.gated(phy.cmp_source)
            return
        source, cut = self.gated(phy.source)
        # Reset while the link is down: otherwise the arbiter would wait for the end of a truncated TLP.
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
        """Adds a gate that `source` feeds and that ends truncated TLPs; returns its `source` and its `cut`."""
        gate = LinkGate(self.data_width, ends=True)
        self.submodules += gate
        self.comb += [source.connect(gate.sink), gate.link_up.eq(self.link_up)]
        return gate.source, gate.cut

    def gated_sink(self, sink):
        """Adds a gate that feeds `sink`; returns its `sink`."""
        gate = LinkGate(self.data_width)
        self.submodules += gate
        self.comb += [gate.source.connect(sink), gate.link_up.eq(self.link_up)]
        return gate.sink
