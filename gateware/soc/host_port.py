#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Port through which the user's logic reads and writes buffers in host memory."""

from migen import *

from litex.gen import *
from litex.gen.genlib.misc import WaitTimer

from litex.soc.interconnect import wishbone

from litepcie_soc.common import abi
from litepcie_soc.common.pcie import REASON_BITS, REASON_BUS_MASTER, REASON_MEMORY_RANGE, REASON_NONE, REASON_TIMEOUT
from litepcie_soc.soc.host_buffers import PAGE_BITS, HostBuffers

# Constants ----------------------------------------------------------------------------------------

DWORD_BITS = 32

# Of a read, see `MemoryReadPort`: two words of the widest data path, as no address may have 0 bits.
DESTINATION_BITS = 7

# Host Port ----------------------------------------------------------------------------------------


class HostPort(HostBuffers):
    """Wishbone slave for the user's logic onto buffers that the driver has given to the card.

    The address is the number of a buffer and a byte offset in it. The unit checks number, permission and offset, and
    adds the offset to the address that the driver wrote: the user's logic has no other way to host memory. It serves
    one access at a time, each with one read of host memory, or one write for each run of adjacent bytes.

    A write is acknowledged when the PHY has accepted it. What the card sends afterwards, messages of interrupts among
    it, does not overtake it.

    A read is acknowledged when the card has executed the writes of the host before it (`RequestOrder`): who sees a flag
    in host memory also sees the registers that the host wrote before.

    An access ends with `err`, and is counted, if a check fails, bus mastering is off, the link goes down, or the host
    answers with an error or not in time. An access that the master gives up, or that lasts longer than
    `timeout_cycles`, goes on to its end, without a further `ack` or `err`, and the next one waits for that. On a bus of
    LiteX this limit must be below that of the bus, which would end the access with `ack` and all ones.

    Parameters
    ----------
    read_port  : MemoryReadPort with one tag and DESTINATION_BITS, `ordered`.
    write_port : MemoryWritePort.
    buffers, limit : see ``HostBuffers``.
    timeout_cycles : int, cycles of `sys` from `stb` until `err`.

    Attributes
    ----------
    bus      : wishbone.Interface, slave, 32-bit data. Byte address: number * limit + offset. In a
        SoC with an AXI bus `add_litepcie` replaces it by the interface of an ``AXISlave``.
    bytes    : int, bytes of the address space of ``bus``, a power of two.
    can_send : Signal(), **in**, bus mastering is on and the link is up.
    and those of ``HostBuffers``.
    """
    def __init__(self, read_port, write_port, buffers, limit, timeout_cycles=1 << 19):
        HostBuffers.__init__(self, buffers, limit)
        page_bits      = log2_int(limit) - PAGE_BITS
        number_bits    = bits_for(buffers - 1)
        self.bytes     = limit << number_bits
        self.bus       = bus = wishbone.Interface(data_width=DWORD_BITS, address_width=log2_int(self.bytes))
        self.can_send  = Signal()

        # # #

        # The access under way.
        self.number  = number  = Signal(number_bits)
        page         = Signal(max(1, page_bits))
        dword        = Signal(PAGE_BITS - 2)
        left         = Signal(4)                # Bytes to write.
        write        = Signal()
        value        = Signal(DWORD_BITS)       # To write, or read.
        aborted      = Signal()                 # The master has given it up, or has had `err`.
        late         = Signal()                 # The access that the master has open lasts too long.
        counted      = Signal()                 # One access was late during this one, and is in ERRORS.
        self.address = address = Signal(64 - PAGE_BITS)
        reason       = Signal(REASON_BITS)
        idle         = Signal()
        self.idle = idle  # Proofs read it.

        # Buffers ----------------------------------------------------------------------------------
        table = self.add_lookup()
        self.comb += [
            table.number.eq(number),
            table.busy.eq(Mux(idle, 0, 1 << number)),
            table.reason.eq(Mux(late, REASON_TIMEOUT, reason)),
            table.error_number.eq(number),
            table.write.eq(write),
        ]
        base, size = Signal.like(table.base), Signal.like(table.pages)
        known      = Signal()   # The card had the buffer when `base` was read.

        # Access -----------------------------------------------------------------------------------
        data, request, retire = read_port.data, read_port.request, read_port.retire
        sink  = write_port.sink
        first = Signal(2)       # First byte of the next run, and the runs after it.
        count = Signal(3)
        rest  = Signal(4)
        self.comb += [
            Case(left, {sel: [first.eq(at), count.eq(length), rest.eq(others)]
                for sel, (at, length, others) in ((sel, first_run(sel)) for sel in range(1, 16))}),
            # A dword is in any of the lanes of the TLP.
            sink.dat.eq(Replicate(value, len(sink.dat) // DWORD_BITS)),
            sink.address.eq(Cat(first, dword, address)),
            sink.length.eq(count),
            sink.first.eq(1),
            sink.last.eq(1),
            request.address.eq(Cat(C(0, 2), dword, address)),
            request.length.eq(DWORD_BITS // 8),
            request.destination.eq(0),
            request.first.eq(1),
            request.last.eq(1),
            data.ready.eq(1),
            bus.dat_r.eq(value),
        ]
        self.fsm = fsm = FSM(reset_state="IDLE")
        landed = NextState("DONE")
        if read_port.order is not None:
            landed = self.add_order(read_port.order)
        fsm.act("IDLE",
            idle.eq(1),
            NextValue(dword, bus.adr),
            NextValue(page, bus.adr[PAGE_BITS - 2:PAGE_BITS - 2 + page_bits] if page_bits else 0),
            NextValue(number, bus.adr[PAGE_BITS - 2 + page_bits:]),
            NextValue(left, bus.sel),
            NextValue(write, bus.we),
            NextValue(value, bus.dat_w),
            If(bus.cyc & bus.stb, NextState("LOOK_UP"))
        )
        fsm.act("LOOK_UP",
            NextValue(base, table.base),
            NextValue(size, table.pages),
            NextValue(known, table.known),
            NextState("CHECK")
        )
        fsm.act("CHECK",
            NextValue(address, base + page),
            NextState("FAIL"),
            If(~self.can_send,
                NextValue(reason, REASON_BUS_MASTER)
            ).Elif(~known,     # Not `table.known`: `base` may be older than a SET of the cycle before.
                NextValue(reason, abi.HOST_REASON_NO_BUFFER)
            ).Elif(~Mux(write, table.may_write, table.may_read),
                NextValue(reason, abi.HOST_REASON_DENIED)
            ).Elif(page >= size,
                NextValue(reason, REASON_MEMORY_RANGE)
            ).Elif(~write,
                NextState("READ")
            ).Elif(left == 0,
                NextState("DONE")
            ).Else(
                NextState("WRITE")
            )
        )
        fsm.act("WRITE",
            sink.valid.eq(1),
            If(sink.ready, NextState("SENT"))
        )
        fsm.act("SENT",
            NextValue(reason, REASON_BUS_MASTER),
            If(write_port.sent,
                NextValue(left, rest),
                NextState("WRITE"),
                If(rest == 0, NextState("DONE")),
                If(write_port.dropped, NextState("FAIL"))
            )
        )
        fsm.act("READ",
            request.valid.eq(1),
            If(request.ready, NextState("DATA"))
        )
        fsm.act("DATA",
            *[If(data.valid & data.be[n], NextValue(value[8*n:8*n + 8], data.dat[8*n:8*n + 8])) for n in range(4)],
            NextValue(reason, retire.reason),
            If(retire.valid,
                NextState("FAIL"),
                If(retire.reason == REASON_NONE, landed)
            )
        )
        waits = bus.cyc & bus.stb & ~aborted
        fsm.act("DONE",
            bus.ack.eq(waits),
            NextState("IDLE")
        )
        fsm.act("FAIL",
            bus.err.eq(waits),
            table.failed.eq(~counted),
            NextState("IDLE")
        )
        self.timer = timer = WaitTimer(timeout_cycles)
        self.comb += [
            timer.wait.eq(bus.cyc & bus.stb & ~timer.done & ~(fsm.ongoing("DONE") | fsm.ongoing("FAIL"))),
            late.eq(bus.cyc & bus.stb & timer.done & ~(fsm.ongoing("DONE") | fsm.ongoing("FAIL"))),
            If(late, bus.err.eq(1), table.failed.eq(1)),
        ]
        self.sync += [
            # Also for an access that is late in the cycle in which it begins.
            aborted.eq(late | (~idle & (aborted | ~(bus.cyc & bus.stb)))),
            counted.eq(late | (~idle & counted)),
        ]

    def add_order(self, order):
        """Adds the state that waits for the writes of the host before the data; returns the statement that follows it.
        """
        mark = Signal.like(order.mark)
        self.fsm.act("ORDER",
            If(order.reached(mark), NextState("DONE"))
        )
        return [
            NextValue(mark, order.mark),
            If(order.settled, NextState("DONE")).Else(NextState("ORDER"))
        ]

# Helpers ------------------------------------------------------------------------------------------


def first_run(sel):
    """Returns the place and the length of the first run of bytes in ``sel``, and ``sel`` without it."""
    at     = (sel & -sel).bit_length() - 1
    length = next(n for n in range(1, 5) if not sel >> at + n & 1)
    return at, length, sel & ~((1 << at + length) - 1)

