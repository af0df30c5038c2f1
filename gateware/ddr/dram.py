#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Endpoint memory in DRAM, through LiteDRAM's crossbar."""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.memory_ports import memory_command_layout, memory_data_layout, memory_write_layout
from litepcie_soc.ddr.lines import ReadMerger, ReadSplitter, WriteMerger
from litepcie_soc.ddr.scheduler import (
    WRITE_COUNT_BITS, BurstArbiter, NativePath, PartialWrites, ReadWriteScheduler, path_layout,
)
from litepcie_soc.memory.bram import EndpointMemory

# Constants ----------------------------------------------------------------------------------------

BLOCK_BYTES = 1024  # Bytes of one client in a row while others wait: keeps rows open.
BATCH_BYTES = 4096  # Bytes of reads, or of writes, in a row while the other kind waits: the bus turns around seldom.
BATCH_LINES = 128   # The same limit in lines; it applies to short lines.

# DRAM Memory --------------------------------------------------------------------------------------


class DRAMMemory(EndpointMemory):
    """Endpoint memory in DRAM: a replacement for ``EndpointMemory`` with the same ports and the same order.

    Consecutive words of one native word of LiteDRAM become one access. Reads and writes share one path in batches,
    and the memory executes them in the order of this path. A read carries the number of writes accepted before it, and
    waits until all of these are on the path. So a read command sees every write that was accepted in an earlier cycle,
    on any port.

    Parameters
    ----------
    size         : bytes, a power of two, at most the DRAM's size.
    data_width   : bits of a word (64, 128, 256, 512).
    crossbar     : LiteDRAM's (``LiteDRAMCore.crossbar``).
    clock_domain : clock domain of LiteDRAM's controller; the clients are in sys.
    ready        : 1, **in**, ``clock_domain``, the DRAM is initialised and stores data. Without it, accesses still
        complete, but the data is not valid.
    failed       : one bit per byte of the bus, **in**, ``clock_domain``, no setting of the PHY passed.
    byte_mask    : whether the DRAM has data masks. Without them, a partly written line needs a read-modify-write.

    Attributes
    ----------
    ready  : 1, **out**, the parameter ``ready`` in sys; while it is 0, the card reports that it has no memory.
    failed : 32, **out**, the parameter ``failed`` in sys.

    Raises ``ValueError`` if ``size`` or ``data_width`` is not supported, or ``size`` exceeds the DRAM.
    """

    PLACES = 256  # Words in flight to a client, to cover a refresh and a batch of writes.
    PLACES_BUFFERED = True

    def __init__(self, size, data_width, crossbar, clock_domain="sys", ready=1, failed=0, byte_mask=True):
        EndpointMemory.__init__(self, size, data_width)
        self.clock_domain = clock_domain
        self.byte_mask    = byte_mask
        self.native_write = crossbar.get_port(mode="write")
        self.native_read  = crossbar.get_port(mode="read")
        native_width      = self.native_write.data_width
        dram_size         = (native_width // 8) << self.native_write.address_width
        if size > dram_size:
            raise ValueError(f"memory size must be at most {dram_size} bytes, the size of the DRAM, not {size!r}")
        self.line_width   = max(data_width, native_width)
        self.ready        = Signal()
        self.failed       = Signal(32)
        self.specials    += [MultiReg(ready, self.ready), MultiReg(failed, self.failed)]

    def do_finalize(self):
        # The data path needs a client on each side: add an idle one if there is none.
        if not self._writes:
            self.add_write_port()
        if not self._reads:
            self.add_read_port()
        line_bytes   = self.line_width // 8
        address_bits = log2_int(self.size // line_bytes)
        batch        = min(BATCH_BYTES // line_bytes, BATCH_LINES)
        self.scheduler = ReadWriteScheduler(self.line_width, address_bits, batch)
        self.finalize_writes(batch)
        # Reads accepted during a batch of writes wait for the next batch of reads: there is room for two batches.
        self.finalize_reads(2 * batch)
        self.finalize_path(address_bits)
        self.comb   += self.write_merger.flush.eq(self.scheduler.flush)

    def burst_arbiter(self, clients, layout):
        """Returns an arbiter that changes the client at the end of a block, and when the client pauses."""
        words   = BLOCK_BYTES * 8 // self.data_width
        arbiter = BurstArbiter(layout, len(clients))
        for client, sink in zip(clients, arbiter.sinks):
            self.comb += [
                client.connect(sink, omit={"last"}),
                sink.last.eq(sink.address[:log2_int(words)] == words - 1),
            ]
        return arbiter

    def finalize_writes(self, depth):
        layout        = memory_write_layout(self.data_width, self.size)
        self.writes   = self.burst_arbiter(self._writes, layout)
        self.accepted = stream.Buffer(layout, pipe_valid=True, pipe_ready=True)
        self.write_merger   = WriteMerger(self.data_width, self.size, self.line_width)
        self.waiting  = stream.SyncFIFO(self.write_merger.source.description, depth, buffered=True)
        self.comb    += [
            self.writes.source.connect(self.accepted.sink),
            self.accepted.source.connect(self.write_merger.sink),
            self.write_merger.source.connect(self.waiting.sink),
            self.waiting.source.connect(self.scheduler.writes),
        ]

    def finalize_reads(self, depth):
        clients       = self._reads
        self.reads    = self.burst_arbiter([client.command for client in clients],
            memory_command_layout(self.data_width, self.size))
        self.read_merger    = ReadMerger(self.data_width, self.size, self.line_width, len(clients), WRITE_COUNT_BITS)
        self.commands = stream.Buffer(self.read_merger.sink.description, pipe_valid=True, pipe_ready=True)
        self.lines    = stream.SyncFIFO(self.read_merger.source.description, depth, buffered=True)
        self.words    = stream.SyncFIFO(self.read_merger.words.description, 2 * self.PLACES, buffered=True)
        self.splitter = splitter = ReadSplitter(self.data_width, self.line_width, len(clients))

        # Accepted writes: reads carry their number; the address shows whether the line read last is still valid.
        accepted = self.writes.source.valid & self.writes.source.ready
        self.sync += [
            If(accepted, self.read_merger.write_count.eq(self.read_merger.write_count + 1)),
            self.read_merger.written.eq(accepted),
            self.read_merger.written_address.eq(self.writes.source.address),
        ]
        self.comb += [
            self.reads.source.connect(self.commands.sink),
            self.commands.sink.client.eq(self.reads.grant),
            self.commands.source.connect(self.read_merger.sink),
            self.read_merger.source.connect(self.lines.sink),
            self.lines.source.connect(self.scheduler.reads),
            self.read_merger.words.connect(self.words.sink),
            self.words.source.connect(splitter.words),
        ]
        for n, client in enumerate(clients):
            self.comb += [
                client.returned.valid.eq(splitter.valid & (splitter.client == n)),
                client.returned.dat.eq(splitter.dat),
            ]

    def finalize_path(self, address_bits):
        """Connects the path and the returning lines to the native ports, through the controller's clock domain."""
        domain        = self.clock_domain
        self.native   = ClockDomainsRenamer(domain)(
            NativePath(self.native_write, self.native_read, self.line_width, address_bits))
        self.crossing = stream.ClockDomainCrossing(path_layout(self.line_width, address_bits),
            cd_from="sys", cd_to=domain, depth=16, buffered=True)
        self.crossing_back = stream.ClockDomainCrossing(memory_data_layout(self.line_width),
            cd_from=domain, cd_to="sys", depth=16, buffered=True)
        path, data    = self.native.path, self.native.data
        if not self.byte_mask:
            self.partial = partial = ClockDomainsRenamer(domain)(PartialWrites(self.line_width, address_bits))
            self.comb   += [partial.source.connect(path), data.connect(partial.lines)]
            path, data   = partial.sink, partial.data
        self.comb    += [
            self.scheduler.path.connect(self.crossing.sink),
            self.crossing.source.connect(path),
            data.connect(self.crossing_back.sink),
            self.crossing_back.source.connect(self.splitter.lines),
        ]
