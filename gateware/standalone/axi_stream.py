#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A stream channel as AXI4-Stream (AMBA AXI-Stream, ARM IHI 0051), with a width and a clock of its own."""

from migen import *

from migen.genlib.cdc import MultiReg

from litex.gen import *

from litepcie_soc.stream_dma.port import StreamPort

# Reset --------------------------------------------------------------------------------------------


class ResetSide(LiteXModule):
    """One side of a clock crossing that resets both of its sides, whichever of them is reset.

    A reset of one side alone would leave the pointers of a FIFO between them apart. ``want`` of this side and ``ack``
    of the other are a handshake of four phases, so that a short reset is not lost however slow the other clock is. No
    register here has a reset: a clock that stands still only holds the other side's part of the crossing in reset.

    Attributes
    ----------
    request : Signal(), **in**, this side is reset.
    reset   : Signal(), **out**, reset of this side's part of the crossing, a register.
    want    : Signal(), **out**, a register: the other side must be in reset.
    seen    : Signal(), **in**, ``want`` of the other side, in the domain of this one.
    ack     : Signal(), **out**, a register: this side has been in reset since ``seen`` rose.
    acked   : Signal(), **in**, ``ack`` of the other side, in the domain of this one.
    """
    DELAY = 4  # Cycles from ``seen`` to ``ack``: after them, the pointers of this side are 0.

    def __init__(self):
        self.request = request = Signal()
        self.reset   = Signal()
        self.want    = want  = Signal()
        self.seen    = Signal()
        self.ack     = Signal()
        self.acked   = acked = Signal()

        # # #

        pending = Signal()  # A reset that the other side has not acknowledged.
        delay   = Signal(self.DELAY)
        self.comb += self.ack.eq(delay[-1])
        self.sync += [
            If(request, pending.eq(1)).Elif(want & acked, pending.eq(0)),
            If(want,
                If(acked & ~request, want.eq(0))
            ).Elif((pending | request) & ~acked,
                want.eq(1)
            ),
            delay.eq(Cat(self.seen, delay)),
            self.reset.eq(request | pending | want | acked | self.seen | (delay != 0)),
        ]

# Clocks -------------------------------------------------------------------------------------------


def add_clocks(module, name, clock, reset):
    """Adds the clock domains ``NAME_sys`` and ``NAME_axi`` of a crossing to a module, and resets them together.

    ``clock``: Signal(), of the second one; ``reset``: Signal(), in it, resets both. So does that of ``sys``.
    """
    sides = {}
    for side, clk, request in (("sys", ClockSignal("sys"), ResetSignal("sys")), ("axi", clock, reset)):
        domain = ClockDomain(f"{name}_{side}")
        raw    = ClockDomain(f"{name}_{side}_raw", reset_less=True)
        module.clock_domains += domain, raw
        sides[side] = ClockDomainsRenamer(raw.name)(ResetSide())
        module.comb += [
            domain.clk.eq(clk),
            raw.clk.eq(clk),
            sides[side].request.eq(request),
            domain.rst.eq(sides[side].reset),
        ]
        module.add_module(f"{side}_reset", sides[side])
    for side, other in (("sys", "axi"), ("axi", "sys")):
        domain         = f"{name}_{side}_raw"
        module.specials += [
            MultiReg(sides[other].want, sides[side].seen, domain),
            MultiReg(sides[other].ack, sides[side].acked, domain),
        ]

# Stream Face --------------------------------------------------------------------------------------


def axi_stream_layout(width):
    """The signals of an AXI4-Stream interface: (name, bits), ``tready`` against the direction of the others."""
    return [("tvalid", 1), ("tready", 1), ("tlast", 1), ("tdata", width), ("tkeep", width // 8)]


class AXIStreamFace(LiteXModule):
    """Connects a stream channel to AXI4-Stream interfaces, one for each direction that it has.

    Parameters
    ----------
    channel      : ``StreamChannel``.
    width        : bits of ``tdata``.
    clock, reset : Signal(), **in**, clock of the interfaces and its synchronous reset, active high. None: ``sys``.
    name         : str, prefix of the clock domains.

    Attributes
    ----------
    source : Record(axi_stream_layout(width)), **out**, from the host.
    sink   : Record(axi_stream_layout(width)), **in**, to the host. ``tkeep`` matters in the last beat of a packet only.
    """
    def __init__(self, channel, width, clock=None, reset=None, name="stream"):
        hold   = Signal()  # The interfaces are in reset.

        # # #

        domain = "sys" if clock is None else f"{name}_axi"
        port   = StreamPort(channel, width, domain)
        if clock is not None:
            port = ClockDomainsRenamer({"sys": f"{name}_sys"})(port)
            add_clocks(self, name, clock, reset)
            # `reset` itself too: a valid signal must be low in its first cycle.
            self.comb += hold.eq(reset | ResetSignal(f"{name}_axi"))
        self.port  = port
        if channel.source is not None:
            self.add_source(port, width, hold)
        if channel.sink is not None:
            self.add_sink(port, width, hold, getattr(self.sync, domain))

    def add_source(self, port, width, hold):
        self.source = source = Record(axi_stream_layout(width))
        self.comb  += [
            source.tvalid.eq(port.source.valid & ~hold),
            port.source.ready.eq(source.tready & ~hold),
            source.tlast.eq(port.source.last),
            source.tdata.eq(port.source.data),
            source.tkeep.eq(port.source.be),
        ]

    def add_sink(self, port, width, hold, sync):
        self.sink = sink = Record(axi_stream_layout(width))
        inside = Signal()  # Of a packet of ``sink``. A reset of the interfaces ends it: the next beat has ``first``.
        sync      += If(sink.tvalid & sink.tready, inside.eq(~sink.tlast))
        self.comb += [
            port.sink.valid.eq(sink.tvalid & ~hold),
            sink.tready.eq(port.sink.ready & ~hold),
            port.sink.first.eq(~inside),
            port.sink.last.eq(sink.tlast),
            port.sink.data.eq(sink.tdata),
            port.sink.be.eq(sink.tkeep),
        ]
