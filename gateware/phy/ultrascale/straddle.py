#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Completions of the straddle option: several completions in one beat of the requester completion interface.

With this option the hard block starts a completion at a multiple of 16 bytes (a segment), also in the beat in which the
completion before it ends: at 256 bits at most two completions in a beat, at 512 bits at most four ("4TLP"). Without it
every completion begins in a beat of its own, and completions of 64 bytes leave the block more slowly than the link
brings them. Sources: PG156 and PG213, "Straddle Option for 256-Bit Interface", "Straddle Option for RC Interface".

The modules are written in `sys`; the PHY moves them to `pcie`, the clock of the hard block, with ClockDomainsRenamer.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.phy.ultrascale.descriptors import axi_layout

# Segments -----------------------------------------------------------------------------------------

STRADDLE_WIDTHS = (256, 512)  # Bits of the interfaces that offer the option.
SEGMENT_DWORDS  = 4


def segments_layout(data_width):
    """Beats of segments, one bit or field per segment: `begins` and `ends`: a completion begins or ends in it; `final`:
    the last dword of the completion that ends in it."""
    count = data_width//32//SEGMENT_DWORDS
    return stream.EndpointDescription([("dat", data_width), ("begins", count), ("ends", count), ("final", 2*count)])


class SegmentMarks(LiteXModule):
    """Takes from `tuser` in which segments completions begin and end. The path is combinatorial.

    Parameters
    ----------
    data_width : int, bits: 256 or 512.
    plus       : bool, UltraScale+.

    Attributes
    ----------
    sink   : stream of `axi_layout("rc")`, **in**, `pcie`; `last` and `keep` are ignored.
    source : stream of `segments_layout`, **out**, `pcie`.
    """
    def __init__(self, data_width, plus):
        if data_width not in STRADDLE_WIDTHS:
            raise ValueError(f"data_width {data_width!r} is not supported with straddle; choose 256 or 512")
        self.sink   = sink   = stream.Endpoint(axi_layout("rc", data_width, plus))
        self.source = source = stream.Endpoint(segments_layout(data_width))

        # # #

        inside = Signal()  # A completion continues from the beat before.
        user   = sink.user
        if data_width == 512:
            begins = [(user[64 + n], user[68 + 2*n:70 + 2*n]) for n in range(4)]
            ends   = [(user[76 + n], user[80 + 4*n:84 + 4*n]) for n in range(4)]
        else:
            # The first completion that begins is in the upper half if another one continues, else in the lower half.
            begins = [(user[32], inside), (user[33], 1)]
            ends   = [(user[34], user[35:38]), (user[38], user[39:42])]
        self.comb += sink.connect(source, keep={"valid", "ready", "dat"})
        for n in range(len(source.begins)):
            hits = [valid & (dword[2:] == n) for valid, dword in ends]
            self.comb += [
                source.begins[n].eq(Reduce("OR", [valid & (segment == n) for valid, segment in begins])),
                source.ends[n].eq(Reduce("OR", hits)),
                source.final[2*n:2*n + 2].eq(Reduce("OR", [Replicate(hit, 2) & dword[:2]
                    for hit, (_, dword) in zip(hits, ends)])),
            ]
        # After a beat a completion continues if the last mark in it is a beginning.
        after = inside
        for n in range(len(source.begins)):
            after = (after | source.begins[n]) & ~source.ends[n]
        self.sync += If(sink.valid & sink.ready, inside.eq(after))

# Aligner ------------------------------------------------------------------------------------------

