#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Port through which the user's logic reads and writes buffers in host memory."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import wishbone
from litex.soc.interconnect.csr import CSRField, CSRStatus, CSRStorage

from litepcie_soc.common import abi
from litepcie_soc.common.pcie import REASON_BITS, REASON_BUS_MASTER, REASON_MEMORY_RANGE, REASON_NONE
from litepcie_soc.soc.identity import ClearedStorage

# Constants ----------------------------------------------------------------------------------------

PAGE_BITS  = 12  # Addresses and sizes of buffers are in units of 4 KiB.
DWORD_BITS = 32
LIMIT_MAX  = 256 << 20

# Of a read, see `MemoryReadPort`: two words of the widest data path, as no address may have 0 bits.
DESTINATION_BITS = 7

# Registers ----------------------------------------------------------------------------------------


class HostRegisters(LiteXModule):
    """Registers of the buffers. Bit n of VALID, BUSY and CLEAR belongs to buffer n.

    Parameters
    ----------
    buffers : int, number of buffers.
    limit   : int, bytes of the largest one.

    Registers
    ---------
    Those of the section of host buffers in ``software/kernel/litepcie_regs.h``.
    """
    def __init__(self, buffers=0, limit=0):
        self.count   = CSRStatus(32, name="count", n=0, reset=buffers,
            description="Number of buffers that the card can have.")
        self.limit   = CSRStatus(32, name="limit", n=1, reset=limit,
            description="Bytes of the largest; buffer n begins at n times LIMIT in the port's address space.")
        self.base_lo = ClearedStorage(32, name="base_lo", n=2, description="For SET: address, a multiple of 4096.")
        self.base_hi = ClearedStorage(32, name="base_hi", n=3)
        self.size    = ClearedStorage(32, name="size", n=4,
            description="For SET: bytes, a multiple of 4096, at most LIMIT.")
        self.set     = CSRStorage(name="set", n=5, description="A write gives the card a buffer.", fields=[
            CSRField("number", 4, offset=0),
            CSRField("read",   1, offset=8, description="the card may read it"),
            CSRField("write",  1, offset=9, description="the card may write it"),
        ])
        self.clear   = CSRStorage(32, name="clear", n=6, description="Write 1: take the buffer from the card.")
        self.valid   = CSRStatus(32, name="valid", n=7, description="The card has the buffer.")
        self.busy    = CSRStatus(32, name="busy", n=8, description="An access to the buffer is under way.")
        self.errors  = CSRStatus(32, name="errors", n=9, description="Accesses that failed, modulo 2^32.")
        self.error   = CSRStatus(name="error", n=10, description="The last access that failed.", fields=[
            CSRField("reason", REASON_BITS, offset=0, description="HOST_REASON_* or REASON_*"),
            CSRField("number", 8, offset=8),
            CSRField("write",  1, offset=16),
        ])

    def get_csrs(self, sort=False):
        return [self.count, self.limit, self.base_lo, self.base_hi, self.size, self.set, self.clear, self.valid,
            self.busy, self.errors, self.error]

    def get_memories(self):
        return []

# Host Port ----------------------------------------------------------------------------------------


