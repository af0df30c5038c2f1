#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""AXI4 slave onto buffers in host memory, at the speed of the link (AMBA AXI, ARM IHI 0022, A3)."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import axi, stream

from litepcie_soc.axi.slave import BurstChecker, ReadBursts, WriteBursts, transfer_layout
from litepcie_soc.common.arbiter import PacketArbiter
from litepcie_soc.common.memory_ports import MemoryReadStream, MemoryWriteStream
from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.memory.bram import EndpointMemory
from litepcie_soc.soc.descriptor_port import DescriptorPort

# Constants ----------------------------------------------------------------------------------------

ADDRESS_BITS = 32
ID_BITS      = 4
WIDE         = 256  # Bits from which a link needs twice the outstanding bytes.


def ram_bytes(data_width):
    """Bytes of each of the two RAMs: 512 words, which are whole block RAMs, and two bursts of the largest size."""
    return max(512 * data_width // 8, 2 * 4096)


def slots(data_width):
    """Transfers that each direction can have outstanding: with bursts of 256 bytes, a round trip of more than 1 us."""
    return 64 if data_width >= WIDE else 32

# Host AXI -----------------------------------------------------------------------------------------


class HostAXI(LiteXModule):
    """AXI4 slave whose bursts are executed by a ``DescriptorPort`` of its own, between two RAMs and the host.

    The data has the width of the data path. Bursts of every type and length, and beats of every size, are supported;
    those of full beats of type INCR are fast. Each direction answers its bursts in their order, whatever their IDs. A
    burst is looked up in the table of buffers as a whole: it does not cross 4 KiB, and buffers are pages.

    A read burst has its first beat when the host has sent all its bytes, and the card has executed the writes of the
    host before them (`RequestOrder`). Room for them is reserved before they are requested, so that a master that takes
    no beats holds up nobody else. A write burst is answered when the PHY has accepted its last byte.

    A burst that AXI4 does not allow, or that is refused, or that fails, gets SLVERR in all its beats, and is counted.
    Also during a reset of the function and without a link, each burst takes or gives all its beats and ends.

    Parameters
    ----------
    host         : ``HostBuffers`` with the table.
    read_port    : MemoryReadPort for the data, `ordered`.
    write_port   : MemoryWritePort for the data.
    longest_read : see ``DescriptorPort``.

    Attributes
    ----------
    axi  : AXIInterface, slave, in ``sys``. The byte address is number of the buffer * limit + offset.
    port : ``DescriptorPort``, which the card connects.
    """
    def __init__(self, host, *, read_port, write_port, longest_read):
        width    = read_port.data_width
        self.axi = bus = axi.AXIInterface(width, address_width=ADDRESS_BITS, id_width=ID_BITS)

        # # #

        size, count  = ram_bytes(width), slots(width)
        self.landing = landing = EndpointMemory(size, width)
        self.staging = staging = EndpointMemory(size, width)
        # A transfer may begin in the last word and goes on in the first one: addresses have one bit more than the RAMs.
        landed = MemoryWriteStream(width, 2*size)
        staged = MemoryReadStream(width, 2*size)
        self.comb += [landed.connect(landing.add_write_port()), *staged.connect(staging.add_read_port())]
        self.port  = port = DescriptorPort(host,
            read_port    = read_port,
            write_port   = write_port,
            memory_write = landed,
            memory_read  = staged,
            longest_read = longest_read,
            depth        = 2*count,
            queue        = count)
        self.read_checker  = BurstChecker(bus.ar, width)
        self.write_checker = BurstChecker(bus.aw, width)
        self.reads  = ReadBursts(self.read_checker.source, bus.r, landing.add_read_port(), count)
        self.writes = WriteBursts(self.write_checker.source, bus.w, bus.b, staging.add_write_port(), count)

        # Transfers of both directions in turn. The highest bit of a tag is the direction.
        tag_bits     = log2_int(count)
        self.arbiter = arbiter = PacketArbiter(transfer_layout(ADDRESS_BITS, tag_bits), 2)
        self.buffer  = buffer  = stream.Buffer(port.sink.description)
        chosen, end  = arbiter.source, port.source
        for unit, sink in zip((self.reads, self.writes), arbiter.sinks):
            self.comb += [unit.source.connect(sink, omit={"last"}), sink.last.eq(1)]
        self.comb += [
            chosen.connect(buffer.sink, keep={"valid", "ready", "address", "endpoint", "length"}),
            buffer.sink.write.eq(arbiter.grant),
            buffer.sink.tag.eq(Cat(chosen.tag, arbiter.grant)),
            buffer.source.connect(port.sink),
            end.ready.eq(1),
        ]
        for number, unit in enumerate((self.reads, self.writes)):
            self.comb += [
                unit.ended.eq(end.valid & (end.tag[tag_bits] == number)),
                unit.tag.eq(end.tag),
                unit.failed.eq(end.reason != REASON_NONE),
            ]
