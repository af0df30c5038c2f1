#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Accesses of the host to the bus of the user's SoC."""

from dataclasses import dataclass

from migen import *

from litex.gen import *

from litex.gen.genlib.misc import WaitTimer
from litex.soc.interconnect import wishbone

from litepcie_soc.common.abi import USER_OFFSET
from litepcie_soc.common.pcie import COMPLETION_DWORDS

# User Bus -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UserBus:
    """Range of the SoC's bus that the host reaches.

    origin         : int, address of the range on the bus in bytes, a multiple of ``size``.
    size           : int, bytes, a power of two from 4096 to the user's part of BAR0.
    timeout_cycles : int, cycles of ``sys`` for which an access may take.
    address_width  : int, bits of a byte address on the bus.
    """
    origin:         int
    size:           int
    timeout_cycles: int
    address_width:  int = 32

# User Access --------------------------------------------------------------------------------------


class UserAccess(LiteXModule):
    """Makes one access at a time to the user's bus; each ends within a limited time.

    An access that lasts too long fails, but its bus cycle goes on until the slave ends it: a slave that answers late
    then never answers another access. Until it does, every access fails at once. ``abort`` ends the cycle too.

    Parameters
    ----------
    user : ``UserBus``.

    Attributes
    ----------
    start  : Signal(), **in**, requests an access. It and the inputs below must be stable until ``done``.
    we     : Signal(), **in**, write.
    dword  : Signal(30), **in**, address in dwords from the start of the user's part of BAR0.
    be     : Signal(4), **in**, byte enables, ``sel`` of the bus; nothing is accessed if none is set.
    dat_w  : Signal(32), **in**, data to write.
    abort  : Signal(), **in**, the function is reset: end the cycle. Accesses fail meanwhile.
    dat_r  : Signal(32), **out**, data read, valid with ``done``.
    done   : Signal(), **out**, the access is complete; asserted for one cycle.
    failed : Signal(), **out**, with ``done``: the bus reported an error or did not answer in time, or the address is
        beyond the range.
    bus    : wishbone.Interface, master, 32-bit data, word addresses.
    """
    def __init__(self, user):
        self.start  = Signal()
        self.we     = Signal()
        self.dword  = Signal(30)
        self.be     = Signal(4)
        self.dat_w  = Signal(32)
        self.abort  = Signal()
        self.dat_r  = Signal(32)
        self.done   = Signal()
        self.failed = Signal()
        self.bus    = bus = wishbone.Interface(data_width=32, address_width=user.address_width, addressing="word")

        # # #

        offset_bits = log2_int(user.size // 4)
        opened      = Signal()  # A cycle is on the bus.
        answered    = Signal()
        offset      = Signal(offset_bits)
        self.comb += [
            bus.cyc.eq(opened),
            bus.stb.eq(opened),
            bus.adr.eq(Cat(offset, Constant(user.origin // user.size, len(bus.adr) - offset_bits))),
            answered.eq(bus.ack | bus.err),
        ]
        self.timer = timer = WaitTimer(user.timeout_cycles)
        self.fsm   = fsm   = FSM(reset_state="IDLE")
        self.comb += timer.wait.eq(fsm.ongoing("ACCESS"))
        fsm.act("IDLE",
            NextValue(self.failed, 0),
            NextValue(self.dat_r, 0),
            If(self.start,
                If(self.be == 0,
                    NextState("DONE")
                ).Elif(opened | self.abort | (self.dword[offset_bits:] != 0),
                    NextValue(self.failed, 1),
                    NextState("DONE")
                ).Else(
                    NextValue(bus.we, self.we),
                    NextValue(bus.sel, self.be),
                    NextValue(bus.dat_w, self.dat_w),
                    NextValue(offset, self.dword),
                    NextValue(opened, 1),
                    NextState("ACCESS")
                )
            )
        )
        fsm.act("ACCESS",
            NextValue(self.dat_r, bus.dat_r),
            NextValue(self.failed, ~bus.ack | bus.err),
            If(answered | self.abort | timer.done,
                NextState("DONE")
            )
        )
        fsm.act("DONE",
            self.done.eq(1),
            NextState("IDLE")
        )
        self.sync += If(opened & (answered | self.abort), opened.eq(0))

# User Reader --------------------------------------------------------------------------------------


class UserReader(LiteXModule):
    """Reads the dwords of a completion before its header is sent, so that the header can say that it failed.

    Attributes
    ----------
    address           : Signal(32), **in**, byte address of the first dword, in the cycle before ``enable``.
    dwords            : Signal(11), **in**, number of dwords, 1..1024, in the same cycle.
    first_be, last_be : Signal(4), **in**, byte enables of the request, stable while ``enable`` is asserted.
    enable            : Signal(), **in**, asserted for the whole request, then deasserted for at least a cycle.
    begin             : Signal(), **in**, one cycle: forget the dwords of the completion before.
    fetch             : Signal(), **in**, read the dwords of the next completion; asserted until ``ready``.
    ready             : Signal(), **out**, all dwords of the completion are here, or one of them failed.
    failed            : Signal(), **out**, a dword of the request failed. No more are read.
    dat               : Signal(32), **out**, the next dword, in memory byte order.
    take              : Signal(), **in**, take ``dat``.
    start, dword, be  : **out**, and done, error, dat_r : **in**, an access, as in ``UserAccess``.
    """
    def __init__(self):
        self.address  = Signal(32)
        self.dwords   = Signal(11)
        self.first_be = Signal(4)
        self.last_be  = Signal(4)
        self.enable   = Signal()
        self.begin    = Signal()
        self.fetch    = Signal()
        self.ready    = Signal()
        self.failed   = Signal()
        self.dat      = Signal(32)
        self.take     = Signal()
        self.start    = Signal()
        self.dword    = Signal(log2_int(USER_OFFSET//4))
        self.be       = Signal(4)
        self.done     = Signal()
        self.error    = Signal()
        self.dat_r    = Signal(32)

        # # #

        memory = Memory(32, COMPLETION_DWORDS)  # Not an attribute, or LiteX would give it a place among the registers.
        write, read = memory.get_port(write_capable=True), memory.get_port(async_read=True)
        self.specials += memory, write, read
        left     = Signal(11)
        first    = Signal()
        complete = Signal()
        self.comb += [
            write.dat_w.eq(self.dat_r),
            write.we.eq(self.done),
            self.dat.eq(read.dat_r),
            self.ready.eq(complete | self.failed),
            self.start.eq(self.fetch & ~self.ready),
            self.be.eq(Mux(first, self.first_be, Mux(left == 1, self.last_be, 0b1111))),
        ]
        self.sync += [
            If(self.take, read.adr.eq(read.adr + 1)),
            If(self.start & self.done,
                write.adr.eq(write.adr + 1),
                self.dword.eq(self.dword + 1),
                left.eq(left - 1),
                first.eq(0),
                self.failed.eq(self.error),
                complete.eq((left == 1) | (self.dword[:log2_int(COMPLETION_DWORDS)] == COMPLETION_DWORDS - 1)),
            ),
            If(self.begin,
                read.adr.eq(0),
                write.adr.eq(0),
                complete.eq(0),
            ),
            If(~self.enable,
                self.dword.eq(self.address[2:]),
                left.eq(self.dwords),
                first.eq(1),
                self.failed.eq(0),
            ),
        ]
