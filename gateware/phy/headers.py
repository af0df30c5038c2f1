#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Converts requests with three header dwords to four, for a PHY that accepts no others."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import check_data_width, has_4_dwords, phy_layout

# Four Dword Headers -------------------------------------------------------------------------------

class FourDwordHeaders(LiteXModule):
    """Inserts an upper address of zero into requests with three header dwords.

    UltraScale's descriptors have a 64-bit address, and the hard block forms the header that the link needs. The path
    is combinatorial and transfers one beat per cycle. If the last beat of a TLP has no room for the inserted dword,
    the TLP takes an extra beat; the sink accepts its last beat together with that extra beat.

    Parameters
    ----------
    data_width : int, bits, 128 or more (the header fits in the first beat).

    Attributes
    ----------
    sink   : stream of `phy_layout`, **in**.
    source : stream of `phy_layout`, **out**.
    """
    def __init__(self, data_width):
        check_data_width(data_width)
        if data_width < 128:
            raise ValueError(f"data_width {data_width!r} is not supported here; choose 128, 256 or 512")
        self.sink   = sink   = stream.Endpoint(phy_layout(data_width))
        self.source = source = stream.Endpoint(phy_layout(data_width))

        # # #

        short      = Signal()    # The TLP has three header dwords.
        short_held = Signal()    # `short` for the beats after the first.
        kept       = Signal(32)  # The dword shifted out of the previous beat.
        overflow   = Signal()    # The last beat has no room for the dword that is shifted in.
        flush      = Signal()    # The extra beat.
        self.comb += [
            short.eq(Mux(sink.first, ~has_4_dwords(sink.dat), short_held)),
            overflow.eq(short & sink.last & sink.be[-4]),
            source.valid.eq(sink.valid),
            source.first.eq(sink.first & ~flush),
            source.last.eq(sink.last & (~overflow | flush)),
            sink.ready.eq(source.ready & (~overflow | flush)),
            If(~short,
                source.dat.eq(sink.dat),
                source.be.eq(sink.be),
            ).Elif(flush,
                source.dat.eq(sink.dat[-32:]),
                source.be.eq(0xf),
            ).Elif(sink.first,
                source.dat.eq(Cat(sink.dat[:29], Constant(1, 1), sink.dat[30:64], Constant(0, 32), sink.dat[64:-32])),
                source.be.eq(Cat(Constant(0xf, 4), sink.be[:-4])),
            ).Else(
                source.dat.eq(Cat(kept, sink.dat[:-32])),
                source.be.eq(Cat(Constant(0xf, 4), sink.be[:-4])),
            ),
        ]
        self.sync += If(source.valid & source.ready,
            short_held.eq(short),
            kept.eq(sink.dat[-32:]),
            flush.eq(overflow & ~flush),
        )