class SegmentAligner(LiteXModule):
    """Aligns each completion to the first dword of a beat.

    In each cycle the aligner takes the segments of one completion from the beat on `sink`, up to the end of the
    completion or of the beat. It joins them to the segments that it kept, and sends a full beat or the end of a
    completion. A beat stays on `sink` for as many cycles as it has parts of completions. So a completion that begins at
    any segment takes one cycle for each beat of `sink` that holds a part of it.

    Parameters
    ----------
    data_width : int, bits: 256 or 512.
    plus       : bool, UltraScale+.

    Attributes
    ----------
    sink   : stream of `segments_layout`, **in**, `pcie`.
    source : stream of `axi_layout("rc")`, **out**, `pcie`; `user` and `first` are not driven.
    """
    def __init__(self, data_width, plus):
        self.sink   = sink   = stream.Endpoint(segments_layout(data_width))
        self.source = source = stream.Endpoint(axi_layout("rc", data_width, plus))

        # # #

        count   = len(sink.begins)
        bits    = data_width//count
        at      = Signal(max=count)      # First segment of the beat on `sink` that was not taken.
        inside  = Signal()               # A completion continues in that segment.
        kept    = Signal(data_width, reset_less=True)
        size    = Signal(max=count + 1)  # Segments in `kept`.
        ended   = Signal()               # `kept` is the end of a completion.
        final   = Signal(2)              # Its last dword.

        # The part to take: from its first segment to the end of a completion, or to the last segment of the beat -----
        first   = Signal(max=count)
        last    = Signal(max=count)
        found   = Signal()               # There is a part.
        ends    = Signal()               # It ends a completion.
        part    = Signal(max=count + 1)  # Its segments.
        part_final = Signal(2)
        over    = Signal()               # No other part is in this beat.
        later   = Signal(count)          # Completions that begin after the part.
        self.comb += [
            Case(at, {p: [
                # From the highest segment down, so that the lowest one has the last word.
                *[If(sink.begins[n], first.eq(n), found.eq(1)) for n in reversed(range(p, count))],
                If(inside, first.eq(p), found.eq(1)),
            ] for p in range(count)}),
            last.eq(count - 1),
            Case(first, {p: [If(sink.ends[n], last.eq(n), ends.eq(1), part_final.eq(sink.final[2*n:2*n + 2]))
                for n in reversed(range(p, count))] for p in range(count)}),
            part.eq(last - first + 1),
            Case(last, {p: later.eq(sink.begins[p + 1:] if p < count - 1 else 0) for p in range(count)}),
            over.eq(~found | (later == 0)),
        ]

        # Join -------------------------------------------------------------------------------------
        move    = Signal()               # A part is taken in this cycle, or a beat without one.
        total   = Signal(max=2*count + 1)
        offset  = Signal(max=count + 1)  # Segments of `kept` that precede the part in the same completion.
        both    = Signal(2*data_width)   # `kept`, then the part.
        shifted = Signal(data_width)     # The part from bit 0 on.
        sends   = Signal()
        count_out = Signal(max=count + 1)
        final_out = Signal(2)
        self.comb += [
            offset.eq(Mux(ended, 0, size)),
            total.eq(offset + part),
            Case(first, {p: shifted.eq(sink.dat[bits*p:]) for p in range(count)}),
            Case(size, {n: both.eq(Cat(kept[:bits*n], shifted) if n else shifted) for n in range(count + 1)}),
            source.valid.eq(ended | (sink.valid & found & ((total >= count) | ends))),
            If(ended,
                source.last.eq(1), count_out.eq(size), final_out.eq(final),
            ).Else(
                source.last.eq(ends & (total <= count)),
                count_out.eq(Mux(total > count, count, total)),
                final_out.eq(Mux(source.last, part_final, SEGMENT_DWORDS - 1)),
            ),
            source.dat.eq(both[:data_width]),
            Case(Cat(final_out, count_out), {n: source.keep.eq(2**(n - SEGMENT_DWORDS + 1) - 1)
                for n in range(SEGMENT_DWORDS, SEGMENT_DWORDS*(count + 1))}),
            sends.eq(source.valid & source.ready),
            move.eq(sink.valid & (~source.valid | source.ready)),
            sink.ready.eq(move & over),
        ]

        # Keep -------------------------------------------------------------------------------------
        # What remains in the same completion: nothing if all of it was sent, else the segments after those sent.
        remains = Signal(data_width)
        self.comb += If(ended,
            remains.eq(shifted),
        ).Elif(total > count,
            remains.eq(both[data_width:]),
        ).Else(
            remains.eq(both[:data_width]),
        )
        self.sync += [
            If(move & found,
                kept.eq(remains),
                If(ended,
                    size.eq(part), ended.eq(ends),
                ).Elif(total > count,
                    size.eq(total - count), ended.eq(ends),
                ).Elif((total == count) | ends,
                    size.eq(0), ended.eq(0),
                ).Else(
                    size.eq(total), ended.eq(0),
                ),
                final.eq(part_final),
                inside.eq(~ends),
            ).Elif(sends & ended,
                size.eq(0), ended.eq(0),
            ),
            If(move, at.eq(Mux(over, 0, last + 1))),
        ]
