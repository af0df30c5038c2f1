#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A driver that gives the card buffers in host memory, for the proofs of what the user's logic does with them."""

from migen import *

from litepcie_soc.soc.host_buffers import PAGE_BITS

# Given Buffer -------------------------------------------------------------------------------------


class GivenBuffer:
    """Any one of the buffers, as the driver gave it. It may write the registers of the buffers in any way.

    Assumed: it replaces the buffer only after it took it and then saw it not busy.

    Attributes
    ----------
    which : number of the buffer.
    base, pages : address and size in pages.
    may_read, may_write : what the card may do.
    busy  : the card says that it accesses the buffer.
    gone  : the buffer was taken from the card, and was not busy since.
    """
    def __init__(self, harness, host):
        registers = [host.base_lo.storage, host.base_hi.storage, host.size.storage, host.set.re, host.clear.re,
            host.clear.storage, *[getattr(host.set.fields, name) for name in ("number", "read", "write")]]
        harness.free(*registers)
        self.which = which = Signal(max=host.buffers)
        harness.constant(which)
        self.base  = Signal(64 - PAGE_BITS)
        self.pages = Signal(32 - PAGE_BITS)
        self.may_read, self.may_write, self.busy = Signal(), Signal(), Signal()
        self.gone  = gone = Signal(reset=1)

        # # #

        has, gives = Signal(), Signal()
        harness.comb += [
            gives.eq(host.set.re & (host.set.fields.number == which) & ~host.reset &
                (host.size.storage <= host.byte_limit) &
                (Cat(host.base_lo.storage[:PAGE_BITS], host.size.storage[:PAGE_BITS]) == 0)),
            self.busy.eq((host.busy.status >> which) & 1),
        ]
        harness.sync += [
            If(gives,
                has.eq(1),
                self.base.eq(Cat(host.base_lo.storage[PAGE_BITS:], host.base_hi.storage)),
                self.pages.eq(host.size.storage[PAGE_BITS:]),
                self.may_read.eq(host.set.fields.read),
                self.may_write.eq(host.set.fields.write),
                gone.eq(0),
            ).Elif(~has & ~self.busy,
                gone.eq(1)
            ),
            If(host.reset | (host.clear.re & ((host.clear.storage >> which) & 1)), has.eq(0)),
        ]
        harness.assume("not_replaced", ~gives | (~has & gone))
