#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Writes of the host to the window."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.memory_ports import MemoryWriteStream
from litepcie_soc.common.pcie import HEADER_3DW, HEADER_4DW, has_4_dwords
from litepcie_soc.tlp.parser import tlp_layout
from litepcie_soc.tlp.realign import Realigner, alignment

# Window Writer ------------------------------------------------------------------------------------

class WindowWriter(LiteXModule):
    """Writes the payload of memory writes to the endpoint memory; one beat per cycle.

    Parameters
    ----------
    data_width   : int, bits.
    window_bytes : int, bytes of the window.

    Attributes
    ----------
    sink   : stream of `tlp_layout`, **in**, memory writes to the window only.
    source : MemoryWriteStream, **out**.
    busy   : Signal(), **out**, an accepted write has not reached the memory.
    """
    def __init__(self, data_width, window_bytes):
        self.sink   = sink   = stream.Endpoint(tlp_layout(data_width))
        self.source = source = MemoryWriteStream(data_width, window_bytes)
        self.busy   = Signal()

        # # #

        lanes     = data_width//32
        lane_bits = log2_int(lanes)
        word_bits = len(source.address)

        # Align: from the dword lane after the header to the dword lane of the address -------------
        self.realigner = realigner = Realigner(data_width, lane_bits=32, param_layout=[
            ("address", word_bits), ("first_be", 4), ("last_be", 4)])
        address = Signal(32)
        self.comb += [
            address.eq(Mux(has_4_dwords(sink.dw0), sink.dw3, sink.dw2)),
            sink.connect(realigner.sink, keep={"valid", "ready", "first", "last", "dat"}),
            *alignment(realigner.sink, Mux(has_4_dwords(sink.dw0), HEADER_4DW//4, HEADER_3DW//4),
                address[2:2 + lane_bits], sink.dw0[:lane_bits]),
            realigner.sink.address.eq(address[2 + lane_bits:]),
            realigner.sink.first_be.eq(sink.dw1[0:4]),
            # The last byte enables of a request of one dword are 0; its first byte enables apply.
            realigner.sink.last_be.eq(Mux(sink.dw0[:10] == 1, 0b1111, sink.dw1[4:8])),
            self.busy.eq(realigner.busy),
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
                Replicate(aligned.be[lane], 4) &
                Mux(opens,  aligned.first_be, 0b1111) &
                Mux(closes, aligned.last_be,  0b1111))
