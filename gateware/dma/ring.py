#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Descriptor ring: fetches descriptors from host memory ahead of their use and checks them."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common import (
    REASON_BAD_LINK,
    REASON_MEMORY_RANGE,
    REASON_NONE,
    REASON_ZERO_LENGTH,
)
from litepcie_soc.dma.descriptor import (
    DESCRIPTOR_BYTES,
    HOST_DESCRIPTOR_LAYOUT,
    descriptor_layout,
)
from litepcie_soc.dma.ram import DescriptorRAM

# Constants ----------------------------------------------------------------------------------------

RING_LOG2_MAX = 12
COUNT_BITS    = RING_LOG2_MAX + 1  # Distances up to a whole ring.
ADDRESS_SHIFT = log2_int(DESCRIPTOR_BYTES)

# Descriptor Ring ----------------------------------------------------------------------------------


class DescriptorRing(LiteXModule):
    """Turns the ring, its LINKs and their tables into one stream of checked descriptors.

    Requests follow the order of execution: the rest of the current table, then the ring from the
    slot behind it. What is fetched behind a LINK is guesswork that the LINK throws away: its
    requests become stale, and nothing is read from the RAM before the last of them is retired.

    Three counts, modulo their width, walk over the RAM: ``taken`` <= ``landed`` <= ``asked``.
    Addresses of descriptors are kept in units of descriptors.

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
    """
    def __init__(self, port, *, memory_size=None, depth=64):
        if depth < 8 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two of at least 8, not {depth!r}")
        self.port             = port
        self.base             = Signal(64)
        self.size_log2        = Signal(4)
        self.doorbell         = Signal(COUNT_BITS)
        self.max_request_size = Signal(16)
        self.run              = Signal()
        self.source           = stream.Endpoint(
            descriptor_layout(bits_for(memory_size - 1) if memory_size else None))
        self.idle             = Signal()

        # # #

        self.memory_size = memory_size
        self.depth       = depth
        self.ram         = DescriptorRAM(port.data_width, depth)
        self.comb       += port.data.connect(self.ram.sink, omit={"first", "last"})
        # Where the walk is.
        self.table       = Signal(64 - ADDRESS_SHIFT)  # Next descriptor of the table to request.
        self.table_left  = Signal(24)                  # Descriptors of it not yet requested.
        self.parse_left  = Signal(24)                  # Descriptors of it not yet parsed.
        self.slot        = Signal(COUNT_BITS)          # Next slot of the ring to request.
        self.parse_slot  = Signal(COUNT_BITS)          # Next slot of the ring to parse.
        # What is in the RAM, and what is on its way there.
        self.asked       = Signal(max=2 * depth)
        self.landed      = Signal(max=2 * depth)
        self.taken       = Signal(max=2 * depth)
        self.pending     = Signal(max=port.tags + 1)   # Requests not yet retired.
        self.stale       = Signal(max=port.tags + 1)   # Those of them that a LINK threw away.
        self.reason      = Signal(4)                   # Of the first fetch that failed.
        # The descriptor at the head.
        self.head        = Record(HOST_DESCRIPTOR_LAYOUT)
        self.link        = Signal()                    # It is a LINK,
        self.linked      = Signal()                    # was one in the last cycle too,
        self.linked_in_table = Signal()                # in a table;
        self.link_good   = Signal()                    # in this cycle it is followed,
        self.link_bad    = Signal()                    # or refused.
        self.stopped     = Signal()                    # A reason was given: nothing goes on.
        # Decoded from what does not change while the ring runs.
        self.size        = Signal(COUNT_BITS)          # Slots of the ring.
        self.index_mask  = Signal(RING_LOG2_MAX)
        self.sync += [
            self.size.eq(1 << self.size_log2),
            self.index_mask.eq(self.size - 1),
        ]

        self.add_fetch()
        self.add_retire()
        self.add_parser()
        self.add_check()

    # Requests -------------------------------------------------------------------------------------

    def add_fetch(self):
        """A request in six cycles; each step of its arithmetic ends in a register."""
        port       = self.port
        most       = self.depth // 2
        chunk      = Signal(max=self.depth)            # Most descriptors of a request,
        block      = Signal.like(chunk)                # and of one from the ring,
        chunk_mask = Signal(max=most)                  # less one.
        block_mask = Signal(max=most)
        from_table = Signal()                          # As of the last cycle,
        distance   = Signal(COUNT_BITS)                # slots to request, too,
        free       = Signal.like(self.asked)           # and places in the RAM.
        at_table   = Signal()
        following  = Signal.like(self.table)
        address    = Signal.like(self.table)
        available  = Signal(24)
        room       = Signal.like(chunk)                # Up to the end of the block.
        count      = Signal.like(chunk)
        accepted   = Signal()
        may_ask    = Signal()
        bad        = Signal()
        self.sync += [
            chunk.eq(most),
            If(self.max_request_size < most * DESCRIPTOR_BYTES,
                chunk.eq(self.max_request_size[ADDRESS_SHIFT:])
            ),
            block.eq(Mux(self.size > chunk, chunk, self.size)),
            chunk_mask.eq(chunk - 1),
            block_mask.eq(block - 1),
            from_table.eq(self.table_left != 0),
            distance.eq(self.doorbell - self.slot),
            # The size of the RAM is the highest bit.
            free.eq((Mux(self.stale != 0, self.landed, self.taken) - self.asked) ^ self.depth),
        ]
        self.comb += [
            # For a LINK: the address of the LINK itself, the last of its table or a slot.
            at_table.eq(Mux(self.linked, self.linked_in_table, from_table)),
            following.eq(Mux(at_table, self.table, self.base[ADDRESS_SHIFT:])
                + Mux(at_table, Replicate(self.linked, len(following)),
                    Mux(self.linked, self.parse_slot, self.slot) & self.index_mask)),
            port.request.address[ADDRESS_SHIFT:].eq(address),
            port.request.length.eq(count << ADDRESS_SHIFT),
            port.request.destination.eq(self.asked[:log2_int(self.depth)] << ADDRESS_SHIFT),
            may_ask.eq(self.run & ~self.stopped & (self.reason == REASON_NONE)),
            accepted.eq(port.request.valid & port.request.ready),
        ]
        self.fsm = fsm = FSM(reset_state="ADDRESS")
        fsm.act("ADDRESS",
            NextValue(address, following),
            NextValue(available, Mux(from_table, self.table_left, distance)),
            If(self.linked,
                NextState("LINK")
            ).Elif(may_ask & (from_table | (distance != 0)),
                NextState("BLOCK")
            )
        )
        fsm.act("BLOCK",
            # A block never crosses 4 KiB nor, as the ring is aligned, the end of the ring.
            NextValue(room, (~address & Mux(from_table, chunk_mask, block_mask)) + 1),
            NextState("COUNT")
        )
        fsm.act("COUNT",
            NextValue(count, Mux(available < room, available, room)),
            NextState("ROOM")
        )
        fsm.act("ROOM",
            If(self.linked | ~may_ask,
                NextState("ADDRESS")
            ).Elif((free >= count) & (self.pending != port.tags),
                NextState("REQUEST")
            )
        )
        fsm.act("REQUEST",
            port.request.valid.eq(1),
            If(port.request.ready, NextState("NEXT"))
        )
        fsm.act("NEXT",
            NextState("ADDRESS")
        )
        fsm.act("LINK",
            NextValue(bad, self.bad_link(address)),  # ``address`` is the LINK's own.
            NextState("FOLLOW")
        )
        fsm.act("FOLLOW",
            self.link_bad.eq(self.link & bad),
            self.link_good.eq(self.link & ~bad),
            If(self.link_good | ~self.link, NextState("NEXT"))
        )
        self.accepted = accepted
        self.sync += If(accepted,
            self.asked.eq(self.asked + count),
            If(from_table,
                self.table.eq(self.table + count),
                self.table_left.eq(self.table_left - count)
            ).Else(
                self.slot.eq(self.slot + count)
            )
        )
        self.comb += self.idle.eq((self.pending == 0) & ~port.request.valid)

    # Ends of requests -----------------------------------------------------------------------------

    def add_retire(self):
        retire = self.port.retire
        left   = Signal.like(self.pending)  # Pending without what retires in this cycle.
        self.comb += [
            retire.ready.eq(1),
            left.eq(self.pending - retire.valid),
        ]
        self.sync += [
            self.pending.eq(left + self.accepted),
            If(retire.valid,
                If(self.stale != 0,
                    self.stale.eq(self.stale - 1),
                    If(self.stale == 1, self.landed.eq(self.taken))
                ).Elif(self.reason == REASON_NONE,
                    self.landed.eq(self.landed + retire.bytes[ADDRESS_SHIFT:]),
                    self.reason.eq(retire.reason)
                )
            ),
            If(self.link_good,
                # Go on in the table; forget what was guessed behind the LINK, errors too.
                self.taken.eq(self.asked),
                self.stale.eq(left),
                If(left == 0, self.landed.eq(self.asked)),
                self.reason.eq(REASON_NONE)
            )
        ]

    # Parser ---------------------------------------------------------------------------------------

    def add_parser(self):
        ram       = self.ram
        head      = self.head
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
        self.comb += [
            ready.eq(~checked.valid | checked.ready),
            in_table.eq(self.parse_left != 0),
            slot_last.eq(self.parse_left[1:] == 0),   # The table's last, or none of a table.
            self.link.eq(valid & head.link),
            passed.eq(valid & ~head.link & ready),
            failed.eq((self.reason != REASON_NONE) & ~valid & ~fetched & (self.stale == 0)
                & (self.taken == self.landed)),
            move.eq(fetched & (~valid | passed)),
            ram.slot.eq(self.taken),
            ram.read.eq((self.taken != self.landed) & (self.stale == 0) & ~stopped
                & (~fetched | move)),
        ]
        self.sync += [
            If(ram.read,
                fetched.eq(1),
                self.taken.eq(self.taken + 1)
            ).Elif(move,
                fetched.eq(0)
            ),
            If(move,
                valid.eq(1),
                head.raw_bits().eq(ram.value)
            ).Elif(passed | self.link_good | (self.link_bad & ready),
                valid.eq(0)
            ),
            self.linked.eq(self.link & ~self.link_good & ~self.link_bad),
            self.linked_in_table.eq(in_table),
            If(checked.ready, checked.valid.eq(0)),
            If(ready,
                checked.valid.eq(passed | self.link_bad | (failed & ~stopped)),
                checked.host.eq(head.host),
                checked.endpoint.eq(head.endpoint),
                checked.length.eq(head.length),
                checked.end.eq(head.endpoint + head.length),
                checked.slot_last.eq(slot_last),
                checked.interrupt.eq(head.interrupt | (slot_last & interrupt)),
                checked.reason.eq(Mux(self.link_bad, REASON_BAD_LINK,
                    Mux(failed, self.reason, REASON_NONE))),
                *([] if self.memory_size else [checked.packet_end.eq(head.last)]),
                If(self.link_bad | failed, stopped.eq(1))
            ),
            If(passed,
                If(in_table,
                    self.parse_left.eq(self.parse_left - 1)
                ).Else(
                    self.parse_slot.eq(self.parse_slot + 1)
                ),
                If(slot_last, interrupt.eq(0))
            ),
            If(self.link_good,
                fetched.eq(0),   # What was behind the LINK.
                interrupt.eq(interrupt | head.interrupt),
                self.table.eq(head.host[ADDRESS_SHIFT:]),
                self.table_left.eq(head.length),
                self.parse_left.eq(head.length),
                # A LINK in the ring takes a slot, one in a table none.
                self.parse_slot.eq(self.parse_slot + Mux(in_table, 0, 1)),
                self.slot.eq(self.parse_slot + Mux(in_table, 0, 1))
            )
        ]

    def bad_link(self, address):
        """A LINK that is empty, not aligned, not the last of its table, or leads to itself."""
        head = self.head
        return (
            (head.length == 0) | (head.host[:ADDRESS_SHIFT] != 0) |
            (self.parse_left[1:] != 0) |
            (head.host[ADDRESS_SHIFT:] == address)
        )

    # Check ----------------------------------------------------------------------------------------

    def add_check(self):
        source, checked = self.source, self.checked
        good = If(checked.reason != REASON_NONE,
            source.reason.eq(checked.reason)
        ).Elif(checked.length == 0,
            source.reason.eq(REASON_ZERO_LENGTH)
        )
        if self.memory_size:
            # A power of two: further than its bit, or exactly to it.
            bit  = log2_int(self.memory_size)
            good = good.Elif((checked.end[bit + 1:] != 0) | (checked.end[bit] & (checked.end[:bit] != 0)),
                source.reason.eq(REASON_MEMORY_RANGE)
            )
            self.comb += source.endpoint.eq(checked.endpoint)
        self.comb += [checked.connect(source, omit={"reason", "endpoint", "end"}), good]
