#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Byte alignment of packets, from the lanes of a TLP to the lanes of the endpoint memory or back."""

from math import log2

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import check_data_width

# Helpers ------------------------------------------------------------------------------------------

def moved_up(value, step):
    """`value` rotated up by `step` bits."""
    return Cat(value[len(value) - step:], value[:len(value) - step])


def rotate_left(value, amount, bits, lane_bits):
    """Rotates the lanes of `value` up by the lowest `bits` bits of `amount`.

    Returns the statements that compute the result, and the Signal that holds it.
    """
    statements = []
    for bit in range(bits):
        step   = lane_bits << bit
        moved  = moved_up(value, step)
        chosen = Signal(len(value))
        statements.append(chosen.eq(Mux(amount[bit], moved, value)))
        value = chosen
    return statements, value


def alignment_layout(offset_bits):
    """Alignment of a packet: lanes to move up, and the lanes of its first and last byte in the output."""
    return [("amount", offset_bits), ("start", offset_bits), ("end", offset_bits)]


def alignment(sink, in_offset, out_offset, length):
    """Statements that drive the fields of `alignment_layout` in `sink`.

    Parameters
    ----------
    sink       : Record or stream endpoint with these fields.
    in_offset  : lane of the packet's first byte in its first input beat.
    out_offset : lane of that byte in the first output beat.
    length     : length of the packet in lanes; its lower `offset_bits` bits are enough.
    """
    return [
        sink.amount.eq(out_offset - in_offset),
        sink.start.eq(out_offset),
        sink.end.eq(out_offset + length - 1),
    ]

# Realigner ----------------------------------------------------------------------------------------

