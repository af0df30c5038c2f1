#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What a link that is down, or a host, keeps from the card: gates for TLPs and MSI, and repeated training."""

from types import SimpleNamespace

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import phy_layout

# Gates --------------------------------------------------------------------------------------------
# Gates that keep TLPs from a link that is down, and MSI from a host that does not allow them.


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
        self.inside, self.owed = inside, owed  # Proofs read them.
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


class MSIGate(LiteXModule):
    """Holds an MSI while bus mastering is off, and drops it while the host does not enable MSI; combinatorial.

    An MSI is a memory write. Without Bus Master Enable a function must not send one (PCIe 4.0 7.5.1.1.3), but the host
    still has to get it later.

    Attributes
    ----------
    sink   : stream of `dat[8]` (vector), **in**.
    source : stream of `dat[8]` (vector), **out**; `valid` may deassert without a transfer.
    enable : Signal(), **in**, MSI Enable.
    master : Signal(), **in**, Bus Master Enable.
    """
    def __init__(self):
        self.sink   = sink   = stream.Endpoint([("dat", 8)])
        self.source = source = stream.Endpoint([("dat", 8)])
        self.enable = Signal()
        self.master = Signal()

        # # #

        allowed = Signal()
        self.comb += [
            allowed.eq(self.enable & self.master),
            sink.connect(source, omit={"valid", "ready"}),
            source.valid.eq(sink.valid & allowed),
            sink.ready.eq(Mux(allowed, source.ready, ~self.enable)),
        ]

# Repeated Training --------------------------------------------------------------------------------
# Repeated link training, for hosts with which the first one fails after a cold boot.

# A training that succeeds takes less: a receiver that is there is found in 12 ms, and Polling.Active ends after 24 ms
# (PCIe 4.0 4.2.6.1, 4.2.6.2.1).
TRAINING_S = 100e-3
RESET_S    = 1e-3


class LinkRetry(LiteXModule):
    """Resets a hard block whose link has been down for TRAINING_S, for RESET_S, until the link is up.

    The slot's reset begins the time again. The block has no other way to begin a training anew.

    Parameters
    ----------
    sys_clk_freq : Hz of `sys`.

    Attributes
    ----------
    slot_rst_n : Signal(), **in**, asynchronous, PERST#, active low.
    link_up    : Signal(), **in**, the link is up.
    rst_n      : Signal(), **out**, reset of the block, active low: PERST#, or a retry.
    """
    def __init__(self, sys_clk_freq):
        self.slot_rst_n = Signal()
        self.link_up    = Signal()
        self.rst_n      = Signal()

        # # #

        training, reset = int(TRAINING_S*sys_clk_freq), int(RESET_S*sys_clk_freq)
        released = Signal()
        retry    = Signal(reset_less=True)
        left     = Signal(max=training, reset=training - 1)
        self.specials += MultiReg(self.slot_rst_n, released)
        self.comb     += self.rst_n.eq(self.slot_rst_n & ~retry)
        self.sync     += [
            left.eq(left - 1),
            If(~released | (self.link_up & ~retry),
                retry.eq(0),
                left.eq(training - 1),
            ).Elif(left == 0,
                retry.eq(~retry),
                left.eq(Mux(retry, training - 1, reset - 1)),
            ),
        ]


def with_reset(pads, rst_n):
    """Returns pads of a link, a Record, with another reset."""
    return SimpleNamespace(**{name: getattr(pads, name) for name, *_ in pads.layout} | {"rst_n": rst_n})
