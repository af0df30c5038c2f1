#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Read-modify-write of partly written lines, for a memory without data masks."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.memory_ports import memory_data_layout
from litepcie_soc.ddr.scheduler import path_layout

# Partial Writes -----------------------------------------------------------------------------------


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
