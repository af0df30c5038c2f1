#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Endpoint memory in block RAM."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.arbiter import PacketArbiter
from litepcie_soc.common.memory_ports import (
    MemoryReadStream,
    MemoryWriteStream,
    memory_command_layout,
    memory_data_layout,
    memory_write_layout,
    word_address_width,
)

# Read Port ----------------------------------------------------------------------------------------


class _ReadPort(LiteXModule):
    """One client's read port, with room for every word in flight to it.

    A command reserves a place in the buffer when the arbiter accepts it, and frees it when its word leaves. So a
    client that stops accepting data never blocks the others.

    Parameters
    ----------
    places   : most words in flight. For a word per cycle it must be the number of cycles from a command's acceptance
        until its word leaves, or more.
    buffered : whether the buffer is large enough to belong in block RAM.
    """
    def __init__(self, data_width, size, places, buffered=False):
        self.stream  = MemoryReadStream(data_width, size, in_flight=max(places, 16))
        self.command = stream.Endpoint(memory_command_layout(data_width, size))

        # # #

        self.buffer = stream.SyncFIFO(memory_data_layout(data_width), places, buffered=buffered)
        self.returned = self.buffer.sink

        free  = Signal(max=places + 1, reset=places)
        taken = Signal()
        left  = Signal()
        self.comb += [
            self.stream.command.connect(self.command, omit={"valid", "ready"}),
            self.command.valid.eq(self.stream.command.valid & (free != 0)),
            self.stream.command.ready.eq(self.command.ready & (free != 0)),
            self.buffer.source.connect(self.stream.data),
            taken.eq(self.command.valid & self.command.ready),
            left.eq(self.stream.data.valid & self.stream.data.ready),
        ]
        self.sync += free.eq(free - taken + left)

# Endpoint Memory ----------------------------------------------------------------------------------


class EndpointMemory(LiteXModule):
    """Endpoint memory in one true dual-port block RAM: one port writes, one reads.

    Any number of clients share each side round robin; each side serves a word per cycle. A read
    command sees every write that was accepted in an earlier cycle. Whether it sees a write of the same
    cycle depends on the block RAM of the device.

    Parameters
    ----------
    size       : bytes, a power of two.
    data_width : bits of a word (64, 128, 256, 512).

    Attributes
    ----------
    size, data_width : the parameters.

    Raises ``ValueError`` if ``size`` or ``data_width`` is not supported.
    """

    LATENCY = 3            # Cycles from an accepted command to its word in the client's buffer.
    PLACES  = LATENCY + 2  # Words in flight to a client, for a word per cycle.
    PLACES_BUFFERED = False

    def __init__(self, size, data_width):
        word_address_width(data_width, size)  # Raises if one of them is not supported.
        self.size        = size
        self.data_width  = data_width
        self._writes     = []
        self._reads      = []

    def add_write_port(self):
        """Returns a new ``MemoryWriteStream``. Call it before finalisation."""
        port = MemoryWriteStream(self.data_width, self.size)
        self._writes.append(port)
        return port

    def add_read_port(self):
        """Returns a new ``MemoryReadStream``. Call it before finalisation."""
        port = _ReadPort(self.data_width, self.size, self.PLACES, self.PLACES_BUFFERED)
        self._reads.append(port)
        self.submodules += port
        return port.stream

    def do_finalize(self):
        self.storage = Memory(self.data_width, self.size // (self.data_width // 8))
        if self._writes:
            self._finalize_writes()
        if self._reads:
            self._finalize_reads()

    def _arbiter(self, clients, layout):
        """Returns an arbiter that can change the client after every beat: each beat is a packet."""
        arbiter = PacketArbiter(layout, len(clients))
        for client, sink in zip(clients, arbiter.sinks):
            self.comb += [client.connect(sink, omit={"last"}), sink.last.eq(1)]
        return arbiter

    def _finalize_writes(self):
        layout        = memory_write_layout(self.data_width, self.size)
        port          = self.storage.get_port(write_capable=True, we_granularity=8, mode=READ_FIRST)
        self.specials += port
        self.writes   = self._arbiter(self._writes, layout)
        # One register after the arbiter, as for reads: writes and reads keep the order of their acceptance.
        write         = stream.Endpoint(layout)
        self.comb    += self.writes.source.ready.eq(1)
        self.sync    += [
            write.valid.eq(self.writes.source.valid),
            write.payload.eq(self.writes.source.payload),
        ]
        self.comb    += [
            port.adr.eq(write.address),
            port.dat_w.eq(write.dat),
            If(write.valid, port.we.eq(write.be)),
        ]

    def _finalize_reads(self):
        layout        = memory_command_layout(self.data_width, self.size)
        port          = self.storage.get_port(has_re=True, mode=READ_FIRST)
        self.specials += port
        self.reads    = self._arbiter([read.command for read in self._reads], layout)
        source        = self.reads.source
        # Address register, RAM, and output register, which is part of the block RAM on every family.
        valid         = [Signal() for _ in range(self.LATENCY)]
        client        = [Signal.like(self.reads.grant) for _ in range(self.LATENCY)]
        dat           = Signal(self.data_width)
        self.comb    += [source.ready.eq(1), port.re.eq(valid[0])]
        self.sync    += [
            port.adr.eq(source.address),
            Cat(*valid).eq(Cat(source.valid, *valid[:-1])),
            Cat(*client).eq(Cat(self.reads.grant, *client[:-1])),
            dat.eq(port.dat_r),
        ]
        for n, read in enumerate(self._reads):
            self.comb += [
                read.returned.valid.eq(valid[-1] & (client[-1] == n)),
                read.returned.dat.eq(dat),
            ]
