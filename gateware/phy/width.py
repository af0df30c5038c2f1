#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""TLPs from one data width to another: of twice the bits, or half."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common import check_data_width, phy_layout


def check_widths(wide, narrow):
    """Raises ValueError unless TLPs of `wide` bits a beat can be carried over to `narrow` and back."""
    check_data_width(wide)
    check_data_width(narrow)
    if wide not in (narrow, 2*narrow):
        raise ValueError(f"data_width must be {narrow} or {2*narrow} at a pcie_data_width of {narrow}, not {wide}")

# Narrower -----------------------------------------------------------------------------------------

class Narrower(LiteXModule):
    """Each beat as its two halves, the second only if there is something in it; combinatorial, a half a cycle.

    Parameters
    ----------
    data_width : int, bits of the sink.

    Attributes
    ----------
    sink   : stream of `phy_layout(data_width)`, **in**.
    source : stream of `phy_layout(data_width//2)`, **out**.
    """
    def __init__(self, data_width):
        half        = data_width//2
        self.sink   = sink   = stream.Endpoint(phy_layout(data_width))
        self.source = source = stream.Endpoint(phy_layout(half))

        # # #

        second = Signal()  # It is the turn of the second half.
        done   = Signal()  # And of nothing behind this one.
        self.comb += [
            done.eq(second | ~sink.be[half//8]),
            source.valid.eq(sink.valid),
            source.first.eq(sink.first & ~second),
            source.last.eq(sink.last & done),
            source.dat.eq(Mux(second, sink.dat[half:], sink.dat[:half])),
            source.be.eq(Mux(second, sink.be[half//8:], sink.be[:half//8])),
            sink.ready.eq(source.ready & done),
        ]
        self.sync += If(source.valid & source.ready, second.eq(~done))

# Wider --------------------------------------------------------------------------------------------

class Wider(LiteXModule):
    """Two beats as one; a TLP begins in the first of two, and one that ends there goes alone. A beat a cycle.

    Combinatorial; a beat that is the first of two is kept.

    Parameters
    ----------
    data_width : int, bits of the source.

    Attributes
    ----------
    sink   : stream of `phy_layout(data_width//2)`, **in**.
    source : stream of `phy_layout(data_width)`, **out**; `dat` means nothing where `be` is 0.
    """
    def __init__(self, data_width):
        half        = data_width//2
        self.sink   = sink   = stream.Endpoint(phy_layout(half))
        self.source = source = stream.Endpoint(phy_layout(data_width))

        # # #

        second = Signal()  # The first of two is kept.
        first  = Signal()  # Of a TLP: that which is kept.
        kept   = Signal(half)
        goes   = Signal()
        self.comb += [
            goes.eq(second | sink.last),
            source.valid.eq(sink.valid & goes),
            source.first.eq(Mux(second, first, sink.first)),
            source.last.eq(sink.last),
            source.dat.eq(Cat(Mux(second, kept, sink.dat), sink.dat)),
            source.be.eq(Mux(second, Cat(Replicate(1, half//8), sink.be), sink.be)),
            sink.ready.eq(source.ready | ~goes),
        ]
        self.sync += [
            If(sink.valid & sink.ready, second.eq(~goes)),
            If(~second, kept.eq(sink.dat), first.eq(sink.first)),
        ]
