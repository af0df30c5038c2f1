#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Accesses of the host to the window."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.memory_ports import MemoryReadStream, MemoryWriteStream
from litepcie_soc.common.pcie import HEADER_3DW, HEADER_4DW, has_4_dwords
from litepcie_soc.tlp.parser import tlp_layout
from litepcie_soc.tlp.realign import Realigner, alignment

# Constants ----------------------------------------------------------------------------------------

# A TLP never crosses a multiple of this (PCIe 4.0 2.2.7): it is wholly within a window of such a size, or beyond it.
PAGE_BYTES = 4096

def next_dword(dword):
    """Expression: the address of the next dword of the same TLP."""
    bits = log2_int(PAGE_BYTES//4)
    return Cat((dword[:bits] + 1)[:bits], dword[bits:])


def beyond_window(address, window_bytes, space_bytes):
    """Expression: a byte address in a space of `space_bytes` is beyond the window at its start."""
    return address[log2_int(window_bytes):log2_int(space_bytes)] != 0 if window_bytes < space_bytes else 0

# Window Writer ------------------------------------------------------------------------------------

class WindowWriter(LiteXModule):
    """Writes the payload of memory writes to the endpoint memory; one beat per cycle.

    Writes beyond the window are dropped: their beats have no byte enables.

    Parameters
    ----------
    data_width   : int, bits.
    window_bytes : int, bytes of the window.
    space_bytes  : int, bytes of BAR0 that begin with the window.

    Attributes
    ----------
    sink   : stream of `tlp_layout`, **in**, memory writes to the window only.
    source : MemoryWriteStream, **out**.
    busy   : Signal(), **out**, an accepted write has not reached the memory.
    ended  : Signal(), **out**, the last beat of a write reaches the memory.
    """
    def __init__(self, data_width, window_bytes, space_bytes):
        self.sink   = sink   = stream.Endpoint(tlp_layout(data_width))
        self.source = source = MemoryWriteStream(data_width, window_bytes)
        self.busy   = Signal()
        self.ended  = Signal()

        # # #

        lanes     = data_width//32
        lane_bits = log2_int(lanes)
        word_bits = len(source.address)

        # Align: from the dword lane after the header to the dword lane of the address -------------
        self.realigner = realigner = Realigner(data_width, lane_bits=32, param_layout=[
            ("address", word_bits), ("beyond", 1), ("first_be", 4), ("last_be", 4)])
        address = Signal(32)
        self.comb += [
            address.eq(Mux(has_4_dwords(sink.dw0), sink.dw3, sink.dw2)),
            sink.connect(realigner.sink, keep={"valid", "ready", "first", "last", "dat"}),
            *alignment(realigner.sink, Mux(has_4_dwords(sink.dw0), HEADER_4DW//4, HEADER_3DW//4),
                address[2:2 + lane_bits], sink.dw0[:lane_bits]),
            realigner.sink.address.eq(address[2 + lane_bits:]),
            realigner.sink.beyond.eq(beyond_window(address, window_bytes, space_bytes)),
            realigner.sink.first_be.eq(sink.dw1[0:4]),
            # The last byte enables of a request of one dword are 0; its first byte enables apply.
            realigner.sink.last_be.eq(Mux(sink.dw0[:10] == 1, 0b1111, sink.dw1[4:8])),
            self.busy.eq(realigner.busy),
            self.ended.eq(source.valid & source.ready & source.last),
        ]

        # Byte enables, addresses ------------------------------------------------------------------
        aligned      = realigner.source
        next_address = Signal(word_bits)
        self.comb += [
            source.valid.eq(aligned.valid),
            source.first.eq(aligned.first),
            source.last.eq(aligned.last),
            source.address.eq(Mux(aligned.first, aligned.address, next_address)),
            source.dat.eq(aligned.dat),
            aligned.ready.eq(source.ready),
        ]
        self.sync += If(source.valid & source.ready, next_address.eq(source.address + 1))
        for lane in range(lanes):
            opens  = aligned.first & (~aligned.be[lane - 1] if lane else 1)
            closes = aligned.last & (~aligned.be[lane + 1] if lane < lanes - 1 else 1)
            self.comb += source.be[4*lane:4*lane + 4].eq(
                Replicate(aligned.be[lane] & ~aligned.beyond, 4) &
                Mux(opens,  aligned.first_be, 0b1111) &
                Mux(closes, aligned.last_be,  0b1111))

# Window Reader ------------------------------------------------------------------------------------

class WindowReader(LiteXModule):
    """Reads consecutive dwords of the window; one per cycle, after the memory's latency.

    Dwords beyond the window read as 0. The reader asks for whole words of the memory ahead; it drops what is left of
    the last one when `enable` is deasserted.

    Parameters
    ----------
    data_width   : int, bits of the endpoint memory.
    window_bytes : int, bytes of the window.
    space_bytes  : int, bytes of BAR0 that begin with the window.

    Attributes
    ----------
    address     : Signal(32), **in**, byte address of the first dword, in the cycle before `enable` is asserted.
    dwords      : Signal(11), **in**, number of dwords, 1..1024, in the same cycle.
    enable      : Signal(), **in**, read; asserted until the last dword was taken, then deasserted for at least a cycle.
    dat         : Signal(32), **out**, the next dword, in memory byte order.
    valid       : Signal(), **out**, `dat` is valid.
    ready       : Signal(), **in**, take `dat`.
    window_read : MemoryReadStream, **out**.
    """
    def __init__(self, data_width, window_bytes, space_bytes):
        self.address = Signal(32)
        self.dwords  = Signal(11)
        self.enable  = Signal()
        self.dat     = Signal(32)
        self.valid   = Signal()
        self.ready   = Signal()
        self.window_read = window = MemoryReadStream(data_width, window_bytes)

        # # #

        lanes     = data_width//32
        lane_bits = log2_int(lanes)
        beyond    = Signal()
        left      = Signal(12)              # Dwords left to ask for, up to the end of their last word.
        lane      = Signal(lane_bits)       # Lane of the next dword.
        dword     = Signal(32)
        take      = Signal()
        self.comb += [
            window.command.valid.eq(self.enable & ~beyond & (left[lane_bits:] != 0)),
            window.command.first.eq(1),
            window.command.last.eq(1),
            Case(lane, {n: dword.eq(window.data.dat[32*n:32*n + 32]) for n in range(lanes)}),
            take.eq(self.enable & (window.data.valid | beyond) & (~self.valid | self.ready)),
            window.data.ready.eq(~self.enable | (take & (lane == lanes - 1))),
        ]
        self.sync += [
            If(self.ready, self.valid.eq(0)),
            If(take,
                self.valid.eq(1),
                self.dat.eq(Mux(beyond, 0, dword)),
                lane.eq(lane + 1)
            ),
            If(window.command.valid & window.command.ready,
                window.command.address.eq(window.command.address + 1)
            ),
            # One adder, with a multiplexer in front of each input.
            If(~self.enable | (window.command.valid & window.command.ready),
                left.eq(Mux(self.enable, left, self.dwords) +
                    Mux(self.enable, 2**len(left) - lanes, self.address[2:2 + lane_bits] + (lanes - 1)))
            ),
            If(~self.enable,
                self.valid.eq(0),
                beyond.eq(beyond_window(self.address, window_bytes, space_bytes)),
                lane.eq(self.address[2:]),
                window.command.address.eq(self.address[2 + lane_bits:])
            ),
        ]
