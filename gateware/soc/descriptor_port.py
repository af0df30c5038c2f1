#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Port through which the user's logic moves data between buffers of the host and the endpoint memory."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.dma.descriptor import at_most
from litepcie_soc.dma.reader import Reader
from litepcie_soc.dma.settle import settled
from litepcie_soc.dma.writer import Writer
from litepcie_soc.soc.host_descriptors import DEPTH, HostDescriptors

# Descriptor Port ----------------------------------------------------------------------------------


class DescriptorPort(LiteXModule):
    """A reader and a writer that execute descriptors of the user's logic, at the speed of the link.

    They are those of a DMA engine, without ring, status block and interrupt: descriptors come from ``sink``, and
    their ends go to ``source``.

    Parameters
    ----------
    host         : ``HostBuffers`` that the descriptors name.
    read_port    : MemoryReadPort for the data, `ordered`.
    write_port   : MemoryWritePort for the data.
    memory_write : MemoryWriteStream of the endpoint memory.
    memory_read  : MemoryReadStream of the endpoint memory.
    longest_read : most bytes of a request, a power of two from 128, even if MRRS is larger.
    depth        : descriptors whose end has not been taken, a power of two.
    queue        : descriptors that wait for the reader, and for the writer. Without any, one that waits for tags or for
        credits keeps the others of both directions waiting.

    Attributes
    ----------
    sink     : Endpoint(user_descriptor_layout), **in**; see ``HostDescriptors``.
    source   : Endpoint(end_layout), **out**. The end of a write comes when the PHY has accepted its last byte: what
        the card sends afterwards does not overtake it. That of a read, when the endpoint memory has its last byte and
        the card has executed the writes of the host before it.
    max_payload_size, max_request_size : 16, **in**, MPS and MRRS in force, bytes.
    can_send : Signal(), **in**, bus mastering is on and the link is up.
    reset    : Signal(), **in**, the function is being reset.
    busy     : Signal(), **out**, a reset has begun, and descriptors have not all ended.
    """
    def __init__(self, host, *, read_port, write_port, memory_write, memory_read, longest_read, depth=DEPTH,
        queue=0):
        self.descriptors = descriptors = HostDescriptors(host, memory_write.size, depth, order=read_port.order)
        self.sink     = descriptors.sink
        self.source   = descriptors.source
        self.can_send = descriptors.can_send
        self.reset    = descriptors.reset
        self.busy     = descriptors.busy
        self.max_payload_size = Signal(16)
        self.max_request_size = Signal(16)

        # # #

        clear = ResetInserter()
        self.reader = clear(settled(Reader(read_port, memory_write), memory_write))
        self.writer = clear(settled(Writer(write_port, memory_read), memory_read))
        for name, mover in (("reader", self.reader), ("writer", self.writer)):
            source = descriptors.sources[name]
            if queue:
                waiting = clear(stream.SyncFIFO(source.description, queue))
                self.add_module(f"{name}_queue", waiting)
                self.comb += [source.connect(waiting.sink), waiting.reset.eq(descriptors.forget)]
                source = waiting.source
            self.comb += [
                source.connect(mover.sink),
                descriptors.dones[name].eq(mover.done),
                descriptors.idles[name].eq(mover.idle),
                mover.run.eq(descriptors.run),
                mover.issue.eq(descriptors.run),
                mover.reset.eq(descriptors.forget),
            ]
        self.comb += [
            self.reader.boundary.eq(at_most(longest_read, self.max_request_size)),
            self.writer.boundary.eq(self.max_payload_size),
        ]
