#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""From reads and writes of lines to LiteDRAM's native ports: one path, in batches of a kind."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.arbiter import round_robin
from litepcie_soc.common.memory_ports import memory_data_layout
from litepcie_soc.ddr.lines import line_read_layout, line_write_layout

# Scheduler ----------------------------------------------------------------------------------------
# Schedules reads and writes of lines onto one path, in batches of a kind.

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

# Partial Writes -----------------------------------------------------------------------------------
# Read-modify-write of partly written lines, for a memory without data masks.


class PartialWrites(LiteXModule):
    """Turns partial writes into read-modify-writes, before ``NativePath``; passes everything else, one line per cycle.

    A partly written line is read first, and then written whole; the accesses after it wait until then. Lines return
    in order: the line of such a read arrives after the lines of all earlier reads have left. A write without any
    enabled byte is dropped.

    Parameters
    ----------
    line_width   : bits of a line.
    address_bits : bits of a line's address.
    places       : most lines in flight from the memory.

    Attributes
    ----------
    sink   : Endpoint(path_layout), **in**, controller's clock, like all of these.
    source : Endpoint(path_layout), **out**, every byte of a write is enabled.
    lines  : Endpoint(memory_data_layout), **in**, lines read at ``source``, in order.
    data   : Endpoint(memory_data_layout), **out**, lines read at ``sink``, in order.
    """
    def __init__(self, line_width, address_bits, places=64):
        self.sink   = sink   = stream.Endpoint(path_layout(line_width, address_bits))
        self.source = source = stream.Endpoint(path_layout(line_width, address_bits))
        self.lines  = lines  = stream.Endpoint(memory_data_layout(line_width))
        self.data   = data   = stream.Endpoint(memory_data_layout(line_width))

        # # #

        # A register before the source, where the path of the crossbar's ``ready`` ends.
        self.output = output = stream.Buffer(path_layout(line_width, address_bits), pipe_valid=True, pipe_ready=True)
        self.comb  += output.source.connect(source)
        next_access        = output.sink

        empty   = Signal()
        partial = Signal()
        whole   = 2**len(sink.be) - 1
        self.comb += [
            empty.eq(sink.we & (sink.be == 0)),
            partial.eq(sink.we & (sink.be != 0) & (sink.be != whole)),
        ]

        requested = Signal()            # The old line of the partial write at the sink was requested.
        ahead = Signal(max=2 * places)  # Lines of other reads that come before it. Some are in registers, so 2x.
        own   = Signal()                # The line at ``lines`` is the requested one.
        taken = Signal()
        left  = Signal()
        self.comb += [
            own.eq(requested & (ahead == 0)),
            next_access.valid.eq(sink.valid & ~empty & (~requested | (own & lines.valid))),
            next_access.we.eq(sink.we & (~partial | requested)),
            next_access.address.eq(sink.address),
            next_access.be.eq(whole),
            # A whole write takes no byte from ``lines``.
            [next_access.dat[n:n + 8].eq(Mux(sink.be[n // 8], sink.dat[n:n + 8], lines.dat[n:n + 8]))
                for n in range(0, line_width, 8)],
            sink.ready.eq(empty | (next_access.ready & next_access.valid & (~partial | requested))),
            data.dat.eq(lines.dat),
            data.valid.eq(lines.valid & ~own),
            lines.ready.eq(Mux(own, next_access.ready, data.ready)),
            taken.eq(sink.valid & sink.ready & ~sink.we),
            left.eq(data.valid & data.ready),
        ]
        self.sync += [
            If(next_access.valid & next_access.ready & partial, requested.eq(~requested)),
            ahead.eq(ahead + taken - left),
        ]

# Native Ports -------------------------------------------------------------------------------------
# One ordered path of reads and writes onto LiteDRAM's native ports.


class NativePath(LiteXModule):
    """Executes reads and writes of lines in order, over a write port and a read port of LiteDRAM's crossbar.

    Order: a command is offered only after the previous one was accepted. The crossbar grants a bank to one port
    until the bank's queue is empty, and a bank machine executes its queue in order. So two commands to the same bank
    execute in the order of their acceptance.

    Data: LiteDRAM takes write data at a fixed time after the command and returns read data without back-pressure.
    So the data of a write is here before its command leaves, and a read command reserves a place for its data.

    Parameters
    ----------
    write, read  : LiteDRAMNativePort, both of the same width.
    line_width   : bits of a line, a multiple of the ports' width.
    address_bits : bits of a line's address.
    places       : most native words in flight from the memory.

    Attributes
    ----------
    path : Endpoint(path_layout), **in**, controller's clock.
    data : Endpoint(memory_data_layout), **out**, controller's clock, the lines read, in order.
    """
    def __init__(self, write, read, line_width, address_bits, places=64):
        native_width = write.data_width
        parts        = line_width // native_width
        self.path    = path = stream.Endpoint(path_layout(line_width, address_bits))
        self.data    = data = stream.Endpoint(memory_data_layout(line_width))

        # # #

        # A line is accessed in parts, each as wide as the ports.
        part  = Signal(max=max(parts, 2))
        final = Signal()
        goes  = Signal()
        self.comb += [
            final.eq(part == parts - 1),
            path.ready.eq(goes & final),
        ]
        self.sync += If(goes, part.eq(Mux(final, 0, part + 1)))
        address = path.address if parts == 1 else Cat(part, path.address)

        # Writes. The queue holds the data of all commands that the bank machines can hold.
        self.written = written = stream.SyncFIFO([("data", native_width), ("we", native_width // 8)], 32)
        self.comb += [
            write.cmd.valid.eq(path.valid & path.we & written.sink.ready),
            write.cmd.we.eq(1),
            write.cmd.addr.eq(address),
            written.sink.valid.eq(write.cmd.valid & write.cmd.ready),
            written.source.connect(write.wdata),
            Case(part, {n: [
                written.sink.data.eq(path.dat[n * native_width:(n + 1) * native_width]),
                written.sink.we.eq(path.be[n * native_width // 8:(n + 1) * native_width // 8]),
            ] for n in range(parts)}),
        ]

        # Reads.
        free  = Signal(max=places + 1, reset=places)
        taken = Signal()
        left  = Signal()
        self.arrived = arrived = stream.SyncFIFO([("data", native_width)], places, buffered=True)
        self.joined  = joined  = stream.Converter(native_width, line_width)
        self.comb += [
            read.cmd.valid.eq(path.valid & ~path.we & (free != 0)),
            read.cmd.we.eq(0),
            read.cmd.addr.eq(address),
            taken.eq(read.cmd.valid & read.cmd.ready),
            goes.eq(taken | (write.cmd.valid & write.cmd.ready)),
            read.rdata.ready.eq(1),
            arrived.sink.valid.eq(read.rdata.valid),
            arrived.sink.data.eq(read.rdata.data),
            arrived.source.connect(joined.sink),
            left.eq(arrived.source.valid & arrived.source.ready),
            data.valid.eq(joined.source.valid),
            data.dat.eq(joined.source.data),
            joined.source.ready.eq(data.ready),
        ]
        self.sync += free.eq(free - taken + left)
