#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The AXI ports of a standalone core, and the attributes by which block designs find them."""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.build.generic_platform import Pins, Subsignal

from litepcie_soc.axi.lite import AXILiteBridge, axi_lite_layout
from litepcie_soc.soc.host_axi import ADDRESS_BITS, ID_BITS
from litepcie_soc.stream_dma.port import StreamPort
from litepcie_soc.tlp.completer_user import UserBus

# AXI4-Stream --------------------------------------------------------------------------------------
# A stream channel as AXI4-Stream (AMBA AXI-Stream, ARM IHI 0051), with a width and a clock of its own.


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

# Ports --------------------------------------------------------------------------------------------


def clock_io(name, clock):
    """Returns the ports of a clock of its own, if ``clock`` asks for one."""
    return [(f"{name}_{signal}", 0, Pins(1)) for signal in ("aclk", "aresetn")] if clock == "own" else []


def stream_io(config):
    """Returns the ports of all streams."""
    io = []
    for n, stream in enumerate(config.streams):
        signals = [Subsignal(name, Pins(bits)) for name, bits in axi_stream_layout(stream.width)]
        io += clock_io(f"stream{n}", stream.clock)
        io += [(f"stream{n}_{way}", 0, *signals) for way in stream.ports]
    return io


def user_io(config):
    """Returns the ports of the user's bus."""
    if config.user_bus.face == "none":
        return []
    signals = [Subsignal(name, Pins(bits)) for name, bits, _ in axi_lite_layout()]
    return [*clock_io("user", config.user_bus.clock), ("user", 0, *signals)]


