#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What hard blocks want of TLPs, or leave out: start and end, headers of four dwords, no gap inside."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import HEADER_4DW, check_data_width, has_4_dwords, phy_layout

# Start and End ------------------------------------------------------------------------------------
# Start and end of TLPs, for PHYs whose streams do not mark them as our layout does.


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

# Headers ------------------------------------------------------------------------------------------
# Converts requests with three header dwords to four, for a PHY that accepts no others.


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

# Gaps ---------------------------------------------------------------------------------------------
# Store-and-forward buffer for hard blocks that accept no gap inside a TLP.

MAX_PAYLOAD = 512  # Bytes: the largest Max_Payload_Size that LitePCIe's PHYs advertise.


class StoreAndForward(LiteXModule):
    """Stores each TLP completely before it forwards the first beat, so that `valid` stays asserted within a TLP.

    UltraScale's hard blocks treat a gap inside a TLP as an error and nullify the TLP (PG156, PG213: "Requester Memory
    Write Operation", and the section on completions). Truncated TLPs are dropped. The buffer holds two TLPs of the
    largest size, so it transfers one beat per cycle: while one TLP leaves, the next one can enter.

    Parameters
    ----------
    data_width : int, bits.

    Attributes
    ----------
    sink   : stream of `phy_layout`, **in**; TLPs with up to MAX_PAYLOAD bytes of payload.
    cut    : Signal(), **in**, the last beat on `sink` ends a truncated TLP.
    source : stream of `phy_layout`, **out**.
    """
    def __init__(self, data_width):
        beats       = -(-(HEADER_4DW + MAX_PAYLOAD)*8//data_width)
        depth       = 1 << log2_int(2*beats, need_pow2=False)
        self.fifo   = fifo   = stream.SyncFIFO(phy_layout(data_width), depth, buffered=True)
        # One entry for each completely stored TLP.
        self.stored = stored = stream.SyncFIFO([("cut", 1)], depth, buffered=True)
        self.sink   = sink   = fifo.sink
        self.cut    = Signal()
        self.source = source = stream.Endpoint(phy_layout(data_width))

        # # #

        tlp = stored.source
        self.comb += [
            stored.sink.valid.eq(sink.valid & sink.ready & sink.last),
            stored.sink.cut.eq(self.cut),
            fifo.source.connect(source),
            If(~tlp.valid | tlp.cut,
                source.valid.eq(0),
                fifo.source.ready.eq(tlp.valid),
            ),
            tlp.ready.eq(fifo.source.valid & fifo.source.ready & fifo.source.last),
        ]
