#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Requests with four header dwords, for a PHY that takes no others."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import check_data_width, has_4_dwords, phy_layout

# Four Dword Headers -------------------------------------------------------------------------------

class FourDwordHeaders(LiteXModule):
    """Gives a request of three header dwords an upper address of zero; combinatorial.

    UltraScale's descriptors have an address of 64 bits; the hard block makes the header the link needs. A beat a cycle;
    a TLP that has no room for the dword in its last beat takes one more, in which the sink waits: what was accepted
    there is at the source.

    Parameters
    ----------
    data_width : int, bits, 128 or more.

    Attributes
    ----------
    sink   : stream of `phy_layout`, **in**.
    source : stream of `phy_layout`, **out**.
    """
    def __init__(self, data_width):
        check_data_width(data_width)
        if data_width < 128:
            raise ValueError(f"data_width must be 128 or more, not {data_width!r}")
        self.sink   = sink   = stream.Endpoint(phy_layout(data_width))
        self.source = source = stream.Endpoint(phy_layout(data_width))

        # # #

        short    = Signal()    # Of this TLP: three header dwords.
        was      = Signal()
        kept     = Signal(32)  # The dword pushed out of the beat before.
        overflow = Signal()    # Of the last beat, into one more.
        flush    = Signal()
        self.comb += [
            short.eq(Mux(sink.first, ~has_4_dwords(sink.dat), was)),
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
            was.eq(short),
            kept.eq(sink.dat[-32:]),
            flush.eq(overflow & ~flush),
        )
