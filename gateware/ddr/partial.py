#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Writes of parts of a line, for a memory that writes whole lines only."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.memory_ports import memory_data_layout
from litepcie_soc.ddr.turns import path_layout

# Partial Writes -----------------------------------------------------------------------------------


class PartialWrites(LiteXModule):
    """Stands in front of ``NativePath`` and makes whole writes of partial ones; all else passes, a line a cycle.

    A line of which some bytes are written is read, and goes on as a write of all its bytes; what is behind it on the
    path waits until then. Lines come back in order: the line of such a read comes when those of all reads
    before it have left. A write without a byte ends here.

    Parameters
    ----------
    line_width   : bits of a line.
    address_bits : bits of a line's address.
    places       : lines that can be on their way from the memory.

    Attributes
    ----------
    sink   : Endpoint(path_layout), in, sys (of the controller).
    source : Endpoint(path_layout), out, sys: every byte of a write is enabled.
    lines  : Endpoint(memory_data_layout), in, sys: the lines that were read at ``source``, in order.
    data   : Endpoint(memory_data_layout), out, sys: the lines that were read at ``sink``, in order.
    """
    def __init__(self, line_width, address_bits, places=64):
        self.sink   = sink   = stream.Endpoint(path_layout(line_width, address_bits))
        self.source = source = stream.Endpoint(path_layout(line_width, address_bits))
        self.lines  = lines  = stream.Endpoint(memory_data_layout(line_width))
        self.data   = data   = stream.Endpoint(memory_data_layout(line_width))

        # # #

        # In front of a register, where ``ready`` of the crossbar ends.
        self.leaving = leaving = stream.Buffer(path_layout(line_width, address_bits), pipe_valid=True, pipe_ready=True)
        self.comb   += leaving.source.connect(source)
        goes         = leaving.sink

        empty   = Signal()
        partial = Signal()
        whole   = 2**len(sink.be) - 1
        self.comb += [
            empty.eq(sink.we & (sink.be == 0)),
            partial.eq(sink.we & (sink.be != 0) & (sink.be != whole)),
        ]

        # The line at the sink was asked for; how many lines of other reads come before it.
        asked = Signal()
        ahead = Signal(max=2 * places)  # Some are in registers besides.
        own   = Signal()
        taken = Signal()
        left  = Signal()
        self.comb += [
            own.eq(asked & (ahead == 0)),
            goes.valid.eq(sink.valid & ~empty & (~asked | (own & lines.valid))),
            goes.we.eq(sink.we & (~partial | asked)),
            goes.address.eq(sink.address),
            goes.be.eq(whole),
            # Of a whole write nothing comes from ``lines``.
            [goes.dat[n:n + 8].eq(Mux(sink.be[n // 8], sink.dat[n:n + 8], lines.dat[n:n + 8]))
                for n in range(0, line_width, 8)],
            sink.ready.eq(empty | (goes.ready & goes.valid & (~partial | asked))),
            data.dat.eq(lines.dat),
            data.valid.eq(lines.valid & ~own),
            lines.ready.eq(Mux(own, goes.ready, data.ready)),
            taken.eq(sink.valid & sink.ready & ~sink.we),
            left.eq(data.valid & data.ready),
        ]
        self.sync += [
            If(goes.valid & goes.ready & partial, asked.eq(~asked)),
            ahead.eq(ahead + taken - left),
        ]
