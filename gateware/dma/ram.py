#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""RAM that descriptors are fetched into."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import read_data_layout
from litepcie_soc.dma.descriptor import DESCRIPTOR_BYTES

# Descriptor RAM -----------------------------------------------------------------------------------


class DescriptorRAM(LiteXModule):
    """Stores beats of any data width and returns descriptors; byte addresses wrap.

    Descriptor n has byte address 16 n. A descriptor never spans two beats (two 64-bit beats hold one):
    host and destination addresses are multiples of 16, and completions split at multiples of 64.

    Parameters
    ----------
    data_width : bits of a beat (64, 128, 256, 512).
    depth      : descriptors, a power of two.

    Attributes
    ----------
    sink  : Endpoint(read_data_layout), **in**, always ready.
    slot  : log2(depth), **in**, descriptor to read.
    read  : 1, **in**, reads it; ``value`` does not change without it.
    value : 128, **out**, the descriptor, one cycle after ``read``.
    """
    def __init__(self, data_width, depth):
        self.sink  = sink = stream.Endpoint(read_data_layout(data_width))
        self.slot  = Signal(max=depth)
        self.read  = Signal()
        self.value = Signal(8 * DESCRIPTOR_BYTES)

        # # #

        # A row holds whole descriptors: it is as wide as a beat, but at least 128 bits. It is written in 64-bit parts.
        row_width = max(data_width, len(self.value))
        per_row   = row_width // len(self.value)
        beats     = row_width // data_width
        storage   = Memory(row_width, depth // per_row)
        write     = storage.get_port(write_capable=True, we_granularity=64, mode=READ_FIRST)
        read      = storage.get_port(has_re=True, mode=READ_FIRST)
        self.specials += storage, write, read
        # No descriptor is read before it has landed, so never in the cycle in which it is written. Without this, yosys
        # adds registers and multiplexers behind the RAM for that case, on the longest path of ECP5. Wider rows stay in
        # RAM made of LUTs; with it, yosys would take many block RAMs that are nearly empty.
        if per_row == 1:
            storage.attr = {("no_rw_check", 1)}

        enables = Cat(*[sink.be[8 * n] for n in range(data_width // 64)])
        self.comb += [
            sink.ready.eq(1),
            write.dat_w.eq(Replicate(sink.dat, beats)),
            write.adr.eq(sink.address[log2_int(beats):]),
            If(sink.valid, write.we.eq(enables)),
            read.adr.eq(self.slot[log2_int(per_row):]),
            read.re.eq(self.read),
        ]
        if beats == 2:
            self.comb += If(sink.valid, write.we.eq(Cat(enables & ~sink.address[0],
                enables & sink.address[0])))
        if per_row == 1:
            self.comb += self.value.eq(read.dat_r)
        else:
            part = Signal(max=per_row)
            self.sync += If(self.read, part.eq(self.slot[:log2_int(per_row)]))
            self.comb += Case(part, {
                n: self.value.eq(read.dat_r[len(self.value) * n:len(self.value) * (n + 1)])
                for n in range(per_row)})
