#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Descriptor fetch: requests descriptors from host memory and follows LINKs.

    doorbell, size --> next request: rest of the table, then the ring --> MemoryReadPort --> host
                         ^                                                     |
                         | LINK: other requests become stale                   v
    DescriptorRing <-- taken <= landed <= requested <-------------------- DescriptorRAM
"""

from migen import *

from litex.gen import *

from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.dma.descriptor import DESCRIPTOR_BYTES, HOST_DESCRIPTOR_LAYOUT, QUICK_BITS, size_mask

# Constants ----------------------------------------------------------------------------------------

RING_LOG2_MAX = 12
COUNT_BITS    = RING_LOG2_MAX + 1  # Distances from 0 to a whole ring.
ADDRESS_SHIFT = log2_int(DESCRIPTOR_BYTES)

# Most descriptors of an early request while fewer than MANY are in the RAM or under way: a completion of 256 bytes.
SECOND, MANY = 16, 32

# Descriptor Fetch ---------------------------------------------------------------------------------


class DescriptorFetch(LiteXModule):
    """Requests descriptors in execution order, and follows the LINKs that the parser finds.

    It requests the rest of the current table first, then the ring from the next slot on. Descriptors
    after a LINK are fetched speculatively. Following the LINK discards them: their requests become stale,
    and the parser reads nothing from the RAM until the last stale request has retired.

    Three counters, modulo twice the depth, point into the RAM: ``taken`` <= ``landed`` <= ``requested``.
    With ``early``, ``landed`` follows the data itself while it comes in order, which saves the cycles until the request
    retires. Only checked data without a fault reaches the RAM, so a retirement never takes a descriptor back.
    Addresses are in units of descriptors. One address register serves tables and the ring: it increments
    through a table, and is computed from the slot for each request to the ring. The number of descriptors left
    in a table is kept as its ones' complement, so that it counts up with an adder and no subtractor.

    Parameters
    ----------
    port  : MemoryReadPort of the ring; this module drives all of it except ``data``.
    depth : descriptors in the RAM; one request fetches at most half of them.
    early : 0, or a power of two: most descriptors of a request while the RAM is empty. The next ones are short too. A
        completion with few descriptors is here sooner, and so an engine begins sooner.

    Attributes
    ----------
    base, size_log2, doorbell, max_request_size, run, idle : as in ``DescriptorRing``.
    index_mask : 12, **out**, ring size - 1; one cycle late.
    stop       : 1, **in**, no new request is issued.
    take       : 1, **in**, the parser reads a descriptor from the RAM; only while ``ready``.
    ready      : 1, **out**, the RAM holds a descriptor to read.
    taken      : log2(depth) + 1, **out**, position of that descriptor in the RAM, modulo the depth.
    reason     : 4, **out**, reason of the first fetch that failed.
    head       : Record(HOST_DESCRIPTOR_LAYOUT), **in**, the next descriptor to execute.
    link       : 1, **in**, ``head`` is a LINK; stable until ``link_good`` or ``link_bad``.
    link_good  : 1, **out**, one cycle, the LINK is followed.
    link_bad   : 1, **out**, the LINK is refused. The parser does nothing in the cycle after either.
    table_last : 1, **in**, ``head`` is the last descriptor of its table, or is not in a table.
    endless    : 1, **in**, too many LINKs without a descriptor between them lead to ``head``.
    resume     : 13, **in**, ring slot after ``head``, or after the table that ``head`` is in.
    quiet      : 1, **out**, no table and no ring slot is left to request, and no LINK is followed.
    skip       : 1, **in**, the descriptor of the next slot need not be fetched; only one cycle after ``quiet``.
    """
    def __init__(self, port, depth, early=0):
        self.port             = port
        self.depth            = depth
        self.early            = early
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
        self.quiet            = Signal()
        self.skip             = Signal()

        # # #

        # Position of the requests.
        self.address      = Signal(64 - ADDRESS_SHIFT)   # Next descriptor of the table to request.
        self.table_left_n = Signal(24, reset=2**24 - 1)  # Ones' complement of the table's descriptors left to request.
        self.slot         = Signal(COUNT_BITS)           # Next ring slot to request.
        # Counters into the RAM, and the requests in flight.
        self.requested    = Signal.like(self.taken)
        self.landed       = Signal.like(self.taken)
        self.pending      = Signal(max=port.tags + 1)    # Requests not yet retired.
        self.stale        = Signal(max=port.tags + 1)    # Pending requests that a LINK discarded.
        self.lead         = Signal(max=depth + 1)        # Descriptors that ``landed`` has and no retirement told yet.
        self.accepted     = Signal()
        self.linked       = Signal()                     # ``head`` was a LINK in the last cycle, not yet followed.
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
        """Makes one request in six cycles; each step of its arithmetic ends in a register.

        On a wide path it takes five cycles while half of the RAM is free, and after a pause two from the doorbell.
        """
        port       = self.port
        address    = self.address
        most_log2  = log2_int(self.depth // 2)
        # ``from_table``, ``distance`` and ``free`` are registers: they show the last cycle.
        chunk_mask = Signal(most_log2)                 # Most descriptors of one request, minus one.
        block_mask = Signal(most_log2)                 # The same for the ring: at most its size.
        from_table = Signal()                          # Descriptors of a table are left to request.
        distance   = Signal(COUNT_BITS)                # Ring slots left to request.
        free       = Signal.like(self.requested)       # Free places in the RAM.
        index      = Signal(RING_LOG2_MAX)
        left       = Signal(24)                        # Descriptors of the table left to request.
        available  = Signal(most_log2 + 1)             # Descriptors left; the top bit means a full request or more.
        room       = Signal.like(available)            # Descriptors up to the end of the block.
        count      = Signal.like(available)
        may_ask    = Signal()
        self.from_table = from_table  # Proofs read it.
        most       = size_mask(self.max_request_size)[ADDRESS_SHIFT:ADDRESS_SHIFT + most_log2]
        if self.early:
            few  = Reduce("AND", free[log2_int(MANY):-1]) if self.depth > MANY else 0
            most = most & Mux(free[-1], self.early - 1, Mux(few, SECOND - 1, self.depth // 2 - 1))
        self.fsm   = fsm = FSM(reset_state="ADDRESS")
        skipped    = Signal()                          # ``distance`` does not show a skipped slot yet.
        self.sync += [
            skipped.eq(self.skip),
            chunk_mask.eq(most),
            block_mask.eq(most & self.index_mask),
            from_table.eq(left != 0),
            distance.eq(self.doorbell - self.slot),
            # depth - (requested - taken). Adding the depth only inverts the top bit.
            free.eq((Mux(self.stale != 0, self.landed, self.taken) - self.requested) ^ self.depth),
        ]
        self.comb += [
            left.eq(~self.table_left_n),
            index.eq(self.slot & self.index_mask),
            port.request.address[ADDRESS_SHIFT:].eq(address),
            port.request.length.eq(count << ADDRESS_SHIFT),
            port.request.destination.eq(self.requested[:log2_int(self.depth)] << ADDRESS_SHIFT),
            may_ask.eq(self.run & ~self.stop & (self.reason == REASON_NONE)),
            self.accepted.eq(port.request.valid & port.request.ready),
            self.quiet.eq(fsm.ongoing("ADDRESS") & (left == 0) & (self.slot == self.doorbell) & ~self.linked
                & (self.reason == REASON_NONE)),
        ]

        def saturated(value):
            """``value`` in the width of ``available``: the top bit is set if it is a full request or more."""
            return Cat(value[:most_log2], value[most_log2:] != 0)

        quick   = port.data_width >= QUICK_BITS
        again   = Signal()      # The last cycle was in ADDRESS too, so its address is that of this cycle.
        plenty  = Signal()      # Half of the RAM is free: there is room for any request.
        remain  = Mux(from_table, saturated(left), saturated(distance))
        asks    = from_table | (distance != 0)
        get_room = NextValue(room, (~address & Mux(from_table, chunk_mask, block_mask)) + 1)
        if quick:
            # `distance` shows the doorbell in COUNT, so ADDRESS need not wait for it.
            asks = from_table | (~self.skip & (self.slot != self.doorbell))
            self.comb += [plenty.eq(free[-2:] != 0), available.eq(remain)]
            self.sync += again.eq(fsm.ongoing("ADDRESS"))
        fsm.act("ADDRESS",
            # The ring is aligned to its size or to 4 KiB, so the adder needs only the bits above 4 KiB.
            If(~from_table,
                NextValue(address, Cat(self.base[ADDRESS_SHIFT:12] | index[:12 - ADDRESS_SHIFT],
                    self.base[12:] + index[12 - ADDRESS_SHIFT:]))
            ),
            NextValue(count, 1),     # For ``skip``.
            *([] if quick else [NextValue(available, remain)]),
            If(self.linked,
                NextState("FOLLOW")
            ).Elif(may_ask & ~skipped & asks,
                NextState("BLOCK"),
                *([If(again, NextState("COUNT"))] if quick else [])
            ),
            *([get_room] if quick else [])
        )
        fsm.act("BLOCK",
            # A block never crosses 4 KiB. As the ring is aligned, it never crosses the end of the ring either.
            get_room,
            NextState("COUNT")
        )
        fsm.act("COUNT",
            NextValue(count, Mux(available < room, available, room)),
            NextState("ROOM"),
            *([If(plenty & ~self.linked & may_ask & (self.pending != port.tags),
                port.soon.eq(1),
                NextState("REQUEST")
            )] if quick else [])
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
                self.requested.eq(self.requested + count),
                address.eq(address + count),
                If(from_table, self.table_left_n.eq(self.table_left_n + count))
            ),
            If((self.accepted & ~from_table) | self.skip, self.slot.eq(self.slot + count)),
            If(self.link_good,
                address.eq(self.head.host[ADDRESS_SHIFT:]),
                self.table_left_n.eq(~self.head.length),
                from_table.eq(1),
                self.slot.eq(self.resume)
            )
        ]

    def add_link(self, fsm):
        """Follows a LINK, or refuses it: if its table is empty or misaligned, if it is not the last descriptor of the
        table it is in, or if it follows too many other LINKs directly."""
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
        retire  = self.port.retire
        left    = Signal.like(self.pending)  # Pending requests after this cycle's retirement.
        arrived = Signal.like(self.landed)   # Descriptors that a retirement adds to ``landed``.
        late    = Signal()                   # There are some.
        self.comb += [
            retire.ready.eq(1),
            left.eq(self.pending - retire.valid),
        ]
        if self.early:
            self.add_data(arrived, late)
        else:
            self.comb += [arrived.eq(retire.bytes[ADDRESS_SHIFT:]), late.eq(1)]
        self.sync += [
            If(self.take, self.taken.eq(self.taken + 1)),
            self.pending.eq(left + self.accepted),
            If(retire.valid,
                If(self.stale != 0,
                    self.stale.eq(self.stale - 1),
                    If(self.stale == 1, self.landed.eq(self.taken))
                ).Elif(self.reason == REASON_NONE,
                    If(late, self.landed.eq(self.landed + arrived)),
                    self.reason.eq(retire.reason)
                )
            ),
            If(self.link_good,
                # Discards what was fetched speculatively after the LINK, including errors.
                self.taken.eq(self.requested),
                self.stale.eq(left),
                self.lead.eq(0),
                If(left == 0, self.landed.eq(self.requested)),
                self.reason.eq(REASON_NONE)
            )
        ]

    def add_data(self, arrived, late):
        """Counts descriptors as landed when their data comes, and takes them off the number that their retirement adds.

        Not counted is the data of stale requests, and data that overtook other data: the retirement adds it. In a beat
        of several descriptors, those of one request have adjacent lanes.
        """
        port, retire = self.port, self.port.retire
        each  = port.data_width // (8 * DESCRIPTOR_BYTES)
        lanes = Cat(*[port.data.be[DESCRIPTOR_BYTES * n] for n in range(each)])
        lane  = log2_int(each)                          # Bits of a descriptor's lane.
        seen  = Signal(max=each + 1)                    # Descriptors of this beat that are counted.
        first = Signal(each)                            # The lane after the newest descriptor that landed.
        told  = Signal((len(self.lead) + 1, True))      # ``lead`` after a retirement; negative: data was not counted.
        self.comb += [
            first.eq(1 << self.landed[:lane] if lane else 1),
            If(port.data.valid & (self.stale == 0)
                & (port.data.address[:log2_int(self.depth) - lane] == self.landed[lane:log2_int(self.depth)])
                & ((lanes & ((first << 1) - 1)) == first),
                seen.eq(sum([lanes[n] for n in range(each)]))
            ),
            told.eq(self.lead - retire.bytes[ADDRESS_SHIFT:]),
            arrived.eq(-told),
            late.eq(told[-1]),
        ]
        self.sync += [
            self.lead.eq(Mux(retire.valid & (self.stale == 0), Mux(told[-1], 0, told), self.lead) + seen),
            # Never together with ``arrived``: all data of a request comes before its retirement.
            If(seen != 0, self.landed.eq(self.landed + seen)),
        ]
