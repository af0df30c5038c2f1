#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Access to one register of BAR0."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import wishbone

# Dword Access -------------------------------------------------------------------------------------

class DwordAccess(LiteXModule):
    """Reads or writes a register.

    Register banks support whole dwords only. A write that does not enable all bytes therefore reads the register
    first, and writes the disabled bytes back unchanged. Any other write is on the bus as long as `start` is set, so
    that a descriptor which the host writes into registers loses no cycle between its dwords.

    Attributes
    ----------
    start       : Signal(), **in**, requests an access. It and the inputs below must be stable until `done`.
    we          : Signal(), **in**, write.
    dword       : Signal(30), **in**, address in dwords from the start of BAR0.
    be          : Signal(4), **in**, byte enables; a register is not accessed if none is set.
    dat_w       : Signal(32), **in**, data to write.
    dat_r       : Signal(32), **out**, data read, valid with `done`; all ones after a bus error.
    done        : Signal(), **out**, the access is complete; asserted for one cycle.
    csr_bus     : wishbone.Interface, master, 32-bit data, word addresses.
    """
    def __init__(self):
        self.start   = Signal()
        self.we      = Signal()
        self.dword   = Signal(30)
        self.be      = Signal(4)
        self.dat_w   = Signal(32)
        self.dat_r   = Signal(32)
        self.done    = Signal()
        self.csr_bus = bus = wishbone.Interface(data_width=32, adr_width=30, addressing="word")

        # # #

        self.comb += bus.adr.eq(self.dword)
        for byte in range(4):
            bits = slice(8*byte, 8*byte + 8)
            self.comb += bus.dat_w[bits].eq(Mux(self.be[byte], self.dat_w[bits], self.dat_r[bits]))

        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            If(self.start,
                NextValue(self.dat_r, 0),
                If(self.be == 0,
                    NextState("DONE")
                ).Elif(self.we & (self.be == 0b1111),
                    bus.cyc.eq(1),
                    bus.stb.eq(1),
                    bus.we.eq(1),
                    bus.sel.eq(0b1111),
                    self.done.eq(bus.ack | bus.err)
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
        fsm.act("DONE",
            self.done.eq(1),
            NextState("IDLE")
        )
