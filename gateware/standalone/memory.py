#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Endpoint memory outside the core: all clients in the core share one write and one read port."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.memory_ports import (
    MemoryReadStream,
    MemoryWriteStream,
    memory_command_layout,
    memory_write_layout,
)
from litepcie_soc.memory.bram import EndpointMemory

# External Memory ----------------------------------------------------------------------------------


class ExternalMemory(EndpointMemory):
    """Has the client ports of ``EndpointMemory`` and connects them to a memory outside the core.

    A read command that the memory accepts in a later cycle than a write must return the written data. Clients then see
    the same order, because a write passes in the cycle in which it is accepted. The memory answers read commands in
    order, after any time. There is room for every answer, so ``read.data`` never stalls.

    Parameters
    ----------
    size       : size in bytes, a power of two.
    data_width : bits of a word (64, 128, 256, 512).
    read_ahead : words that each client can have outstanding. Reads move one word per cycle up to that latency.

    Attributes
    ----------
    write : MemoryWriteStream, **out**; writes of all clients.
    read  : MemoryReadStream; ``command`` is **out**, ``data`` is **in**.
    """
    def __init__(self, size, data_width, read_ahead):
        EndpointMemory.__init__(self, size, data_width)
        self.PLACES = read_ahead
        self.write  = MemoryWriteStream(data_width, size)
        self.read   = MemoryReadStream(data_width, size)

    def do_finalize(self):
        self.finalize_writes()
        self.finalize_reads()

    def finalize_writes(self):
        # No register after the arbiter, because a read could overtake a write that waits in it.
        self.writes = self._arbiter(self._writes, memory_write_layout(self.data_width, self.size))
        self.comb  += self.writes.source.connect(self.write)

    def finalize_reads(self):
        layout       = memory_command_layout(self.data_width, self.size)
        clients      = self._reads
        self.reads   = self._arbiter([client.command for client in clients], layout)
        self.pending = stream.Buffer(layout)
        # Clients of the outstanding words, in order; one place per outstanding word.
        self.order   = stream.SyncFIFO([("client", len(self.reads.grant))], self.PLACES * len(clients))
        accepted     = self.reads.source.valid & self.reads.source.ready
        self.comb   += [
            self.reads.source.connect(self.pending.sink),
            self.pending.source.connect(self.read.command),
            self.order.sink.valid.eq(accepted),
            self.order.sink.client.eq(self.reads.grant),
            self.order.source.ready.eq(self.read.data.valid),
            self.read.data.ready.eq(self.order.source.valid),
        ]
        for n, client in enumerate(clients):
            mine = self.order.source.valid & (self.order.source.client == n)
            self.comb += [
                client.returned.valid.eq(self.read.data.valid & mine),
                client.returned.dat.eq(self.read.data.dat),
            ]
