#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Endpoint memory behind an AXI4 master port."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.axi.bursts import BURST, LEN_BITS, BurstReader, BurstWriter
from litepcie_soc.common.memory_ports import MemoryOutcome, memory_command_layout, memory_write_layout
from litepcie_soc.ddr.scheduler import BurstArbiter
from litepcie_soc.memory.bram import EndpointMemory

# AXI Memory ---------------------------------------------------------------------------------------


class AXIMemory(EndpointMemory):
    """Has the client ports of ``EndpointMemory``, for a memory outside that an AXI4 slave gives.

    A word counts as written when the slave has answered its burst, and a read waits for the words accepted before it:
    so reads see them, whatever the slave's order between writes and reads. All transactions have one ID, so the slave
    answers them in order. There is room for the answer to every read: ``r`` never stalls.

    Each port of a client has an ``outcome``. The host's accesses through the window have no way to tell of an error:
    ``failed`` does.

    If something is outstanding and nothing moves for ``timeout`` cycles, then what is outstanding fails, and each
    access from then on, until the core is reset. So a memory that does not answer holds up the link for no longer.

    Parameters
    ----------
    size       : bytes, a power of two.
    data_width : bits of a word (64, 128, 256, 512).
    read_ahead : words that each client can have outstanding. Reads move one word per cycle up to that latency.
    timeout    : cycles.

    Attributes
    ----------
    aw, ar : Endpoint(``address``, ``len``), **out**, word address and beats less one.
    w      : Endpoint(``data``, ``strb``), **out**, with ``last``.
    b      : Endpoint(``resp``), **in**.
    r      : Endpoint(``data``, ``resp``), **in**.
    failed : Signal(), **out**, one cycle: an access was answered with an error. High from the time-out on.
    ready  : Signal(), **out**, there was no time-out; without it, the card reports that it has no memory.
    """
    def __init__(self, size, data_width, read_ahead, timeout):
        EndpointMemory.__init__(self, size, data_width)
        address     = [*memory_command_layout(data_width, size), ("len", LEN_BITS)]
        self.PLACES = read_ahead
        self.timeout = timeout
        self.ready  = Signal(reset=1)
        self.aw     = stream.Endpoint(address)
        self.w      = stream.Endpoint([("data", data_width), ("strb", data_width // 8)])
        self.b      = stream.Endpoint([("resp", 2)])
        self.ar     = stream.Endpoint(address)
        self.r      = stream.Endpoint([("data", data_width), ("resp", 2)])
        self.failed = Signal()

    def add_write_port(self):
        port = EndpointMemory.add_write_port(self)
        port.outcome = MemoryOutcome(counts=True)
        return port

    def add_read_port(self):
        port = EndpointMemory.add_read_port(self)
        port.outcome = MemoryOutcome(counts=False)
        return port

    def burst_arbiter(self, clients, layout):
        """Returns an arbiter that changes the client where a burst may end, and when the client pauses."""
        arbiter = BurstArbiter(layout, len(clients))
        for client, sink in zip(clients, arbiter.sinks):
            self.comb += [
                client.connect(sink, omit={"last"}),
                sink.last.eq(sink.address[:LEN_BITS] == BURST - 1),
            ]
        return arbiter

    def do_finalize(self):
        self.finalize_writes()
        self.finalize_reads()
        self.finalize_timeout()
        self.sync += self.failed.eq((self.b.valid & self.b.resp[1]) | (self.r.valid & self.r.resp[1]) | ~self.ready)

    def finalize_timeout(self):
        waiting = Signal(max=self.timeout + 1)
        moves   = [self.b.valid, self.r.valid]
        moves  += [channel.valid & channel.ready for channel in (self.aw, self.w, self.ar)]
        self.comb += self.writer.broken.eq(~self.ready)
        self.sync += [
            If(Reduce("OR", moves) | ~(self.writer.bursts.source.valid | self.order.source.valid),
                waiting.eq(0)
            ).Elif(waiting != self.timeout,
                waiting.eq(waiting + 1)
            ).Else(
                self.ready.eq(0)
            )
        ]

    def finalize_writes(self):
        # No register after the arbiter: a word counts from the cycle in which its client gives it.
        self.writes = self.burst_arbiter(self._writes, memory_write_layout(self.data_width, self.size))
        self.writer = writer = BurstWriter(self.data_width, self.size, len(self._writes))
        self.comb  += [
            self.writes.source.connect(writer.sink, omit={"client"}),
            writer.sink.client.eq(self.writes.grant),
            writer.aw.connect(self.aw),
            writer.w.connect(self.w),
            self.b.connect(writer.b),
        ]
        for client, failed in zip(self._writes, writer.failed):
            self.comb += [
                client.outcome.failed.eq(failed),
                client.outcome.accepted.eq(writer.accepted),
                client.outcome.stored.eq(writer.stored),
            ]

    def finalize_reads(self):
        clients     = self._reads
        self.reads  = self.burst_arbiter([client.command for client in clients],
            memory_command_layout(self.data_width, self.size))
        self.reader = reader = BurstReader(self.data_width, self.size, len(clients), self.writer)
        # Clients of the outstanding words, in order; one place per outstanding word.
        self.order  = order = stream.SyncFIFO([("client", len(self.reads.grant))], self.PLACES * len(clients))
        self.comb  += [
            self.reads.source.connect(reader.sink, omit={"client"}),
            reader.sink.client.eq(self.reads.grant),
            order.sink.valid.eq(self.reads.source.valid & self.reads.source.ready),
            order.sink.client.eq(self.reads.grant),
            reader.ar.connect(self.ar),
            self.r.ready.eq(1),
            order.source.ready.eq(self.r.valid | ~self.ready),
        ]
        for n, client in enumerate(clients):
            mine = order.source.valid & order.source.ready & (order.source.client == n)
            self.comb += [
                client.returned.valid.eq(mine),
                client.returned.dat.eq(self.r.data),
                client.stream.outcome.failed.eq(mine & (self.r.resp[1] | ~self.ready)),
            ]
