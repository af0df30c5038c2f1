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
from litepcie_soc.ddr.scheduler import path_layout

# Native Path --------------------------------------------------------------------------------------


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