class HostPort(HostRegisters):
    """Wishbone slave for the user's logic onto buffers that the driver has given to the card.

    The address is the number of a buffer and a byte offset in it. The unit checks number, permission and offset, and
    adds the offset to the address that the driver wrote: the user's logic has no other way to host memory. It serves
    one access at a time, each with one read of host memory, or one write for each run of adjacent bytes.

    A write is acknowledged when the PHY has accepted it. What the card sends afterwards, messages of interrupts among
    it, does not overtake it.

    An access ends with `err`, and is counted, if a check fails, bus mastering is off, the link goes down, or the host
    answers with an error or not in time. An access that the master gives up goes on to its end, without `ack` or `err`.

    CLEAR takes effect on all accesses that are not in BUSY when the host reads it afterwards. The completion of that
    read comes after the writes that were sent. So the memory can be freed when the buffer is not in BUSY.

    Parameters
    ----------
    read_port  : MemoryReadPort with one tag and DESTINATION_BITS.
    write_port : MemoryWritePort.
    buffers    : int, number of buffers, 1 to 16.
    limit      : int, bytes of the largest one, a power of two from 4 KiB to 256 MiB.

    Attributes
    ----------
    bus      : wishbone.Interface, slave, 32-bit data. Byte address: number * limit + offset.
    bytes    : int, bytes of the address space of ``bus``, a power of two.
    can_send : Signal(), **in**, bus mastering is on and the link is up.
    reset    : Signal(), **in**, the function is being reset: the card has no buffer, and no error is counted.

    Raises ``ValueError`` if ``buffers`` or ``limit`` is not supported.
    """
    def __init__(self, read_port, write_port, buffers, limit):
        check_buffers(buffers, limit)
        HostRegisters.__init__(self, buffers, limit)
        self.buffers   = buffers
        self.page_bits = page_bits = log2_int(limit) - PAGE_BITS
        number_bits    = bits_for(buffers - 1)
        self.bytes     = limit << number_bits
        self.bus       = bus = wishbone.Interface(data_width=DWORD_BITS, address_width=log2_int(self.bytes))
        self.can_send  = Signal()
        self.reset     = Signal()

        # # #

        # The access under way.
        self.number  = number  = Signal(number_bits)
        page         = Signal(max(1, page_bits))
        dword        = Signal(PAGE_BITS - 2)
        left         = Signal(4)                # Bytes to write.
        write        = Signal()
        value        = Signal(DWORD_BITS)       # To write, or read.
        aborted      = Signal()                 # The master has given it up.
        self.address = address = Signal(64 - PAGE_BITS)
        reason       = Signal(REASON_BITS)
        failed       = Signal()
        idle         = Signal()

        # Buffers ----------------------------------------------------------------------------------
        valid, may_read, may_write = Signal(buffers), Signal(buffers), Signal(buffers)
        found, pages = Signal(64 - PAGE_BITS), Signal(page_bits + 1)
        self.add_table(valid, may_read, may_write, number, Cat(found, pages))
        self.comb += [
            self.valid.status.eq(valid),
            self.busy.status.eq(Mux(idle, 0, 1 << number)),
        ]
        base, size = Signal.like(found), Signal.like(pages)
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
            NextValue(base, found),
            NextValue(size, pages),
            NextValue(known, bit(valid, number)),
            NextState("CHECK")
        )
        fsm.act("CHECK",
            NextValue(address, base + page),
            NextState("FAIL"),
            If(~self.can_send,
                NextValue(reason, REASON_BUS_MASTER)
            ).Elif(~known,     # Not `valid`: `base` may be older than a SET of the cycle before.
                NextValue(reason, abi.HOST_REASON_NO_BUFFER)
            ).Elif(~bit(Mux(write, may_write, may_read), number),
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
                If(retire.reason == REASON_NONE, NextState("DONE"))
            )
        )
        waits = bus.cyc & bus.stb & ~aborted
        fsm.act("DONE",
            bus.ack.eq(waits),
            NextState("IDLE")
        )
        fsm.act("FAIL",
            bus.err.eq(waits),
            failed.eq(1),
            NextState("IDLE")
        )
        self.sync += aborted.eq(~idle & (aborted | ~(bus.cyc & bus.stb)))
        self.add_errors(failed, reason, number, write)

    def add_table(self, valid, may_read, may_write, number, entry):
        """Buffers: where they are, in a RAM of LUTs that gives ``entry`` of ``number``; and what the card may do."""
        table = Memory(len(entry), 1 << len(number), name="host_table")
        read  = table.get_port(async_read=True)
        store = table.get_port(write_capable=True)
        self.specials += table, read, store
        fields    = self.set.fields
        chosen    = Signal(self.buffers)
        size_bits = PAGE_BITS + len(entry) - (64 - PAGE_BITS)
        size      = self.size.storage
        takes     = Signal()
        self.comb += [
            takes.eq(self.set.re & ~self.reset & (fields.number < self.buffers) & (size <= self.limit.status) &
                (Cat(self.base_lo.storage[:PAGE_BITS], size[:PAGE_BITS]) == 0)),
            chosen.eq(Mux(takes, 1 << fields.number, 0)),
            store.adr.eq(fields.number),
            store.dat_w.eq(Cat(self.base_lo.storage[PAGE_BITS:], self.base_hi.storage, size[PAGE_BITS:size_bits])),
            store.we.eq(takes),
            read.adr.eq(number),
            entry.eq(read.dat_r),
            *[register.clear.eq(self.reset) for register in (self.base_lo, self.base_hi, self.size)],
        ]
        self.sync += [
            valid.eq((valid | chosen) & ~Mux(self.clear.re, self.clear.storage, 0)),
            *[If(chosen[n], may_read[n].eq(fields.read), may_write[n].eq(fields.write)) for n in range(self.buffers)],
            If(self.reset, valid.eq(0)),
        ]

    def add_errors(self, failed, reason, number, write):
        fields = self.error.fields
        last   = [(fields.reason, reason), (fields.number, number), (fields.write, write)]
        self.sync += [
            If(failed,
                self.errors.status.eq(self.errors.status + 1),
                *[field.eq(value) for field, value in last],
            ),
            If(self.reset,
                self.errors.status.eq(0),
                *[field.eq(0) for field, _ in last],
            ),
        ]

# Helpers ------------------------------------------------------------------------------------------


def bit(bits, number):
    """The bit of this number; 0 if there is none."""
    return bits & (1 << number) != 0


def first_run(sel):
    """Returns the place and the length of the first run of bytes in ``sel``, and ``sel`` without it."""
    at     = (sel & -sel).bit_length() - 1
    length = next(n for n in range(1, 5) if not sel >> at + n & 1)
    return at, length, sel & ~((1 << at + length) - 1)


def check_buffers(buffers, limit):
    """Raises ``ValueError`` with one line if the buffers are not supported."""
    if not 1 <= buffers <= abi.MAX_HOST_BUFFERS:
        raise ValueError(f"host_buffers {buffers!r} is not supported; give 1 to {abi.MAX_HOST_BUFFERS}, or 0 for none")
    if limit & (limit - 1) or not 1 << PAGE_BITS <= limit <= LIMIT_MAX:
        raise ValueError(f"host_buffer_bytes {limit!r} is not supported; "
            f"give a power of two from {1 << PAGE_BITS} to {LIMIT_MAX}")
