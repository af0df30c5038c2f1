#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A Wishbone slave as an AXI4-Lite slave (AMBA AXI, ARM IHI 0022, B1)."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import wishbone
from litex.soc.interconnect.axi import RESP_OKAY, RESP_SLVERR, AXILiteInterface

# AXI-Lite Slave -----------------------------------------------------------------------------------


class AXILiteSlave(LiteXModule):
    """Makes one cycle of a Wishbone bus for each transaction, one at a time; reads and writes take turns.

    A cycle that ends with ``err`` is answered with SLVERR. LiteX's bridge begins such a cycle again, until the slave
    gives ``ack``: that may be never.

    Parameters
    ----------
    address_width : int, bits of a byte address.

    Attributes
    ----------
    axi : AXILiteInterface, slave, 32-bit data.
    bus : wishbone.Interface, master, 32-bit data, word addresses.
    """
    def __init__(self, address_width=32):
        self.axi = axi = AXILiteInterface(data_width=32, address_width=address_width)
        self.bus = bus = wishbone.Interface(data_width=32, address_width=address_width, addressing="word")

        # # #

        write  = Signal()   # There is a write.
        turn   = Signal()   # Of a write, if there is a read as well.
        failed = Signal()
        data   = Signal(32)
        self.comb += [
            write.eq(axi.aw.valid & axi.w.valid),
            axi.r.data.eq(data),
            axi.r.resp.eq(Mux(failed, RESP_SLVERR, RESP_OKAY)),
            axi.b.resp.eq(axi.r.resp),
        ]
        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            NextValue(bus.dat_w, axi.w.data),
            If(write & (turn | ~axi.ar.valid),
                axi.aw.ready.eq(1),
                axi.w.ready.eq(1),
                NextValue(bus.we, 1),
                NextValue(bus.adr, axi.aw.addr[2:]),
                NextValue(bus.sel, axi.w.strb),
                NextState("ACCESS")
            ).Elif(axi.ar.valid,
                axi.ar.ready.eq(1),
                NextValue(bus.we, 0),
                NextValue(bus.adr, axi.ar.addr[2:]),
                NextValue(bus.sel, 0b1111),
                NextState("ACCESS")
            )
        )
        fsm.act("ACCESS",
            bus.cyc.eq(1),
            bus.stb.eq(1),
            NextValue(data, bus.dat_r),
            NextValue(failed, bus.err),
            NextValue(turn, ~bus.we),
            If(bus.ack | bus.err, NextState("ANSWER"))
        )
        fsm.act("ANSWER",
            axi.b.valid.eq(bus.we),
            axi.r.valid.eq(~bus.we),
            If(Mux(bus.we, axi.b.ready, axi.r.ready), NextState("IDLE"))
        )
