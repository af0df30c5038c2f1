#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Endpoint memory that is somewhere else: its clients share one write and one read port."""

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
    """The clients' side of ``EndpointMemory`` in front of a memory outside.

    The memory must show a write to every read command that it accepts in a later cycle than the
    write; then it holds for the clients, too: a write passes in the cycle in which it is accepted.
    It answers read commands in their order, at any time. There is room for every answer: ``read.data``
    is never held up.

    Parameters
    ----------
    size       : bytes, a power of two.
    data_width : bits of a word (64, 128, 256, 512).
    read_ahead : words each client can be waiting for; a word a cycle up to that latency.

    Attributes
    ----------
    write : MemoryWriteStream, out, sys.
    read  : MemoryReadStream, client's side: ``command`` out, ``data`` in, sys.
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
        # No register behind the arbiter: a read could overtake what waits in it.
        self.writes = self._arbiter(self._writes, memory_write_layout(self.data_width, self.size))
        self.comb  += self.writes.source.connect(self.write)

    def finalize_reads(self):
        layout       = memory_command_layout(self.data_width, self.size)
        clients      = self._reads
        self.reads   = self._arbiter([client.command for client in clients], layout)
        self.pending = stream.Buffer(layout)
        # Whose word comes next: a place for each that can be under way.
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
