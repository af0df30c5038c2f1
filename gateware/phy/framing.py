#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Start and end of TLPs, for PHYs whose streams do not mark them as our layout does."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import phy_layout

# Start --------------------------------------------------------------------------------------------

class StartOfTLP(LiteXModule):
    """Asserts `first` on each beat that follows a last beat. The path from sink to source is combinatorial.

    LitePCIe's S7PCIEPHY never asserts `first`, neither at 64 bits nor after its 128-bit aligner.

    Parameters
    ----------
    data_width : int, bits.

    Attributes
    ----------
    sink   : stream of `phy_layout`, **in**; `first` is ignored.
    source : stream of `phy_layout`, **out**.
    """
    def __init__(self, data_width):
        self.sink   = sink   = stream.Endpoint(phy_layout(data_width))
        self.source = source = stream.Endpoint(phy_layout(data_width))

        # # #

        inside = Signal()  # A TLP has begun and not ended.
        self.comb += [
            sink.connect(source, omit={"first"}),
            source.first.eq(~inside),
        ]
        self.sync += If(sink.valid & sink.ready, inside.eq(~sink.last))

# Straddle -----------------------------------------------------------------------------------------

class StraddleAligner(LiteXModule):
    """Aligns each TLP of the 128-bit 7-series hard block to dword 0 of a beat.

    The block may begin a TLP at dword 2 of the beat in which the previous TLP ends at dword 0 or 1 ("straddling";
    PG054, 128-bit receive interface). LitePCIe's own aligner loses the last beat of such a TLP if the TLP ends at
    dword 2 or 3. The path is combinatorial and transfers one beat per cycle; a straddling TLP that ends at dword 2 or
    3 takes one extra cycle.

    The module is written in `sys` and used in `pcie` (ClockDomainsRenamer).

    Attributes
    ----------
    sink   : stream of `phy_layout(128)`, **in**, `pcie`; `first`, `last` and `be` are ignored.
    sof    : Signal(5), **in**, `pcie`, rx_is_sof of the beat: bit 4: a TLP begins in it; bit 3: it begins at dword 2.
    eof    : Signal(5), **in**, `pcie`, rx_is_eof of the beat: bit 4: a TLP ends in it; bits 3:2: its last dword.
    source : stream of `phy_layout(128)`, **out**, `pcie`; `first` is not driven.
    """
    def __init__(self):
        self.sink   = sink   = stream.Endpoint(phy_layout(128))
        self.sof    = Signal(5)
        self.eof    = Signal(5)
        self.source = source = stream.Endpoint(phy_layout(128))

        # # #

        begins = Signal()   # A TLP begins at dword 2 of this beat.
        ends   = Signal()   # A TLP ends in this beat.
        final  = Signal(2)  # Dword at which it ends.
        shift  = Signal()   # The current TLP began at dword 2, so `kept` holds its next two dwords.
        kept   = Signal(64)
        flush  = Signal()   # Only the upper half of this beat is still to be sent.
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
                # A beat that holds nothing but the first two dwords of a TLP is only kept.
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
