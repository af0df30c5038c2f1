#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The byte rotation between host addresses and endpoint addresses."""

from math import log2

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import check_data_width

# Helpers ------------------------------------------------------------------------------------------

def rotate_left(value, amount, lane_bits):
    """`value` with its lanes moved up by `amount` (a Signal of log2(lanes) bits), wrapping round.

    Gives the statements that compute it, and the Signal they drive.
    """
    width      = len(value)
    statements = []
    for bit in range(len(amount)):
        step   = lane_bits << bit
        moved  = Cat(value[width - step:], value[:width - step])
        chosen = Signal(width)
        statements.append(chosen.eq(Mux(amount[bit], moved, value)))
        value = chosen
    return statements, value


def placement_layout(offset_bits):
    """Where a packet goes; see `placement`."""
    return [("amount", offset_bits), ("start", offset_bits), ("end", offset_bits)]


def placement(sink, in_offset, out_offset, length):
    """Statements for the parameters of `placement_layout`: lanes of the first byte in the first beat in and out, and
    the length, of which the bits of a beat are enough."""
    return [
        sink.amount.eq(out_offset - in_offset),
        sink.start.eq(out_offset),
        sink.end.eq(out_offset + length - 1),
    ]

# Realigner ----------------------------------------------------------------------------------------

class Realigner(LiteXModule):
    """Moves the bytes of a packet from one lane offset to another, a beat a cycle.

    Every beat is rotated by `amount`. Lanes that wrapped belong to the output beat after the one
    of those that did not, so an output beat is the rotated beat in its upper lanes and the one before it in its
    lower lanes. A first beat that wrapped as a whole gives no output; a last beat that wrapped gives one more
    (the flush). A flush shares its cycle with a following first beat that gives no output, so back-to-back
    packets take max(input beats, output beats) cycles each, or fewer. Latency: 2 cycles.

    Parameters
    ----------
    data_width   : int, bits of a beat.
    lane_bits    : int, 8 to move bytes, 32 to move dwords only. Parameters and `be` count in lanes.
    param_layout : list, parameters that travel with the packet.

    Attributes
    ----------
    sink : stream, **in**, `sys`: payload `dat`; parameters, stable during a packet: `amount` (by which it moves up,
        modulo the lanes), `start` and `end` (lanes in the output of the first and of the last byte; see `placement`),
        `param_layout`. Beats without a gap; `first` and `last` are needed.
    source : stream, **out**, `sys`: `dat`, `be` (lanes of the packet; others are 0), `param_layout`.
    busy : Signal(), **out**, something of a packet is inside.
    """
    def __init__(self, data_width, *, lane_bits=8, param_layout=()):
        check_data_width(data_width)
        if lane_bits not in (8, 32):
            raise ValueError(f"lane_bits must be 8 or 32, not {lane_bits!r}")
        lanes       = data_width//lane_bits
        offset_bits = int(log2(lanes))
        params      = list(param_layout)
        self.sink = sink = stream.Endpoint(stream.EndpointDescription(
            payload_layout = [("dat", data_width)],
            param_layout   = placement_layout(offset_bits) + params,
        ))
        self.source = source = stream.Endpoint(stream.EndpointDescription(
            payload_layout = [("dat", data_width), ("be", lanes)],
            param_layout   = params,
        ))
        self.busy = Signal()

        # # #

        # Rotate -----------------------------------------------------------------------------------
        statements, rotated = rotate_left(sink.dat, sink.amount, lane_bits)
        self.comb += statements

        rot = stream.Endpoint(stream.EndpointDescription(
            payload_layout = [("dat", data_width), ("silent", 1), ("flush", 1)],
            param_layout   = placement_layout(offset_bits) + params,
        ))
        self.comb += sink.ready.eq(~rot.valid | rot.ready)
        self.sync += If(sink.ready,
            rot.valid.eq(sink.valid),
            rot.first.eq(sink.first),
            rot.last.eq(sink.last),
            rot.dat.eq(rotated),
            rot.silent.eq(sink.first & (sink.start < sink.amount)),
            rot.flush.eq(sink.last & (sink.end < sink.amount)),
            *[getattr(rot, name).eq(getattr(sink, name)) for name, *_ in placement_layout(offset_bits) + params],
        )

        # Merge ------------------------------------------------------------------------------------
        # The packet that `previous` is of; its flush may share a cycle with the next packet's silent first beat.
        previous = Signal(data_width)
        flush    = Signal()
        started  = Signal()
        held     = Record([("start", offset_bits), ("end", offset_bits)] + params)
        advance  = Signal()
        take     = Signal()
        emit     = Signal()
        self.comb += [
            advance.eq(~source.valid | source.ready),
            rot.ready.eq(advance & (~flush | rot.silent)),
            take.eq(rot.valid & rot.ready),
            emit.eq(flush | (rot.valid & ~rot.silent)),
            self.busy.eq(rot.valid | flush | source.valid),
        ]
        self.sync += [
            If(advance,
                flush.eq(0),
                If(emit, started.eq(1)),
            ),
            If(take,
                previous.eq(rot.dat),
                flush.eq(rot.flush),
                If(rot.first, started.eq(~rot.silent)),
                held.start.eq(rot.start),
                held.end.eq(rot.end),
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
        be = Signal(lanes)
        self.comb += [be[lane].eq((~first | (lane >= start)) & (~last | (lane <= finish))) for lane in range(lanes)]
        self.sync += If(advance,
            source.valid.eq(emit),
            source.first.eq(first),
            source.last.eq(last),
            source.be.eq(be),
            *[getattr(source, name).eq(Mux(flush, getattr(held, name), getattr(rot, name)))
                for name, *_ in params],
            # What is not the packet's is cleared in the same LUT.
            *[source.dat[lane*lane_bits:(lane + 1)*lane_bits].eq(Replicate(be[lane], lane_bits) & Mux(
                flush | (lane < rot.amount),
                previous[lane*lane_bits:(lane + 1)*lane_bits],
                rot.dat[lane*lane_bits:(lane + 1)*lane_bits])) for lane in range(lanes)],
        )
