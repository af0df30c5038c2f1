#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The AXI ports of a standalone core, and the attributes by which block designs find them."""

from migen import *

from litex.gen import *

from litex.build.generic_platform import Pins, Subsignal

from litepcie_soc.axi.lite import AXILiteBridge, axi_lite_layout
from litepcie_soc.soc.host_axi import ADDRESS_BITS, ID_BITS
from litepcie_soc.standalone.axi_stream import AXIStreamFace, axi_stream_layout
from litepcie_soc.tlp.completer_user import UserBus

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