class Realigner(LiteXModule):
    """Moves the data of a packet from one lane offset to another, one beat per cycle.

    Every beat is rotated by `amount`. The last stage of the rotation, by half a beat, follows the register of the
    rotated beat: it shares a LUT of six inputs with the multiplexer there. The lanes that wrap belong to the next
    output beat. An output beat therefore has its upper lanes from the current rotated beat and its lower lanes from the
    previous one. If all data of the first beat wraps, that beat produces no output. If data of the last beat wraps, an
    extra beat follows (the flush). A flush can share its cycle with a first beat of the next packet that produces no
    output. Back-to-back packets therefore take at most max(input beats, output beats) cycles each. The latency is 2
    cycles.

    Parameters
    ----------
    data_width   : int, bits of a beat.
    lane_bits    : int, bits of a lane: 8 to align bytes, 32 to align dwords. All lane numbers and `be` count in lanes.
    param_layout : list, parameters that travel with the packet.

    Attributes
    ----------
    sink   : stream, **in**: `dat`, the fields of `alignment_layout`, and `param_layout`. All but `dat` must be stable
        during a packet. Beats have no gaps between lanes; `first` and `last` must be driven.
    source : stream, **out**: `dat`, `be` (one bit per lane of the packet; the other lanes are 0), and `param_layout`.
    busy   : Signal(), **out**, a beat is in the pipeline.
    soon   : Signal(), **out**, `source` is not valid, but will be in the next cycle; not for every beat.
    """
    def __init__(self, data_width, *, lane_bits=8, param_layout=()):
        check_data_width(data_width)
        if lane_bits not in (8, 32):
            raise ValueError(f"lane_bits {lane_bits!r} is not supported; choose 8 or 32")
        lanes       = data_width//lane_bits
        offset_bits = int(log2(lanes))
        params      = list(param_layout)
        self.sink = sink = stream.Endpoint(stream.EndpointDescription(
            payload_layout = [("dat", data_width)],
            param_layout   = alignment_layout(offset_bits) + params,
        ))
        self.source = source = stream.Endpoint(stream.EndpointDescription(
            payload_layout = [("dat", data_width), ("be", lanes)],
            param_layout   = params,
        ))
        self.busy = Signal()
        self.soon = Signal()

        # # #

        # Rotate -----------------------------------------------------------------------------------
        statements, rotated = rotate_left(sink.dat, sink.amount, offset_bits - 1, lane_bits)
        self.comb += statements

        rot = stream.Endpoint(stream.EndpointDescription(
            payload_layout = [("dat", data_width), ("no_output", 1), ("flush", 1)],
            param_layout   = alignment_layout(offset_bits) + params,
        ))
        self.comb += sink.ready.eq(~rot.valid | rot.ready)
        self.sync += If(sink.ready,
            rot.valid.eq(sink.valid),
            rot.first.eq(sink.first),
            rot.last.eq(sink.last),
            rot.dat.eq(rotated),
            rot.no_output.eq(sink.first & (sink.start < sink.amount)),
            rot.flush.eq(sink.last & (sink.end < sink.amount)),
            *[getattr(rot, name).eq(getattr(sink, name)) for name, *_ in alignment_layout(offset_bits) + params],
        )

        # Merge ------------------------------------------------------------------------------------
        # All registers here belong to the packet of `previous`. Its flush may share a cycle with the next packet's
        # first beat if that beat produces no output.
        previous = Signal(data_width)  # The beat before that in `rot`, rotated as far.
        flush    = Signal()            # `previous` holds the data of an extra last beat.
        started  = Signal()            # The packet has produced output.
        held     = Record([("start", offset_bits), ("end", offset_bits), ("turn", 1)] + params)
        advance  = Signal()            # `source` can accept a beat.
        take     = Signal()            # The beat in `rot` is used.
        emit     = Signal()            # There is a beat for `source`.
        self.comb += [
            advance.eq(~source.valid | source.ready),
            rot.ready.eq(advance & (~flush | rot.no_output)),
            take.eq(rot.valid & rot.ready),
            emit.eq(flush | (rot.valid & ~rot.no_output)),
            self.busy.eq(rot.valid | flush | source.valid),
            self.soon.eq(rot.valid & ~rot.no_output & ~source.valid),
        ]
        self.sync += [
            If(advance,
                flush.eq(0),
                If(emit, started.eq(1)),
            ),
            If(take,
                previous.eq(rot.dat),
                flush.eq(rot.flush),
                If(rot.first, started.eq(~rot.no_output)),
                held.start.eq(rot.start),
                held.end.eq(rot.end),
                held.turn.eq(rot.amount[-1]),
                *[getattr(held, name).eq(getattr(rot, name)) for name, *_ in params],
            ),
        ]

        # Output -----------------------------------------------------------------------------------
        start  = Signal(offset_bits)
        finish = Signal(offset_bits)
        first  = Signal()
        last   = Signal()
        self.comb += [
            start.eq(Mux(flush, held.start, rot.start)),
            finish.eq(Mux(flush, held.end, rot.end)),
            first.eq(~started | (rot.first & ~flush)),
            last.eq(flush | (rot.last & ~rot.flush)),
        ]
        turn = Signal()  # Rotate both beats by half a beat: without a flush they are of the same packet.
        old  = Signal(data_width)
        new  = Signal(data_width)
        self.comb += [
            turn.eq(Mux(flush, held.turn, rot.amount[-1])),
            old.eq(Mux(turn, moved_up(previous, data_width//2), previous)),
            new.eq(Mux(turn, moved_up(rot.dat, data_width//2), rot.dat)),
        ]
        source.dat.reset_less = True  # The flip-flops have one reset input, which clears the lanes outside the packet.
        be = Signal(lanes)
        self.comb += [be[lane].eq((~first | (lane >= start)) & (~last | (lane <= finish))) for lane in range(lanes)]
        self.sync += If(advance,
            source.valid.eq(emit),
            source.first.eq(first),
            source.last.eq(last),
            source.be.eq(be),
            *[getattr(source, name).eq(Mux(flush, getattr(held, name), getattr(rot, name)))
                for name, *_ in params],
            # Lanes outside the packet are cleared.
            *[source.dat[lane*lane_bits:(lane + 1)*lane_bits].eq(Mux(be[lane],
                Mux(flush | (lane < rot.amount),
                    old[lane*lane_bits:(lane + 1)*lane_bits],
                    new[lane*lane_bits:(lane + 1)*lane_bits]),
                0)) for lane in range(lanes)],
        )
