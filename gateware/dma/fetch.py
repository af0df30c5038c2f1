#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Requests for descriptors: what is asked for, in which order, and what of it has landed."""

from migen import *

from litex.gen import *

from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.dma.descriptor import DESCRIPTOR_BYTES, HOST_DESCRIPTOR_LAYOUT, size_mask

# Constants ----------------------------------------------------------------------------------------

RING_LOG2_MAX = 12
COUNT_BITS    = RING_LOG2_MAX + 1  # Distances up to a whole ring.
ADDRESS_SHIFT = log2_int(DESCRIPTOR_BYTES)

# Descriptor Fetch ---------------------------------------------------------------------------------


class DescriptorFetch(LiteXModule):
    """Asks for descriptors in the order of execution, and follows the LINKs that the parser meets.

    First the rest of the current table, then the ring from the slot behind it. What is fetched
    behind a LINK is guesswork that the LINK throws away: its requests become stale, and nothing is
    to be read from the RAM before the last of them is retired.

    Three counts, modulo their width, walk over the RAM: ``taken`` <= ``landed`` <= ``asked``.
    Addresses of descriptors are kept in units of descriptors. There is one: it walks through a
    table, and is made anew from the slot for each request from the ring. What is left of a table is
    kept as its complement, which counts up.

    Parameters
    ----------
    port  : MemoryReadPort of the ring, all but its ``data``.
    depth : descriptors of the RAM; a request asks for up to half of them.

    Attributes
    ----------
    base, size_log2, doorbell, max_request_size, run, idle : of ``DescriptorRing``.
    index_mask : 12, out, sys, slots of the ring less one; a cycle late.
    stop       : 1, in, sys, no new request is made.
    take       : 1, in, sys, a descriptor is read from the RAM, when ``ready``.
    ready      : 1, out, sys, there is one,
    taken      : out, sys, its place.
    reason     : 4, out, sys, of the first fetch that failed.
    head       : Record(HOST_DESCRIPTOR_LAYOUT), in, sys, the descriptor to be executed next.
    link       : 1, in, sys, it is a LINK: stable until
    link_good  : 1, out, sys, in this cycle it is followed, or
    link_bad   : 1, out, sys, refused. Nothing is parsed in the cycle behind either.
    table_last : 1, in, sys, it is the last one of its table, or in none.
    endless    : 1, in, sys, too many LINKs lead to it without a descriptor between them.
    resume     : 13, in, sys, slot of the ring behind the LINK, or behind the table it is in.
    """
    def __init__(self, port, depth):
        self.port             = port
        self.depth            = depth
        self.base             = Signal(64)
        self.size_log2        = Signal(4)
        self.doorbell         = Signal(COUNT_BITS)
        self.max_request_size = Signal(16)
        self.run              = Signal()
        self.idle             = Signal()
        self.index_mask       = Signal(RING_LOG2_MAX)
        self.stop             = Signal()
        self.take             = Signal()
        self.ready            = Signal()
        self.taken            = Signal(max=2 * depth)
        self.reason           = Signal(4)
        self.head             = Record(HOST_DESCRIPTOR_LAYOUT)
        self.link             = Signal()
        self.link_good        = Signal()
        self.link_bad         = Signal()
        self.table_last       = Signal()
        self.endless          = Signal()
        self.resume           = Signal(COUNT_BITS)

        # # #

        # Where the walk is.
        self.address   = Signal(64 - ADDRESS_SHIFT)   # Next descriptor of the table to request.
        self.requested = Signal(24, reset=2**24 - 1)  # Complement of those of it not yet requested.
        self.slot      = Signal(COUNT_BITS)           # Next slot of the ring to request.
        # What is on its way to the RAM.
        self.asked     = Signal.like(self.taken)
        self.landed    = Signal.like(self.taken)
        self.pending   = Signal(max=port.tags + 1)    # Requests not yet retired.
        self.stale     = Signal(max=port.tags + 1)    # Those of them that a LINK threw away.
        self.accepted  = Signal()
        self.linked    = Signal()                     # The head is a LINK, in the last cycle too.
        self.sync += [
            self.index_mask.eq(Cat(*[self.size_log2 > n for n in range(RING_LOG2_MAX)])),
            self.linked.eq(self.link & ~self.link_good & ~self.link_bad),
        ]
        self.comb += [
            self.ready.eq((self.taken != self.landed) & (self.stale == 0)),
            self.idle.eq((self.pending == 0) & ~port.request.valid),
        ]
        self.add_requests()
        self.add_retire()

    # Requests -------------------------------------------------------------------------------------

    def add_requests(self):
        """A request in six cycles; each step of its arithmetic ends in a register."""
        port       = self.port
        address    = self.address
        most_log2  = log2_int(self.depth // 2)
        chunk_mask = Signal(most_log2)                 # Most descriptors of a request less one,
        block_mask = Signal(most_log2)                 # and of one from the ring.
        from_table = Signal()                          # As of the last cycle,
        distance   = Signal(COUNT_BITS)                # slots to request, too,
        free       = Signal.like(self.asked)           # and places in the RAM.
        index      = Signal(RING_LOG2_MAX)
        left       = Signal(24)
        available  = Signal(most_log2 + 1)             # Most of all if its highest bit is set.
        room       = Signal.like(available)            # Up to the end of the block.
        count      = Signal.like(available)
        may_ask    = Signal()
        self.sync += [
            chunk_mask.eq(size_mask(self.max_request_size)[ADDRESS_SHIFT:ADDRESS_SHIFT + most_log2]),
            block_mask.eq(chunk_mask & self.index_mask),
            from_table.eq(left != 0),
            distance.eq(self.doorbell - self.slot),
            # The size of the RAM is the highest bit.
            free.eq((Mux(self.stale != 0, self.landed, self.taken) - self.asked) ^ self.depth),
        ]
        self.comb += [
            left.eq(~self.requested),
            index.eq(self.slot & self.index_mask),
            port.request.address[ADDRESS_SHIFT:].eq(address),
            port.request.length.eq(count << ADDRESS_SHIFT),
            port.request.destination.eq(self.asked[:log2_int(self.depth)] << ADDRESS_SHIFT),
            may_ask.eq(self.run & ~self.stop & (self.reason == REASON_NONE)),
            self.accepted.eq(port.request.valid & port.request.ready),
        ]

        def least(value):
            """``value``, or something that is most of all or more as it is."""
            return Cat(value[:most_log2], value[most_log2:] != 0)

        self.fsm = fsm = FSM(reset_state="ADDRESS")
        fsm.act("ADDRESS",
            # The ring is aligned: only with more slots than a page has is there something to add.
            If(~from_table,
                NextValue(address, Cat(self.base[ADDRESS_SHIFT:12] | index[:12 - ADDRESS_SHIFT],
                    self.base[12:] + index[12 - ADDRESS_SHIFT:]))
            ),
            NextValue(available, Mux(from_table, least(left), least(distance))),
            If(self.linked,
                NextState("FOLLOW")
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
        self.add_link(fsm)
        self.sync += [
            If(self.accepted,
                self.asked.eq(self.asked + count),
                address.eq(address + count),
                If(from_table,
                    self.requested.eq(self.requested + count)
                ).Else(
                    self.slot.eq(self.slot + count)
                )
            ),
            If(self.link_good,
                address.eq(self.head.host[ADDRESS_SHIFT:]),
                self.requested.eq(~self.head.length),
                from_table.eq(1),
                self.slot.eq(self.resume)
            )
        ]

    def add_link(self, fsm):
        """A LINK is refused that is empty, not aligned, not the last of its table, or one of an endless chain."""
        bad = Signal()
        self.sync += bad.eq((self.head.length == 0) | (self.head.host[:ADDRESS_SHIFT] != 0)
            | ~self.table_last | self.endless)
        fsm.act("FOLLOW",
            self.link_bad.eq(self.link & bad),
            self.link_good.eq(self.link & ~bad),
            If(self.link_good | ~self.link, NextState("ADDRESS"))
        )

    # Ends of requests -----------------------------------------------------------------------------

    def add_retire(self):
        retire = self.port.retire
        left   = Signal.like(self.pending)  # Pending without what retires in this cycle.
        self.comb += [
            retire.ready.eq(1),
            left.eq(self.pending - retire.valid),
        ]
        self.sync += [
            If(self.take, self.taken.eq(self.taken + 1)),
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
