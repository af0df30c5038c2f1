#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""One dword of BAR0: a register or a piece of the window."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import wishbone

from litepcie_soc.common.memory_ports import MemoryReadStream

# Dword Access -------------------------------------------------------------------------------------

class DwordAccess(LiteXModule):
    """Reads or writes a register, or reads a dword of the window.

    Register banks know whole dwords only, so a write with some bytes not enabled reads first and writes
    these back as they were.

    Parameters
    ----------
    data_width   : int, bits of the endpoint memory.
    window_bytes : int, size of the window.

    Attributes
    ----------
    start  : Signal(), **in**, held until `done` with all of:
    window : Signal(), **in**, the window and not a register (reads only).
    we     : Signal(), **in**.
    dword  : Signal(30), **in**, dwords from the start of registers or window.
    be     : Signal(4), **in**; registers without any are not touched.
    dat_w  : Signal(32), **in**.
    dat_r  : Signal(32), **out**, with `done`; all ones after a bus error.
    done   : Signal(), **out**, one cycle.
    csr_bus     : wishbone.Interface, 32 bits, word addresses, master.
    window_read : MemoryReadStream, client's side.
    """
    def __init__(self, data_width, window_bytes):
        self.start  = Signal()
        self.window = Signal()
        self.we     = Signal()
        self.dword  = Signal(30)
        self.be     = Signal(4)
        self.dat_w  = Signal(32)
        self.dat_r  = Signal(32)
        self.done   = Signal()
        self.csr_bus     = bus    = wishbone.Interface(data_width=32, adr_width=30, addressing="word")
        self.window_read = window = MemoryReadStream(data_width, window_bytes)

        # # #

        lane_bits = log2_int(data_width//32)
        lane      = Signal(32)
        self.comb += [
            Case(self.dword[:lane_bits], {n: lane.eq(window.data.dat[32*n:32*n + 32])
                for n in range(data_width//32)}),
            window.command.first.eq(1),
            window.command.last.eq(1),
            window.command.address.eq(self.dword[lane_bits:]),
            bus.adr.eq(self.dword),
        ]
        for byte in range(4):
            bits = slice(8*byte, 8*byte + 8)
            self.comb += bus.dat_w[bits].eq(Mux(self.be[byte], self.dat_w[bits], self.dat_r[bits]))

        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            If(self.start,
                NextValue(self.dat_r, 0),
                If(self.window,
                    NextState("COMMAND")
                ).Elif(self.be == 0,
                    NextState("DONE")
                ).Elif(self.we & (self.be == 0b1111),
                    NextState("WRITE")
                ).Else(
                    NextState("READ")
                )
            )
        )
        fsm.act("READ",
            bus.cyc.eq(1),
            bus.stb.eq(1),
            bus.sel.eq(0b1111),
            If(bus.ack | bus.err,
                NextValue(self.dat_r, Mux(bus.err, 0xffffffff, bus.dat_r)),
                If(self.we, NextState("WRITE")).Else(NextState("DONE"))
            )
        )
        fsm.act("WRITE",
            bus.cyc.eq(1),
            bus.stb.eq(1),
            bus.we.eq(1),
            bus.sel.eq(self.be),
            If(bus.ack | bus.err, NextState("DONE"))
        )
        fsm.act("COMMAND",
            window.command.valid.eq(1),
            If(window.command.ready, NextState("DATA"))
        )
        fsm.act("DATA",
            window.data.ready.eq(1),
            If(window.data.valid,
                NextValue(self.dat_r, lane),
                NextState("DONE")
            )
        )
        fsm.act("DONE",
            self.done.eq(1),
            NextState("IDLE")
        )
