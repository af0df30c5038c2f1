#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Descriptor ring: parses and checks the descriptors fetched from host memory."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import (
    REASON_BAD_LINK, REASON_MEMORY_RANGE, REASON_NONE, REASON_RESERVED, REASON_ZERO_LENGTH, read_data_layout,
)
from litepcie_soc.dma.descriptor import DESCRIPTOR_BYTES, HOST_DESCRIPTOR_LAYOUT, descriptor_layout
from litepcie_soc.dma.fetch import COUNT_BITS, DescriptorFetch

# RAM ----------------------------------------------------------------------------------------------
# RAM that descriptors are fetched into.


class DescriptorRAM(LiteXModule):
    """Stores beats of any data width and returns descriptors; byte addresses wrap.

    Descriptor n has byte address 16 n. A descriptor never spans two beats (two 64-bit beats hold one):
    host and destination addresses are multiples of 16, and completions split at multiples of 64.

    Parameters
    ----------
    data_width : bits of a beat (64, 128, 256, 512).
    depth      : descriptors, a power of two.

    Attributes
    ----------
    sink  : Endpoint(read_data_layout), **in**, always ready.
    slot  : log2(depth), **in**, descriptor to read.
    read  : 1, **in**, reads it; ``value`` does not change without it.
    value : 128, **out**, the descriptor, one cycle after ``read``.
    """
    def __init__(self, data_width, depth):
        self.sink  = sink = stream.Endpoint(read_data_layout(data_width))
        self.slot  = Signal(max=depth)
        self.read  = Signal()
        self.value = Signal(8 * DESCRIPTOR_BYTES)

        # # #

        # A row holds whole descriptors: it is as wide as a beat, but at least 128 bits. It is written in 64-bit parts.
        row_width = max(data_width, len(self.value))
        per_row   = row_width // len(self.value)
        beats     = row_width // data_width
        storage   = Memory(row_width, depth // per_row)
        write     = storage.get_port(write_capable=True, we_granularity=64, mode=READ_FIRST)
        read      = storage.get_port(has_re=True, mode=READ_FIRST)
        self.specials += storage, write, read
        # No descriptor is read before it has landed, so never in the cycle in which it is written. Without this, yosys
        # adds registers and multiplexers behind the RAM for that case, on the longest path of ECP5. Wider rows stay in
        # RAM made of LUTs; with it, yosys would take many block RAMs that are nearly empty.
        if per_row == 1:
            storage.attr = {("no_rw_check", 1)}

        enables = Cat(*[sink.be[8 * n] for n in range(data_width // 64)])
        self.comb += [
            sink.ready.eq(1),
            write.dat_w.eq(Replicate(sink.dat, beats)),
            write.adr.eq(sink.address[log2_int(beats):]),
            If(sink.valid, write.we.eq(enables)),
            read.adr.eq(self.slot[log2_int(per_row):]),
            read.re.eq(self.read),
        ]
        if beats == 2:
            self.comb += If(sink.valid, write.we.eq(Cat(enables & ~sink.address[0],
                enables & sink.address[0])))
        if per_row == 1:
            self.comb += self.value.eq(read.dat_r)
        else:
            part = Signal(max=per_row)
            self.sync += If(self.read, part.eq(self.slot[:log2_int(per_row)]))
            self.comb += Case(part, {
                n: self.value.eq(read.dat_r[len(self.value) * n:len(self.value) * (n + 1)])
                for n in range(per_row)})

# Ring ---------------------------------------------------------------------------------------------

# Consecutive LINKs without a descriptor between them. One more is refused: the chain may never end.
LINKS_IN_A_ROW = 15


class DescriptorRing(LiteXModule):
    """Turns the ring, its LINKs and their tables into one stream of checked descriptors.

    ``DescriptorFetch`` requests descriptors into a RAM. The parser here takes them from the RAM in order,
    follows LINKs and checks the rest.

    Parameters
    ----------
    port        : MemoryReadPort of this ring; it can have ``port.tags`` requests outstanding.
    memory_size : bytes of the endpoint memory, a power of two; None for a stream, which has no endpoint memory.
    depth       : descriptors in the RAM, a power of two of at least 8; one request fetches at most half of them.
    direct      : whether a descriptor that the host writes into registers is used; otherwise it is ignored.
    early       : as in ``DescriptorFetch``.

    Attributes
    ----------
    base, size_log2  : 64, 4, **in**, host address of the ring and log2 of its slots; stable.
    doorbell         : 13, **in**, low bits of the number of descriptors ever made available; at most
        a ring ahead of the completed ones.
    max_request_size : 16, **in**, MRRS in bytes, a power of two.
    run              : 1, **in**, new requests may be made.
    source           : Endpoint(descriptor_layout), **out**. A descriptor with a ``reason`` is the last valid one:
        ignore what follows until the module is reset.
    idle             : 1, **out**, no request of this ring is in flight.
    index_mask       : 12, **out**, ring size - 1; one cycle late.
    direct           : 4, **in**, one cycle: the host writes this dword of the next slot's descriptor.
    direct_dat       : 32, **in**, its value.
    direct_go        : 1, **in**, one cycle after ``doorbell`` made that slot available: executes the descriptor if it
        is whole.

    Raises ``ValueError`` if ``depth`` is not a power of two of at least 8.
    """
    def __init__(self, port, *, memory_size=None, depth=64, direct=True, early=0):
        if depth < 8 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two of at least 8, not {depth!r}")
        self.fetch = fetch    = DescriptorFetch(port, depth, early)
        self.base             = fetch.base
        self.size_log2        = fetch.size_log2
        self.doorbell         = fetch.doorbell
        self.max_request_size = fetch.max_request_size
        self.run              = fetch.run
        self.idle             = fetch.idle
        self.index_mask       = fetch.index_mask
        self.direct           = Signal(4)
        self.direct_dat       = Signal(32)
        self.direct_go        = Signal()
        self.source           = stream.Endpoint(
            descriptor_layout(bits_for(memory_size - 1) if memory_size else None))

        # # #

        self.memory_size = memory_size
        self.use_direct  = direct
        self.ram         = DescriptorRAM(port.data_width, depth)
        self.comb       += port.data.connect(self.ram.sink, omit={"first", "last"})
        # Position of the parser.
        self.parse_slot   = Signal(COUNT_BITS)            # Ring slot.
        self.table_left_n = Signal(24, reset=2**24 - 1)   # Ones' complement of the table's descriptors left to parse.
        self.stopped      = Signal()                      # A reason was issued: the parser has stopped.
        self.add_parser()
        self.add_check()

    # Parser ---------------------------------------------------------------------------------------

    def add_parser(self):
        ram       = self.ram
        fetch     = self.fetch
        word      = Record(HOST_DESCRIPTOR_LAYOUT)   # The RAM's output.
        head      = Record(HOST_DESCRIPTOR_LAYOUT)
        fetched   = Signal()     # The RAM's output holds a descriptor.
        valid     = Signal()     # ``head`` holds a descriptor.
        is_link   = Signal()     # ``head`` is a LINK.
        reserved  = Signal()     # ``head`` has a reserved bit; it is no LINK then.
        halves    = Signal(2)    # Halves of the reserved bits, each combined: one LUT from the RAM to the register.
        move      = Signal()     # RAM output to ``head``.
        accepted  = Signal()     # ``head`` is no LINK and moves to ``checked``; also in the cycle of ``injected``.
        failed    = Signal()     # A fetch failed, and every descriptor before it has been parsed.
        stopped   = self.stopped
        in_table  = Signal()
        interrupt = Signal()     # A LINK of this slot had INTERRUPT: the slot's last descriptor takes it over.
        self.checked = checked = stream.Endpoint([
            ("host",     64), ("endpoint", 32), ("length",    24), ("end",      33),
            ("interrupt", 1), ("slot_last", 1), ("reason",     4), ("reserved", 1)]
            + ([] if self.memory_size else [("packet_end", 1)]))
        injected  = Signal()     # ``head`` is the descriptor that the host wrote into registers.
        caught_up = Signal()     # Every descriptor that the doorbell made available has been parsed; one cycle late.
        ready     = Signal()
        slot_last = Signal()
        next_slot = Signal(COUNT_BITS)
        links     = Signal(max=LINKS_IN_A_ROW + 1)
        writable  = caught_up & ~self.direct_go if self.use_direct else 0
        none_left = 2**len(self.table_left_n) - 1
        dwords    = [Cat(head.length, head.interrupt, head.last, head.reserved, head.link), head.endpoint,
            head.host[:32], head.host[32:]]
        self.comb += [
            word.raw_bits().eq(ram.value),
            ready.eq(~checked.valid | checked.ready),
            reserved.eq(halves != 0),
            is_link.eq(head.link & ~reserved),
            in_table.eq(self.table_left_n != none_left),
            # One or no descriptor of the table is left: this is the table's last, or one directly in the ring.
            slot_last.eq(self.table_left_n[1:] == none_left >> 1),
            # A LINK in the ring uses a slot, a LINK in a table does not.
            next_slot.eq(self.parse_slot + Mux(in_table, 0, 1)),
            fetch.head.eq(head),
            fetch.link.eq(valid & is_link),
            fetch.table_last.eq(slot_last),
            fetch.endless.eq(links == LINKS_IN_A_ROW),
            fetch.resume.eq(next_slot),
            fetch.stop.eq(stopped),
            fetch.take.eq(ram.read),
            accepted.eq((valid | injected) & ~is_link & ready),
            failed.eq((fetch.reason != REASON_NONE) & ~valid & ~fetched & (fetch.stale == 0)
                & (fetch.taken == fetch.landed)),
            move.eq(fetched & (~valid | accepted)),
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
                head.eq(word),
                halves.eq(Cat(word.reserved[:3] != 0, word.reserved[3:] != 0))
            ).Elif(accepted | fetch.link_good | (fetch.link_bad & ready),
                valid.eq(0)
            ),
            caught_up.eq(fetch.quiet & (self.parse_slot == fetch.slot) & ~in_table & ~valid & ~fetched & ~stopped),
            *[If(writable & self.direct[n], dword.eq(self.direct_dat)) for n, dword in enumerate(dwords)],
            If(writable & self.direct[0], halves.eq(0)),   # The direct descriptor has a tag there.
            If(injected & ~accepted, valid.eq(1)),
            If(checked.ready, checked.valid.eq(0)),
            If(ready,
                checked.valid.eq(accepted | fetch.link_bad | (failed & ~stopped)),
                checked.host.eq(head.host),
                checked.endpoint.eq(head.endpoint),
                checked.length.eq(head.length),
                checked.end.eq(head.endpoint + head.length),
                checked.slot_last.eq(slot_last),
                checked.interrupt.eq(head.interrupt | (slot_last & interrupt)),
                checked.reserved.eq(reserved),
                checked.reason.eq(Mux(fetch.link_bad, REASON_BAD_LINK,
                    Mux(failed, fetch.reason, REASON_NONE))),
                *([] if self.memory_size else [checked.packet_end.eq(head.last)]),
                If(fetch.link_bad | failed, stopped.eq(1))
            ),
            If(accepted,
                links.eq(0),
                If(in_table, self.table_left_n.eq(self.table_left_n + 1)),
                self.parse_slot.eq(next_slot),
                If(slot_last, interrupt.eq(0))
            ),
            If(fetch.link_good,
                fetched.eq(0),   # Drops the descriptor fetched after the LINK.
                links.eq(links + 1),
                interrupt.eq(interrupt | head.interrupt),
                self.table_left_n.eq(~head.length),
                self.parse_slot.eq(next_slot)
            )
        ]

        self.comb += fetch.skip.eq(injected)
        if self.use_direct:
            self.add_direct(head, caught_up, injected)

    # Direct Descriptor ----------------------------------------------------------------------------

    def add_direct(self, head, caught_up, injected):
        """Takes a descriptor that the host writes into registers into ``head``, while the parser has nothing to do.

        The descriptor is also in its slot, so ignoring it is always correct. It is used only if its four dwords were
        written in ascending order, and the tag in place of its reserved bits is that of the slot. So it is ignored if
        something between host and card changes the order of the writes.
        """
        count = Signal(max=5)   # Dwords that were written in order.
        whole = Signal()        # Four of them, with the tag of the slot; one cycle late.
        tag   = len(head.reserved)
        self.comb += injected.eq(self.direct_go & caught_up & whole)
        self.sync += [
            whole.eq((count == 4) & (head.reserved == self.fetch.slot[:tag]) & (self.direct == 0) & caught_up
                & ~injected),
            *[If(self.direct[n], count.eq(Mux(count == n, n + 1, 0) if n else 1)) for n in range(4)],
            If(~caught_up | injected, count.eq(0)),
        ]

    # Check ----------------------------------------------------------------------------------------

    def add_check(self):
        source, checked = self.source, self.checked
        good = If(checked.reason != REASON_NONE,
            source.reason.eq(checked.reason)
        ).Elif(checked.reserved,
            source.reason.eq(REASON_RESERVED)
        ).Elif(checked.length == 0,
            source.reason.eq(REASON_ZERO_LENGTH)
        )
        if self.memory_size:
            # The size is a power of two, so the end is past it if a higher bit is set, or its own bit and a lower one.
            # ``end`` has 33 bits: with 4 GiB of memory there is no higher bit.
            bit  = log2_int(self.memory_size)
            past = [checked.end[bit + 1:] != 0] if bit + 1 < len(checked.end) else []
            good = good.Elif(Reduce("OR", [*past, checked.end[bit] & (checked.end[:bit] != 0)]),
                source.reason.eq(REASON_MEMORY_RANGE)
            )
            self.comb += source.endpoint.eq(checked.endpoint)
        self.comb += [checked.connect(source, omit={"reason", "reserved", "endpoint", "end"}), good]
