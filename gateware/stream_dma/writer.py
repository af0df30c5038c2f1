#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Writer of a stream: the user's ``sink`` to host memory."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.dma.descriptor import descriptor_layout, done_layout
from litepcie_soc.dma.writer import Writer
from litepcie_soc.stream_dma.input import PacketInput
from litepcie_soc.stream_dma.splitter import BufferSplitter
from litepcie_soc.stream_dma.stream import WORDS

# Stream Writer ------------------------------------------------------------------------------------


class StreamWriter(LiteXModule):
    """Moves user packets through a RAM into the buffers of descriptors, one beat per cycle.

    A TLP is as long as MPS allows; it waits until all its bytes are in the RAM. The end of a packet
    sends the remaining bytes as a shorter TLP. Without it, they wait for more bytes.

    Complete means sent: first the data of a buffer, then its report dword.

    Parameters
    ----------
    port  : MemoryWritePort of the data.
    words : words of the RAM, a power of two.

    Attributes
    ----------
    As ``Writer``, and:

    user           : Endpoint(user_layout), **in**; not ready while the engine is off.
    passed         : **out**, number of bytes that came from the user in the last cycle.
    status_address : 64, **in**, host address of the status block; the array of reports follows the block.
    ring_log2      : 4, **in**, log2 of the descriptors in the ring.
    """
    def __init__(self, port, words=WORDS):
        packets             = 32
        self.input          = PacketInput(port.data_width, words, reports=packets)
        self.writer         = writer = Writer(port, self.input.memory, packets,
            splitter=BufferSplitter(self.input))
        self.user           = self.input.sink
        self.passed         = self.input.passed
        self.status_address = self.splitter.status_address
        self.ring_log2      = self.splitter.ring_log2
        self.sink           = stream.Endpoint(descriptor_layout(None))
        self.boundary       = writer.boundary
        self.run            = writer.run
        self.issue          = writer.issue
        self.done           = done = Record(done_layout())
        self.idle           = writer.idle
        self.tlp            = Signal()
        self.moved          = writer.moved
        self.wait_tag       = writer.wait_tag
        self.wait_link      = writer.wait_link
        self.wait_data      = Signal()

        # # #

        report = Signal()
        self.comb += [
            self.sink.connect(writer.sink, omit={"packet_end"}),
            # The bytes of reports do not count as stream data.
            report.eq(writer.done.slot_last),
            done.eq(writer.done),
            If(report, done.bytes.eq(0)),
            self.tlp.eq(writer.done.valid & ~report & (writer.done.reason == REASON_NONE)),
            self.wait_data.eq(writer.wait_data
                | (self.splitter.busy & ~self.moved & ~self.wait_link)),
        ]
        # During a pause, the buffer that has begun may still fill.
        self.sync += self.input.enable.eq(self.issue & (self.run | self.splitter.busy))

    @property
    def splitter(self):
        return self.writer.splitter
