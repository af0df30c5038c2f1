#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Schedules reads and writes of lines onto one path, in batches of a kind."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.arbiter import round_robin
from litepcie_soc.ddr.lines import line_read_layout, line_write_layout

# Bits of a write count, modulo which writes are numbered. Fewer than half as many writes may overtake a read.
WRITE_COUNT_BITS = 20

# Burst Arbiter ------------------------------------------------------------------------------------


class BurstArbiter(LiteXModule):
    """Joins streams round robin; grants the next client when one pauses, or after a beat with ``last``.

    Unlike with ``PacketArbiter``, a client that pauses within a packet does not block the others.

    Parameters
    ----------
    layout : layout of every sink and of the source.
    count  : number of sinks.

    Attributes
    ----------
    sinks  : list of Endpoint(layout), **in**.
    source : Endpoint(layout), **out**.
    grant  : log2(count), **out**, number of the sink whose beat is at the source.
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

# Read Write Scheduler -----------------------------------------------------------------------------


class ReadWriteScheduler(LiteXModule):
    """Schedules reads and writes of lines onto one path, in batches, so that the DRAM's bus turns around seldom.

    The memory executes accesses in the order of the path. A write may overtake a read that came before it. A
    read waits until all writes that were accepted before it are on the path: until ``written`` has reached
    the write count that came with the read.

    Parameters
    ----------
    line_width   : bits of a line.
    address_bits : bits of a line's address.
    batch        : most lines of one kind in a row, while the other kind waits.

    Attributes
    ----------
    writes : Endpoint(line_write_layout), **in**.
    reads  : Endpoint(line_read_layout), **in**.
    path   : Endpoint(path_layout), **out**.
    flush  : 1, **out**, a read waits for writes that have not arrived here yet.
    """
    def __init__(self, line_width, address_bits, batch):
        self.writes = writes = stream.Endpoint(line_write_layout(line_width, address_bits))
        self.reads  = reads  = stream.Endpoint(line_read_layout(address_bits, WRITE_COUNT_BITS))
        self.path   = path   = stream.Endpoint(path_layout(line_width, address_bits))
        self.flush  = Signal()

        # # #

        # The next read. ``surplus``: writes on the path minus those the read waits for. At zero or more it may go.
        read      = stream.Endpoint([("address", address_bits)])
        written   = Signal(WRITE_COUNT_BITS)   # Writes of words on the path so far.
        surplus   = Signal((WRITE_COUNT_BITS, True))
        passing   = Signal.like(writes.beats)  # Writes of words that enter the path in this cycle.
        can_read  = Signal()
        self.comb += [
            can_read.eq(read.valid & ~surplus[-1]),
            reads.ready.eq(~read.valid | read.ready),
            If(writes.valid & writes.ready, passing.eq(writes.beats)),
            self.flush.eq(read.valid & surplus[-1] & ~writes.valid),
        ]
        self.sync += [
            written.eq(written + passing),
            surplus.eq(surplus + passing),
            If(reads.ready,
                read.valid.eq(reads.valid),
                read.address.eq(reads.address),
                surplus.eq(written + passing - reads.write_count),
            )
        ]

        # A batch ends when no access of its kind is ready, or after ``batch`` lines while the other kind waits.
        writing = Signal()
        left    = Signal(max=batch, reset=batch - 1)
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
                change.eq(can_read & (~writes.valid | over))
            ).Else(
                path.valid.eq(can_read),
                path.address.eq(read.address),
                read.ready.eq(can_read & path.ready),
                change.eq(writes.valid & (~can_read | over))
            ),
            # The kind must not change while a beat waits.
            over.eq((left == 0) & path.ready),
        ]
        self.sync += [
            If(path.valid & path.ready & (left != 0), left.eq(left - 1)),
            If(change, writing.eq(~writing), left.eq(left.reset)),
        ]


def path_layout(line_width, address_bits):
    return [("we", 1), ("address", address_bits), ("dat", line_width), ("be", line_width // 8)]
