#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Access to one dword of BAR0: a register, or a dword of the window."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import wishbone

from litepcie_soc.common.memory_ports import MemoryReadStream

# Dword Access -------------------------------------------------------------------------------------

class DwordAccess(LiteXModule):
    """Reads or writes a register, or reads a dword of the window.

    Register banks support whole dwords only. A write that does not enable all bytes therefore reads the register
    first, and writes the disabled bytes back unchanged.

    Parameters
    ----------
    data_width   : int, bits of the endpoint memory.
    window_bytes : int, bytes of the window.

    Attributes
    ----------
    start       : Signal(), **in**, requests an access. It and the inputs below must be stable until `done`.
    window      : Signal(), **in**, 1: the window (reads only), 0: the registers.
    we          : Signal(), **in**, write.
    dword       : Signal(30), **in**, address in dwords from the start of the registers or the window.
    be          : Signal(4), **in**, byte enables; a register is not accessed if none is set.
    dat_w       : Signal(32), **in**, data to write.
    dat_r       : Signal(32), **out**, data read, valid with `done`; all ones after a bus error.
    done        : Signal(), **out**, the access is complete; asserted for one cycle.
    csr_bus     : wishbone.Interface, master, 32-bit data, word addresses.
    window_read : MemoryReadStream, **out**, reads of the window.
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
