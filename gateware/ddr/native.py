#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""One ordered path of reads and writes onto LiteDRAM's native ports."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.memory_ports import memory_data_layout
from litepcie_soc.ddr.turns import path_layout

# Native Path --------------------------------------------------------------------------------------


class NativePath(LiteXModule):
    """Executes reads and writes of lines in their order, over a write and a read port of LiteDRAM's crossbar.

    Order: a command is offered when the one before it was accepted. The crossbar gives a bank to one port at a
    time, until the bank's queue is empty, and a bank machine executes its queue in order; so what was accepted first is
    executed first wherever two commands meet. LiteDRAM takes written data at a fixed time behind the command and
    gives read data without asking: data is here before its command leaves, and a place for data is kept from
    the command on.

    Parameters
    ----------
    write, read  : LiteDRAMNativePort, of one width.
    line_width   : bits of a line, a multiple of theirs.
    address_bits : bits of a line's address.
    places       : native words that can be on their way from the memory.

    Attributes
    ----------
    path : Endpoint(path_layout), in, sys (of the controller).
    data : Endpoint(memory_data_layout), out, sys: the lines read, in order.
    """
    def __init__(self, write, read, line_width, address_bits, places=64):
        native_width = write.data_width
        parts        = line_width // native_width
        self.path    = path = stream.Endpoint(path_layout(line_width, address_bits))
        self.data    = data = stream.Endpoint(memory_data_layout(line_width))

        # # #

        # Parts of a line, one after the other.
        part  = Signal(max=max(parts, 2))
        final = Signal()
        goes  = Signal()
        self.comb += [
            final.eq(part == parts - 1),
            path.ready.eq(goes & final),
        ]
        self.sync += If(goes, part.eq(Mux(final, 0, part + 1)))
        address = path.address if parts == 1 else Cat(part, path.address)

        # Writes: as many as a bank machine can hold wait for their time.
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
