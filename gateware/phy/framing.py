#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Where a TLP begins and ends, for PHYs that do not say."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import phy_layout

# Start --------------------------------------------------------------------------------------------

class StartOfTLP(LiteXModule):
    """Marks the beat behind a last one as first; combinatorial.

    S7PCIEPHY leaves `first` at 0, at 64 bit and behind its 128-bit aligner.

    Attributes
    ----------
    sink   : stream of `phy_layout`, **in**; `first` is not looked at.
    source : stream of `phy_layout`, **out**.
    """
    def __init__(self, data_width):
        self.sink   = sink   = stream.Endpoint(phy_layout(data_width))
        self.source = source = stream.Endpoint(phy_layout(data_width))

        # # #

        inside = Signal()  # Of a TLP begun and not ended.
        self.comb += [
            sink.connect(source, omit={"first"}),
            source.first.eq(~inside),
        ]
        self.sync += If(sink.valid & sink.ready, inside.eq(~sink.last))

# Straddle -----------------------------------------------------------------------------------------

class StraddleAligner(LiteXModule):
    """TLPs of the 7-series' hard block at 128 bit, each from dword 0 of a beat of its own.

    The block begins a TLP at dword 2 of the beat in which the one before it ends at dword 0 or 1 (PG054, 128-bit
    receive interface). LitePCIe's own aligner gives up a TLP's last beat when such a TLP ends at dword 2 or 3.
    Combinatorial, a beat a cycle; such an end costs one more.

    Attributes
    ----------
    sink   : stream of `phy_layout`, **in**, `pcie`; `first`, `last` and `be` are not looked at.
    sof    : Signal(5), **in**, with it, rx_is_sof: bit 4, a TLP begins here; bit 3, at dword 2.
    eof    : Signal(5), **in**, rx_is_eof: bit 4, one ends here; bits 3:2, at which dword.
    source : stream of `phy_layout`, **out**, `pcie`, without `first`.
    """
    def __init__(self):
        self.sink   = sink   = stream.Endpoint(phy_layout(128))
        self.sof    = Signal(5)
        self.eof    = Signal(5)
        self.source = source = stream.Endpoint(phy_layout(128))

        # # #

        begins = Signal()   # At dword 2.
        ends   = Signal()
        final  = Signal(2)  # Dword at which it ends.
        shift  = Signal()   # The TLP began at dword 2: two dwords of it are kept.
        kept   = Signal(64)
        flush  = Signal()   # All that is left of the TLP is in this beat's upper half.
        self.comb += [
            begins.eq(self.sof[4] & self.sof[3]),
            ends.eq(self.eof[4]),
            final.eq(self.eof[2:4]),
            If(flush,
                source.dat.eq(sink.dat[64:]),
                source.valid.eq(sink.valid),
                source.last.eq(1),
                source.be.eq(Mux(final[0], 0x00ff, 0x000f)),
                sink.ready.eq(source.ready),
            ).Elif(shift,
                source.dat.eq(Cat(kept, sink.dat[:64])),
                source.valid.eq(sink.valid),
                source.last.eq(ends & ~final[1]),
                source.be.eq(Mux(source.last & ~final[0], 0x0fff, 0xffff)),
                sink.ready.eq(source.ready & ~(ends & final[1])),
            ).Else(
                source.dat.eq(sink.dat),
                # Nothing of an earlier TLP: only the first two dwords of one, which are kept.
                source.valid.eq(sink.valid & ~(begins & ~ends)),
                source.last.eq(ends),
                source.be.eq(0xffff),
                If(ends, Case(final, {n: source.be.eq(2**(4*n + 4) - 1) for n in range(4)})),
                sink.ready.eq(source.ready | (begins & ~ends)),
            ),
        ]
        self.sync += [
            If(sink.valid & sink.ready,
                kept.eq(sink.dat[64:]),
                shift.eq(begins | (shift & ~ends)),
                flush.eq(0),
            ).Elif(source.valid & source.ready,
                flush.eq(1),
            ),
        ]
