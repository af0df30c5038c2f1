#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Descriptor ring: parses what was fetched from host memory, and checks it."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import (
    REASON_BAD_LINK,
    REASON_MEMORY_RANGE,
    REASON_NONE,
    REASON_ZERO_LENGTH,
)
from litepcie_soc.dma.descriptor import HOST_DESCRIPTOR_LAYOUT, descriptor_layout
from litepcie_soc.dma.fetch import COUNT_BITS, DescriptorFetch
from litepcie_soc.dma.ram import DescriptorRAM

# Constants ----------------------------------------------------------------------------------------

LINKS_IN_A_ROW = 15  # Without a descriptor between them; one more is a chain that may lead nowhere but to itself.

# Descriptor Ring ----------------------------------------------------------------------------------


class DescriptorRing(LiteXModule):
    """Turns the ring, its LINKs and their tables into one stream of checked descriptors.

    Parameters
    ----------
    port        : MemoryReadPort of this ring; it can have ``port.tags`` requests outstanding.
    memory_size : bytes of the endpoint memory; None for a stream, which has none.
    depth       : descriptors of the RAM; a request asks for up to half of them.

    Attributes
    ----------
    base, size_log2  : 64, 4, in, sys, host address of the ring and log2 of its descriptors, stable.
    doorbell         : 13, in, sys, low bits of the descriptors ever made available; not more than
        a ring ahead of what is complete.
    max_request_size : 16, in, sys, bytes, a power of two.
    run              : 1, in, sys, new requests may be made.
    source           : Endpoint(descriptor_layout), out, sys. A ``reason`` ends the stream: what
        follows it is to be ignored up to the reset of the module.
    idle             : 1, out, sys, no request of this ring is under way.
    index_mask       : 12, out, sys, slots of the ring less one; a cycle late.
    """
    def __init__(self, port, *, memory_size=None, depth=64):
        if depth < 8 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two of at least 8, not {depth!r}")
        self.fetch = fetch    = DescriptorFetch(port, depth)
        self.base             = fetch.base
        self.size_log2        = fetch.size_log2
        self.doorbell         = fetch.doorbell
        self.max_request_size = fetch.max_request_size
        self.run              = fetch.run
        self.idle             = fetch.idle
        self.index_mask       = fetch.index_mask
        self.source           = stream.Endpoint(
            descriptor_layout(bits_for(memory_size - 1) if memory_size else None))

        # # #

        self.memory_size = memory_size
        self.ram         = DescriptorRAM(port.data_width, depth)
        self.comb       += port.data.connect(self.ram.sink, omit={"first", "last"})
        # Where the parser is.
        self.parse_slot  = Signal(COUNT_BITS)             # Slot of the ring.
        self.parsed      = Signal(24, reset=2**24 - 1)    # Complement of the table's not yet parsed.
        self.stopped     = Signal()                       # A reason was given: nothing goes on.
        self.add_parser()
        self.add_check()

    # Parser ---------------------------------------------------------------------------------------

    def add_parser(self):
        ram       = self.ram
        fetch     = self.fetch
        head      = Record(HOST_DESCRIPTOR_LAYOUT)
        fetched   = Signal()     # The RAM's output holds a descriptor,
        valid     = Signal()     # and ``head`` does.
        move      = Signal()
        passed    = Signal()     # It goes on to the check.
        failed    = Signal()     # A fetch failed, and every descriptor before it is parsed.
        stopped   = self.stopped
        in_table  = Signal()
        interrupt = Signal()     # Of the LINKs of the slot, for its last descriptor.
        self.checked = checked = stream.Endpoint([
            ("host",     64), ("endpoint", 32), ("length",    24), ("end",      33),
            ("interrupt", 1), ("slot_last", 1), ("reason",     4)]
            + ([] if self.memory_size else [("packet_end", 1)]))
        ready     = Signal()
        slot_last = Signal()
        next_slot = Signal(COUNT_BITS)
        links     = Signal(max=LINKS_IN_A_ROW + 1)
        none_left = 2**len(self.parsed) - 1
        self.comb += [
            ready.eq(~checked.valid | checked.ready),
            in_table.eq(self.parsed != none_left),
            slot_last.eq(self.parsed[1:] == none_left >> 1),   # The table's last, or none of a table.
            # A LINK in the ring takes a slot, one in a table none.
            next_slot.eq(self.parse_slot + Mux(in_table, 0, 1)),
            fetch.head.eq(head),
            fetch.link.eq(valid & head.link),
            fetch.table_last.eq(slot_last),
            fetch.endless.eq(links == LINKS_IN_A_ROW),
            fetch.resume.eq(next_slot),
            fetch.stop.eq(stopped),
            fetch.take.eq(ram.read),
            passed.eq(valid & ~head.link & ready),
            failed.eq((fetch.reason != REASON_NONE) & ~valid & ~fetched & (fetch.stale == 0)
                & (fetch.taken == fetch.landed)),
            move.eq(fetched & (~valid | passed)),
            ram.slot.eq(fetch.taken),
            ram.read.eq(fetch.ready & ~stopped & (~fetched | move)),
        ]
        self.sync += [
            If(ram.read,
                fetched.eq(1)
            ).Elif(move,
                fetched.eq(0)
            ),
            If(move,
                valid.eq(1),
                head.raw_bits().eq(ram.value)
            ).Elif(passed | fetch.link_good | (fetch.link_bad & ready),
                valid.eq(0)
            ),
            If(checked.ready, checked.valid.eq(0)),
            If(ready,
                checked.valid.eq(passed | fetch.link_bad | (failed & ~stopped)),
                checked.host.eq(head.host),
                checked.endpoint.eq(head.endpoint),
                checked.length.eq(head.length),
                checked.end.eq(head.endpoint + head.length),
                checked.slot_last.eq(slot_last),
                checked.interrupt.eq(head.interrupt | (slot_last & interrupt)),
                checked.reason.eq(Mux(fetch.link_bad, REASON_BAD_LINK,
                    Mux(failed, fetch.reason, REASON_NONE))),
                *([] if self.memory_size else [checked.packet_end.eq(head.last)]),
                If(fetch.link_bad | failed, stopped.eq(1))
            ),
            If(passed,
                links.eq(0),
                If(in_table, self.parsed.eq(self.parsed + 1)),
                self.parse_slot.eq(next_slot),
                If(slot_last, interrupt.eq(0))
            ),
            If(fetch.link_good,
                fetched.eq(0),   # What was behind the LINK.
                links.eq(links + 1),
                interrupt.eq(interrupt | head.interrupt),
                self.parsed.eq(~head.length),
                self.parse_slot.eq(next_slot)
            )
        ]

    # Check ----------------------------------------------------------------------------------------

    def add_check(self):
        source, checked = self.source, self.checked
        good = If(checked.reason != REASON_NONE,
            source.reason.eq(checked.reason)
        ).Elif(checked.length == 0,
            source.reason.eq(REASON_ZERO_LENGTH)
        )
        if self.memory_size:
            # A power of two: exactly to its bit and not further. Nothing is above the bit of 4 GiB.
            bit  = log2_int(self.memory_size)
            past = [checked.end[bit + 1:] != 0] if bit + 1 < len(checked.end) else []
            good = good.Elif(Reduce("OR", [*past, checked.end[bit] & (checked.end[:bit] != 0)]),
                source.reason.eq(REASON_MEMORY_RANGE)
            )
            self.comb += source.endpoint.eq(checked.endpoint)
        self.comb += [checked.connect(source, omit={"reason", "endpoint", "end"}), good]