def host_layout(data_width):
    """The signals of the AXI4 slave onto buffers in host memory: (name, bits, direction)."""
    address = [("id", ID_BITS), ("addr", ADDRESS_BITS), ("len", 8), ("size", 3), ("burst", 2)]
    fields  = {
        "aw": ("input",  address),
        "w":  ("input",  [("data", data_width), ("strb", data_width // 8), ("last", 1)]),
        "b":  ("output", [("id", ID_BITS), ("resp", 2)]),
        "ar": ("input",  address),
        "r":  ("output", [("id", ID_BITS), ("resp", 2), ("data", data_width), ("last", 1)]),
    }
    other = {"input": "output", "output": "input"}
    return [(channel + name, bits, to) for channel, (way, layout) in fields.items()
        for name, bits, to in [("valid", 1, way), ("ready", 1, other[way]), *[(*field, way) for field in layout]]]


def host_io(config):
    """Returns the ports onto buffers in host memory."""
    if not config.host_buffers.count:
        return []
    return [("host", 0, *[Subsignal(name, Pins(bits)) for name, bits, _ in host_layout(config.data_width)])]

# Attributes ---------------------------------------------------------------------------------------


def annotate_interface(pads, kind, name):
    for signal, _, *_ in pads.layout:
        getattr(pads, signal).attr.add(("X_INTERFACE_INFO", f"xilinx.com:interface:{kind}:1.0 {name} {signal.upper()}"))


def annotate_clock(clock, clock_name, reset, reset_name, interfaces, active_low=True):
    clock.attr.add(("X_INTERFACE_INFO", f"xilinx.com:signal:clock:1.0 {clock_name} CLK"))
    clock.attr.add(("X_INTERFACE_PARAMETER",
        f"ASSOCIATED_BUSIF {':'.join(interfaces)}, ASSOCIATED_RESET {reset_name}"))
    reset.attr.add(("X_INTERFACE_INFO", f"xilinx.com:signal:reset:1.0 {reset_name} RST"))
    reset.attr.add(("X_INTERFACE_PARAMETER", f"POLARITY ACTIVE_{'LOW' if active_low else 'HIGH'}"))


def annotate(config, pads):
    """Adds the attributes of AXI ports and their clocks that Vivado's block designs look for; other tools ignore them.

    A core without AXI ports has none.
    """
    clocks = {}  # Clock: its interfaces.
    if config.stream_port.face == "axi":
        for n, stream in enumerate(config.streams):
            names = [f"stream{n}_{way}" for way in stream.ports]
            clocks.setdefault(f"stream{n}" if stream.clock == "own" else "sys", []).extend(names)
            for name in names:
                annotate_interface(pads[name], "axis", name)
    if config.user_bus.face == "axi-lite":
        clocks.setdefault("user" if config.user_bus.clock == "own" else "sys", []).append("user")
        annotate_interface(pads["user"], "aximm", "user")
        pads["user"].awvalid.attr.add(("X_INTERFACE_PARAMETER", "PROTOCOL AXI4LITE"))
    if config.host_buffers.count:
        clocks.setdefault("sys", []).append("host")
        annotate_interface(pads["host"], "aximm", "host")
        pads["host"].awvalid.attr.add(("X_INTERFACE_PARAMETER", "PROTOCOL AXI4"))
    if config.memory.kind == "axi":
        clocks.setdefault("memory" if config.memory.clock == "own" else "sys", []).append("memory")
        annotate_interface(pads["memory"], "aximm", "memory")
        pads["memory"].awvalid.attr.add(("X_INTERFACE_PARAMETER", "PROTOCOL AXI4"))
    for clock, interfaces in clocks.items():
        names = ("sys_clk", "sys_rst") if clock == "sys" else (f"{clock}_aclk", f"{clock}_aresetn")
        annotate_clock(pads[names[0]], names[0], pads[names[1]], names[1], interfaces, active_low=clock != "sys")

# Gateware -----------------------------------------------------------------------------------------


def add_streams(soc, config, pads):
    """Adds an ``AXIStreamFace`` for each stream to the SoC."""
    for n, (channel, stream) in enumerate(zip(soc.streams, config.streams)):
        own = {}
        if stream.clock == "own":
            own = {"clock": pads[f"stream{n}_aclk"], "reset": ~pads[f"stream{n}_aresetn"]}
        face = AXIStreamFace(channel, stream.width, name=f"stream{n}", **own)
        setattr(soc, f"stream{n}_face", face)
        for way in stream.ports:
            end, pad = getattr(face, way), pads[f"stream{n}_{way}"]
            for name, _ in axi_stream_layout(stream.width):
                out, back = (pad, end) if (way == "source") == (name != "tready") else (end, pad)
                soc.comb += getattr(out, name).eq(getattr(back, name))


def user_bus_of(config):
    """Returns the ``UserBus`` of a configuration, or None."""
    user = config.user_bus
    if user.face == "none":
        return None
    return UserBus(user.origin, user.size, user.timeout_us * config.clk_freq // 1_000_000)


def add_user(soc, config, pads):
    """Adds an ``AXILiteBridge`` for the user's bus to the SoC."""
    own  = config.user_bus.clock == "own"
    raws = {"user_sys": ClockSignal("sys"), **({"user_axi": pads["user_aclk"]} if own else {})}
    for name, clk in raws.items():
        domain = ClockDomain(name, reset_less=True)
        soc.clock_domains += domain
        soc.comb += domain.clk.eq(clk)
    soc.user_bridge = bridge = AXILiteBridge(*raws) if own else AXILiteBridge("user_sys", "user_sys")
    soc.comb += [
        soc.litepcie.tlp.user.bus.connect(bridge.bus),
        bridge.master.reset.eq(~pads["user_aresetn"] if own else ResetSignal("sys")),
    ]
    for name, _, way in axi_lite_layout():
        pad, port = getattr(pads["user"], name), getattr(bridge.master, name)
        soc.comb += pad.eq(port) if way == "output" else port.eq(pad)


def add_host(soc, pads):
    """Connects the ports of the card's ``HostAXI``."""
    face = soc.litepcie.host_axi.axi
    for name, _, way in host_layout(face.data_width):
        channel = next(channel for channel in ("aw", "ar", "w", "b", "r") if name.startswith(channel))
        pad, port = getattr(pads["host"], name), getattr(getattr(face, channel), name.removeprefix(channel))
        soc.comb += pad.eq(port) if way == "output" else port.eq(pad)
