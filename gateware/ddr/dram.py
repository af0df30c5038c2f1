#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Endpoint memory in DRAM, over LiteDRAM's crossbar."""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.memory_ports import memory_command_layout, memory_data_layout, memory_write_layout
from litepcie_soc.ddr.lines import ReadMerger, ReadSplitter, WriteMerger
from litepcie_soc.ddr.native import NativePath
from litepcie_soc.ddr.partial import PartialWrites
from litepcie_soc.ddr.turns import TICKET_BITS, RunArbiter, Turns, path_layout
from litepcie_soc.memory.bram import EndpointMemory

# Constants ----------------------------------------------------------------------------------------

BLOCK_BYTES = 1024  # Of one client behind each other, where others wait too: rows stay open.
TURN_BYTES  = 4096  # Of reads or of writes, where the others wait too: the bus turns seldom.
TURN_LINES  = 128   # The same, where lines are short.

# DRAM Memory --------------------------------------------------------------------------------------


class DRAMMemory(EndpointMemory):
    """Memory of the card in DRAM, in the place of ``EndpointMemory``: the same ports, the same order.

    Words that follow each other into one native word of LiteDRAM become one access. Reads and writes
    share one path, in turns; its order is the memory's. A read carries the count of the writes that were accepted
    before it and waits until all of these are on the path: a beat that was accepted is seen by every
    read command accepted in a later cycle, whichever ports they came through.

    Parameters
    ----------
    size         : bytes, a power of two, no more than the DRAM's.
    data_width   : bits of a word (64, 128, 256, 512).
    crossbar     : LiteDRAM's (``LiteDRAMCore.crossbar``).
    clock_domain : that of LiteDRAM's controller; the clients' is sys.
    ready        : 1, in, of that clock: the DRAM was initialised and keeps what is written to it. Where it is not so,
        accesses end as ever, and move nothing of use.
    byte_mask    : whether the DRAM has data masks; without, a line that is not written whole is read first.

    Attributes
    ----------
    ready : 1, out, sys: without it, the card says that it has no memory.

    Raises ``ValueError`` on a size or width that cannot be.
    """

    PLACES = 256  # Words under way to a client: what it needs through a refresh and a turn of writes.
    PLACES_BUFFERED = True

    def __init__(self, size, data_width, crossbar, clock_domain="sys", ready=1, byte_mask=True):
        EndpointMemory.__init__(self, size, data_width)
        self.clock_domain = clock_domain
        self.byte_mask    = byte_mask
        self.native_write = crossbar.get_port(mode="write")
        self.native_read  = crossbar.get_port(mode="read")
        native_width      = self.native_write.data_width
        dram_size         = (native_width // 8) << self.native_write.address_width
        if size > dram_size:
            raise ValueError(f"memory size must be at most the DRAM's {dram_size} bytes, not {size!r}")
        self.line_width   = max(data_width, native_width)
        self.ready        = Signal()
        self.specials    += MultiReg(ready, self.ready)

    def do_finalize(self):
        # A memory that nobody reads or writes has a client that does nothing.
        if not self._writes:
            self.add_write_port()
        if not self._reads:
            self.add_read_port()
        line_bytes   = self.line_width // 8
        address_bits = log2_int(self.size // line_bytes)
        turn         = min(TURN_BYTES // line_bytes, TURN_LINES)
        self.turns   = turns = Turns(self.line_width, address_bits, turn)
        self.finalize_writes(turn)
        # Those accepted during a turn of writes must wait for the next: there is room for one turn more.
        self.finalize_reads(2 * turn)
        self.finalize_path(address_bits)
        self.comb   += self.merger.flush.eq(turns.flush)

    def run_arbiter(self, clients, layout):
        """Clients take turns at the ends of blocks, and when one pauses."""
        words   = BLOCK_BYTES * 8 // self.data_width
        arbiter = RunArbiter(layout, len(clients))
        for client, sink in zip(clients, arbiter.sinks):
            self.comb += [
                client.connect(sink, omit={"last"}),
                sink.last.eq(sink.address[:log2_int(words)] == words - 1),
            ]
        return arbiter

    def finalize_writes(self, depth):
        layout        = memory_write_layout(self.data_width, self.size)
        self.writes   = self.run_arbiter(self._writes, layout)
        self.accepted = stream.Buffer(layout, pipe_valid=True, pipe_ready=True)
        self.merger   = WriteMerger(self.data_width, self.size, self.line_width)
        self.waiting  = stream.SyncFIFO(self.merger.source.description, depth, buffered=True)
        self.comb    += [
            self.writes.source.connect(self.accepted.sink),
            self.accepted.source.connect(self.merger.sink),
            self.merger.source.connect(self.waiting.sink),
            self.waiting.source.connect(self.turns.writes),
        ]

    def finalize_reads(self, depth):
        clients       = self._reads
        self.reads    = self.run_arbiter([client.command for client in clients],
            memory_command_layout(self.data_width, self.size))
        self.asked    = ReadMerger(self.data_width, self.size, self.line_width, len(clients), TICKET_BITS)
        self.commands = stream.Buffer(self.asked.sink.description, pipe_valid=True, pipe_ready=True)
        self.lines    = stream.SyncFIFO(self.asked.source.description, depth, buffered=True)
        self.words    = stream.SyncFIFO(self.asked.words.description, 2 * self.PLACES, buffered=True)
        self.splitter = splitter = ReadSplitter(self.data_width, self.line_width, len(clients))

        # What was accepted before: the count is the ticket of reads, the address spoils a line that was read.
        accepted = self.writes.source.valid & self.writes.source.ready
        self.sync += [
            If(accepted, self.asked.ticket.eq(self.asked.ticket + 1)),
            self.asked.written.eq(accepted),
            self.asked.written_address.eq(self.writes.source.address),
        ]
        self.comb += [
            self.reads.source.connect(self.commands.sink),
            self.commands.sink.client.eq(self.reads.grant),
            self.commands.source.connect(self.asked.sink),
            self.asked.source.connect(self.lines.sink),
            self.lines.source.connect(self.turns.reads),
            self.asked.words.connect(self.words.sink),
            self.words.source.connect(splitter.words),
        ]
        for n, client in enumerate(clients):
            self.comb += [
                client.returned.valid.eq(splitter.valid & (splitter.client == n)),
                client.returned.dat.eq(splitter.dat),
            ]

    def finalize_path(self, address_bits):
        """The path, and the lines on the way back, through the controller's clock."""
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
            self.turns.path.connect(self.crossing.sink),
            self.crossing.source.connect(path),
            data.connect(self.crossing_back.sink),
            self.crossing_back.source.connect(self.splitter.lines),
        ]
