#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Copies dwords between buffers in host memory, as an example of user's logic, and to test its bounds."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import wishbone
from litex.soc.interconnect.csr import CSRField, CSRStatus, CSRStorage

# Host Copier --------------------------------------------------------------------------------------


class HostCopier(LiteXModule):
    """Reads dwords at one address of a ``HostPort`` and writes them at another, one access at a time.

    A dword whose read fails is not written. With GIVE_UP, the master breaks the rules: it gives up each cycle that has
    no answer after so many clock cycles, and goes on with the next dword.

    Parameters
    ----------
    address_width : int, bits of a byte address of the port.
    patient       : bool, GIVE_UP does nothing: LiteX's bridge to AXI gives the answer of such a cycle to the next one.

    Attributes
    ----------
    bus  : wishbone.Interface, master, 32-bit data, for ``HostPort.bus``.
    done : Signal(), **out**, one cycle: all dwords were copied.

    Registers
    ---------
    source, target : byte addresses at the port, multiples of 4.
    words   : number of dwords.
    control : a write with START begins; with AGAIN, the copy begins again whenever it is done.
    status  : BUSY until the copy is done.
    errors  : accesses that ended with an error, since START.
    copied  : dwords copied, since START.
    """
    def __init__(self, address_width, patient=False):
        self.source  = CSRStorage(32, description="Address of the first dword to read.")
        self.target  = CSRStorage(32, description="Address of the first dword to write.")
        self.words   = CSRStorage(32, description="Number of dwords.")
        self.control = CSRStorage(description="Control.", fields=[
            CSRField("start", 1, pulse=True, description="begin"),
            CSRField("again", 1, description="begin again when done"),
            CSRField("give_up", 8, offset=8, description="give a cycle up after so many clock cycles; 0: never"),
        ])
        self.status  = CSRStatus(description="State.", fields=[CSRField("busy", description="not done")])
        self.errors  = CSRStatus(32, description="Accesses that failed.")
        self.copied  = CSRStatus(32, description="Dwords copied.")
        self.bus     = bus = wishbone.Interface(data_width=32, address_width=address_width)
        self.done    = Signal()

        # # #

        word    = Signal(32)
        waited  = Signal(8)
        gives   = Signal()
        strobe  = Signal()
        control = self.control.fields
        self.comb += [
            bus.cyc.eq(strobe),
            bus.stb.eq(strobe),
            bus.sel.eq(0xf),
            bus.adr.eq(Mux(bus.we, self.target.storage[2:], self.source.storage[2:]) + word),
            gives.eq(0 if patient else (control.give_up != 0) & (waited == control.give_up)),
        ]
        self.sync += [
            If(strobe & ~bus.ack & ~bus.err, waited.eq(waited + 1)).Else(waited.eq(0)),
            If(strobe & bus.err, self.errors.status.eq(self.errors.status + 1)),
            If(control.start, self.errors.status.eq(0)),
        ]
        self.fsm = fsm = FSM(reset_state="IDLE")
        self.comb += self.status.fields.busy.eq(~fsm.ongoing("IDLE"))
        fsm.act("IDLE",
            NextValue(word, 0),
            If(control.start,
                NextValue(self.copied.status, 0),
                NextState("CHECK")
            )
        )
        fsm.act("CHECK",
            NextState("READ"),
            If(word >= self.words.storage,
                self.done.eq(1),
                NextValue(word, 0),
                NextState("IDLE"),
                If(control.again, NextState("CHECK"))
            )
        )
        fsm.act("READ",
            strobe.eq(1),
            If(bus.err | (~bus.ack & gives),    # LiteX's bridge to AXI-Lite gives ``ack`` with ``err``.
                NextState("NEXT")
            ).Elif(bus.ack,
                NextValue(bus.dat_w, bus.dat_r),
                NextState("WRITE")
            )
        )
        fsm.act("WRITE",
            strobe.eq(1),
            bus.we.eq(1),
            If(bus.ack & ~bus.err, NextValue(self.copied.status, self.copied.status + 1)),
            If(bus.ack | bus.err | gives, NextState("NEXT"))
        )
        fsm.act("NEXT",
            NextValue(word, word + 1),
            NextState("CHECK")
        )
