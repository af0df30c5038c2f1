#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Reads and writes on one path, in turns."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.arbiter import round_robin
from litepcie_soc.ddr.lines import line_read_layout, line_write_layout

# A read must not be passed by more writes than half of what a ticket counts.
TICKET_BITS = 20

# Run Arbiter --------------------------------------------------------------------------------------


class RunArbiter(LiteXModule):
    """Joins streams, round robin, changing over where a client pauses or a beat says ``last``.

    As ``PacketArbiter``, except that a client that pauses within a packet stops nobody.

    Parameters
    ----------
    layout : layout of every sink and of the source.
    count  : int, number of sinks.

    Attributes
    ----------
    sinks  : list of streams, in, sys.
    source : stream, out, sys.
    grant  : out, the sink whose beat is at the source.
    """
    def __init__(self, layout, count):
        self.sinks  = [stream.Endpoint(layout, name=f"sink{n}") for n in range(count)]
        self.source = source = stream.Endpoint(layout)
        self.grant  = grant = Signal(max=max(count, 2))

        # # #

        choice = Signal.like(grant)
        self.comb += [
            Case(grant, {n: sink.connect(source) for n, sink in enumerate(self.sinks)}),
            round_robin([sink.valid for sink in self.sinks], grant, choice),
        ]
        self.sync += If(~source.valid | (source.ready & source.last), grant.eq(choice))

# Turns --------------------------------------------------------------------------------------------


class Turns(LiteXModule):
    """Puts reads and writes of lines on one path, many of a kind behind each other.

    The order on the path is the order in which the memory has them. A write may pass a read that came
    before it; a read waits until ``written`` has reached its ticket, the count of writes accepted before it.

    Parameters
    ----------
    line_width   : bits of a line.
    address_bits : bits of a line's address.
    turn         : lines of one kind at most, while the other waits.

    Attributes
    ----------
    writes : Endpoint(line_write_layout), in, sys.
    reads  : Endpoint(line_read_layout), in, sys.
    path   : Endpoint(path_layout), out, sys.
    flush  : 1, out, sys, a read waits for writes that are not here yet.
    """
    def __init__(self, line_width, address_bits, turn):
        self.writes = writes = stream.Endpoint(line_write_layout(line_width, address_bits))
        self.reads  = reads  = stream.Endpoint(line_read_layout(address_bits, TICKET_BITS))
        self.path   = path   = stream.Endpoint(path_layout(line_width, address_bits))
        self.flush  = Signal()

        # # #

        # The next read, and how many of the writes it waits for are missing: none from zero on.
        read    = stream.Endpoint([("address", address_bits)])
        written = Signal(TICKET_BITS)
        ahead   = Signal((TICKET_BITS, True))
        passing = Signal.like(writes.beats)  # Beats on the path in this cycle.
        may     = Signal()
        self.comb += [
            may.eq(read.valid & ~ahead[-1]),
            reads.ready.eq(~read.valid | read.ready),
            If(writes.valid & writes.ready, passing.eq(writes.beats)),
            self.flush.eq(read.valid & ahead[-1] & ~writes.valid),
        ]
        self.sync += [
            written.eq(written + passing),
            ahead.eq(ahead + passing),
            If(reads.ready,
                read.valid.eq(reads.valid),
                read.address.eq(reads.address),
                ahead.eq(written + passing - reads.ticket),
            )
        ]

        # A turn ends when there is nothing left to do in it, or after so many while the other side waits.
        writing = Signal()
        left    = Signal(max=turn, reset=turn - 1)
        over    = Signal()
        change  = Signal()
        self.comb += [
            path.we.eq(writing),
            path.dat.eq(writes.dat),
            path.be.eq(writes.be),
            If(writing,
                path.valid.eq(writes.valid),
                path.address.eq(writes.address),
                writes.ready.eq(path.ready),
                change.eq(may & (~writes.valid | over))
            ).Else(
                path.valid.eq(may),
                path.address.eq(read.address),
                read.ready.eq(may & path.ready),
                change.eq(writes.valid & (~may | over))
            ),
            # No change under a beat that waits.
            over.eq((left == 0) & path.ready),
        ]
        self.sync += [
            If(path.valid & path.ready & (left != 0), left.eq(left - 1)),
            If(change, writing.eq(~writing), left.eq(left.reset)),
        ]


def path_layout(line_width, address_bits):
    return [("we", 1), ("address", address_bits), ("dat", line_width), ("be", line_width // 8)]
