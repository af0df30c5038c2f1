#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Buffers in host memory that the driver has given to the card's user logic: registers, table and bounds."""

from migen import *

from litex.gen import *

from litex.soc.interconnect.csr import CSRField, CSRStatus, CSRStorage

from litepcie_soc.common import abi
from litepcie_soc.common.pcie import REASON_BITS
from litepcie_soc.soc.identity import ClearedStorage

# Constants ----------------------------------------------------------------------------------------

PAGE_BITS = 12  # Addresses and sizes of buffers are in units of 4 KiB.
LIMIT_MAX = 256 << 20

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

# Lookup -------------------------------------------------------------------------------------------


class Lookup:
    """One client's view of the table, and what it reports.

    Attributes
    ----------
    number    : Signal(), **in**, number of a buffer.
    base      : Signal(52), **out**, address of the buffer in pages; of an older buffer in the cycle of a SET.
    pages     : Signal(), **out**, its size in pages.
    known     : Signal(), **out**, the card has the buffer.
    may_read  : Signal(), **out**, the card may read it.
    may_write : Signal(), **out**, the card may write it.
    busy      : Signal(buffers), **in**, bit n: an access to buffer n is under way.
    failed    : Signal(), **in**, one cycle: an access failed, with ``reason[8]``, of buffer ``error_number[8]``, a
        ``write`` or a read.
    """
    def __init__(self, buffers, limit):
        self.number    = Signal(bits_for(buffers - 1))
        self.base      = Signal(64 - PAGE_BITS)
        self.pages     = Signal(log2_int(limit) - PAGE_BITS + 1)
        self.known     = Signal()
        self.may_read  = Signal()
        self.may_write = Signal()
        self.busy      = Signal(buffers)
        self.failed    = Signal()
        self.reason    = Signal(REASON_BITS)
        self.error_number = Signal(8)
        self.write     = Signal()

# Host Buffers -------------------------------------------------------------------------------------


class HostBuffers(HostRegisters):
    """The table of buffers, which only the driver writes.

    CLEAR takes effect on all accesses that are not in BUSY when the host reads it afterwards. The completion of that
    read comes after the writes that were sent. So the memory can be freed when the buffer is not in BUSY.

    Parameters
    ----------
    buffers : int, number of buffers, 1 to 16.
    limit   : int, bytes of the largest one, a power of two from 4 KiB to 256 MiB.

    Attributes
    ----------
    buffers, byte_limit : the parameters.
    reset : Signal(), **in**, the function is being reset: the card has no buffer, and no error is counted.

    Raises ``ValueError`` if ``buffers`` or ``limit`` is not supported.
    """
    def __init__(self, buffers, limit):
        check_buffers(buffers, limit)
        HostRegisters.__init__(self, buffers, limit)
        self.buffers    = buffers
        self.byte_limit = limit
        self.reset      = Signal()
        self.lookups    = []

        # # #

        self.bits  = Signal(buffers), Signal(buffers), Signal(buffers)  # The card has it, may read it, may write it.
        self.table = Memory(len(Cat(*self.entry(Lookup(buffers, limit)))), 1 << bits_for(buffers - 1),
            name="host_table")
        self.specials += self.table
        self.add_writes(*self.bits)
        self.comb += self.valid.status.eq(self.bits[0])

    @staticmethod
    def entry(lookup):
        return lookup.base, lookup.pages

    def add_lookup(self):
        """Returns a new ``Lookup`` for a client. Call it before finalisation."""
        lookup = Lookup(self.buffers, self.byte_limit)
        read   = self.table.get_port(async_read=True)   # A RAM of LUTs.
        valid, may_read, may_write = self.bits
        self.specials += read
        self.comb += [
            read.adr.eq(lookup.number),
            Cat(*self.entry(lookup)).eq(read.dat_r),
            lookup.known.eq(bit(valid, lookup.number)),
            lookup.may_read.eq(bit(may_read, lookup.number)),
            lookup.may_write.eq(bit(may_write, lookup.number)),
        ]
        self.lookups.append(lookup)
        return lookup

    def add_writes(self, valid, may_read, may_write):
        """SET, CLEAR and reset."""
        store = self.table.get_port(write_capable=True)
        self.specials += store
        fields = self.set.fields
        chosen = Signal(self.buffers)
        size   = self.size.storage
        takes  = Signal()
        self.comb += [
            takes.eq(self.set.re & ~self.reset & (fields.number < self.buffers) & (size <= self.limit.status) &
                (Cat(self.base_lo.storage[:PAGE_BITS], size[:PAGE_BITS]) == 0)),
            chosen.eq(Mux(takes, 1 << fields.number, 0)),
            store.adr.eq(fields.number),
            store.dat_w.eq(Cat(self.base_lo.storage[PAGE_BITS:], self.base_hi.storage, size[PAGE_BITS:])),
            store.we.eq(takes),
            *[register.clear.eq(self.reset) for register in (self.base_lo, self.base_hi, self.size)],
        ]
        self.sync += [
            valid.eq((valid | chosen) & ~Mux(self.clear.re, self.clear.storage, 0)),
            *[If(chosen[n], may_read[n].eq(fields.read), may_write[n].eq(fields.write)) for n in range(self.buffers)],
            If(self.reset, valid.eq(0)),
        ]

    def do_finalize(self):
        fields = self.error.fields
        self.comb += self.busy.status.eq(Reduce("OR", [lookup.busy for lookup in self.lookups]))
        self.sync += self.errors.status.eq(
            self.errors.status + Reduce("ADD", [lookup.failed for lookup in self.lookups]))
        for lookup in self.lookups:
            self.sync += If(lookup.failed,
                fields.reason.eq(lookup.reason),
                fields.number.eq(lookup.error_number),
                fields.write.eq(lookup.write),
            )
        self.sync += If(self.reset,
            *[field.eq(0) for field in (self.errors.status, fields.reason, fields.number, fields.write)])

# Helpers ------------------------------------------------------------------------------------------


def bit(bits, number):
    """The bit of this number; 0 if there is none."""
    return bits & (1 << number) != 0


def beyond(address, size):
    """Whether an address is not below ``size``, a power of two."""
    bits = log2_int(size)
    return address[bits:] != 0 if bits < len(address) else Constant(0)


def check_buffers(buffers, limit):
    """Raises ``ValueError`` with one line if the buffers are not supported."""
    if not 1 <= buffers <= abi.MAX_HOST_BUFFERS:
        raise ValueError(f"host_buffers {buffers!r} is not supported; give 1 to {abi.MAX_HOST_BUFFERS}, or 0 for none")
    if limit & (limit - 1) or not 1 << PAGE_BITS <= limit <= LIMIT_MAX:
        raise ValueError(f"host_buffer_bytes {limit!r} is not supported; "
            f"give a power of two from {1 << PAGE_BITS} to {LIMIT_MAX}")
