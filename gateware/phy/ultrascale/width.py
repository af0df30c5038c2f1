#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Between adapters of 128 bit and a hard block of 64 bit: what UltraScale's blocks have at Gen3 x1."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.phy.ultrascale.axi import axi_layout

# Narrow -------------------------------------------------------------------------------------------

class Narrow(LiteXModule):
    """A beat of 128 bit in two of 64, or in one if there is no more; combinatorial, in the clock of the hard block.

    Parameters
    ----------
    interface : "rq" or "cc".
    plus      : bool, UltraScale+.

    Attributes
    ----------
    sink   : stream of `axi_layout`, 128 bit, **in**.
    source : stream of `axi_layout`, 64 bit, **out**; sidebands with the first half.
    """
    def __init__(self, interface, plus):
        self.sink   = sink   = stream.Endpoint(axi_layout(interface, 128, plus))
        self.source = source = stream.Endpoint(axi_layout(interface,  64, plus))

        # # #

        upper = Signal()
        more  = Signal()
        self.comb += [
            more.eq(~upper & sink.keep[2]),
            source.valid.eq(sink.valid),
            source.first.eq(sink.first & ~upper),
            source.last.eq(sink.last & ~more),
            source.dat.eq(Mux(upper, sink.dat[64:], sink.dat[:64])),
            source.keep.eq(Mux(upper, sink.keep[2:], sink.keep[:2])),
            If(~upper, source.user.eq(sink.user)),
            sink.ready.eq(source.ready & ~more),
        ]
        self.sync += If(source.valid & source.ready, upper.eq(more))

# Widen --------------------------------------------------------------------------------------------

class Widen(LiteXModule):
    """Two beats of 64 bit in one of 128, or the last one alone; combinatorial, in the clock of the hard block.

    Parameters
    ----------
    interface : "cq" or "rc".
    plus      : bool, UltraScale+.

    Attributes
    ----------
    sink   : stream of `axi_layout`, 64 bit, **in**.
    source : stream of `axi_layout`, 128 bit, **out**; sidebands of the first half.
    """
    def __init__(self, interface, plus):
        self.sink   = sink   = stream.Endpoint(axi_layout(interface,  64, plus))
        self.source = source = stream.Endpoint(axi_layout(interface, 128, plus))

        # # #

        upper = Signal()
        lower = Signal(64)
        user  = Signal(len(sink.user))
        whole = Signal()
        self.comb += [
            whole.eq(upper | sink.last),
            source.valid.eq(sink.valid & whole),
            source.last.eq(sink.last),
            source.dat.eq(Cat(Mux(upper, lower, sink.dat), sink.dat)),
            source.keep.eq(Mux(upper, Cat(Constant(0b11, 2), sink.keep), sink.keep)),
            source.user.eq(Mux(upper, user, sink.user)),
            sink.ready.eq(source.ready | ~whole),
        ]
        self.sync += If(sink.valid & sink.ready,
            upper.eq(~whole),
            lower.eq(sink.dat),
            user.eq(sink.user),
        )
