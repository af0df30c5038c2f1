#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The port onto buffers in host memory as an AXI4 slave (AMBA AXI, ARM IHI 0022, A3), with bursts."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import axi

from litepcie_soc.soc.host_buffers import beyond

# Constants ----------------------------------------------------------------------------------------

ADDRESS_BITS = 32
ID_BITS      = 4
DWORD_SIZE   = 2    # AxSIZE of a beat as wide as the data.

# Host AXI -----------------------------------------------------------------------------------------


class HostAXI(LiteXModule):
    """AXI4 slave in front of ``HostPort.bus``: one burst at a time, a beat after the other.

    Bursts of all types, with any length and beats of 1, 2 or 4 bytes. A beat that the host port refuses, beyond its
    address space, or of a size or burst type that AXI4 does not have, gets SLVERR; the others are executed. A write is
    answered when the PHY has accepted its last byte. Reads and writes that wait at the same time have their turns.

    Parameters
    ----------
    host : ``HostPort``.

    Attributes
    ----------
    axi : AXIInterface, slave, 32-bit data, ``ADDRESS_BITS`` and ``ID_BITS``. Byte address as of ``HostPort.bus``.
        ``wlast`` is not used: ``awlen`` says the same.
    """
    def __init__(self, host):
        self.axi = port = axi.AXIInterface(data_width=32, address_width=ADDRESS_BITS, id_width=ID_BITS)

        # # #

        bus     = host.bus
        address = Signal(ADDRESS_BITS)
        left    = Signal(8)     # Beats after this one.
        wrap    = Signal(8)     # AxLEN: the lowest bits of beats - 1 wrap.
        size    = Signal(3)
        burst   = Signal(2)
        ident   = Signal(ID_BITS)
        failed  = Signal()      # A beat of the write failed.
        refused = Signal()      # The beat does not reach the port.
        written = Signal()      # The last burst was a write.
        ends    = Signal()      # The beat ends at the port.
        bad     = Signal()      # With an error.
        following = Signal(ADDRESS_BITS)
        self.add_address(address, wrap, size, burst, following)
        self.comb += [
            refused.eq((size > DWORD_SIZE) | (burst == axi.BURST_RESERVED) | beyond(address, host.bytes)),
            ends.eq(bus.ack | bus.err | refused),
            bad.eq(bus.err | refused),
            bus.adr.eq(address[2:]),
            bus.dat_w.eq(port.w.data),
            port.b.id.eq(ident),
            port.b.resp.eq(Mux(failed, axi.RESP_SLVERR, axi.RESP_OKAY)),
            port.r.id.eq(ident),
            port.r.last.eq(left == 0),
        ]

        def begin(channel):
            return [
                channel.ready.eq(1),
                NextValue(address, channel.addr),
                NextValue(left, channel.len),
                NextValue(wrap, channel.len),
                NextValue(size, channel.size),
                NextValue(burst, channel.burst),
                NextValue(ident, channel.id),
            ]

        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            NextValue(failed, 0),
            If(port.aw.valid & ~(port.ar.valid & written),
                *begin(port.aw),
                NextValue(written, 1),
                NextState("WRITE")
            ).Elif(port.ar.valid,
                *begin(port.ar),
                NextValue(written, 0),
                NextState("READ")
            )
        )
        fsm.act("WRITE",
            bus.cyc.eq(port.w.valid & ~refused),
            bus.stb.eq(port.w.valid & ~refused),
            bus.we.eq(1),
            bus.sel.eq(port.w.strb),
            port.w.ready.eq(ends),
            If(port.w.valid & ends,
                NextValue(address, following),
                NextValue(left, left - 1),
                NextValue(failed, failed | bad),
                If(left == 0, NextState("ANSWER"))
            )
        )
        fsm.act("ANSWER",
            port.b.valid.eq(1),
            If(port.b.ready, NextState("IDLE"))
        )
        fsm.act("READ",
            bus.cyc.eq(~refused),
            bus.stb.eq(~refused),
            bus.sel.eq(0xf),
            NextValue(port.r.data, bus.dat_r),
            NextValue(port.r.resp, Mux(bad, axi.RESP_SLVERR, axi.RESP_OKAY)),
            If(ends, NextState("DATA"))
        )
        fsm.act("DATA",
            port.r.valid.eq(1),
            If(port.r.ready,
                NextValue(address, following),
                NextValue(left, left - 1),
                NextState("READ"),
                If(left == 0, NextState("IDLE"))
            )
        )

    def add_address(self, address, wrap, size, burst, following):
        """The address of the next beat: aligned to ``size``, and inside of the burst's block if it wraps (A3.4.1)."""
        step  = Signal(3)
        low   = Signal(12)  # Bits that change: those in a beat, or in the block of a burst that wraps.
        added = Signal(ADDRESS_BITS)
        self.comb += [
            Case(size, {0: step.eq(1), 1: step.eq(2), "default": step.eq(4)}),
            added.eq((address & ~(step - 1)) + step),
            following.eq(added),
            If(burst == axi.BURST_FIXED,
                following.eq(address)
            ).Elif(burst == axi.BURST_WRAP,
                Case(size, {0: low.eq(wrap), 1: low.eq(Cat(C(1, 1), wrap)), "default": low.eq(Cat(C(3, 2), wrap))}),
                following.eq((address & ~low) | (added & low))
            )
        ]
