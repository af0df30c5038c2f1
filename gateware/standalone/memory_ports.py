#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Endpoint memory outside of the core: all clients share its ports, plain or as an AXI4 master."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream
from litex.build.generic_platform import Pins, Subsignal

from litepcie_soc.common.memory_ports import (
    MemoryReadStream, MemoryWriteStream, memory_command_layout, memory_write_layout,
)
from litepcie_soc.memory.bram import EndpointMemory
from litepcie_soc.standalone.axi import add_clocks

# Plain Ports --------------------------------------------------------------------------------------
# Endpoint memory outside the core: all clients in the core share one write and one read port.


class ExternalMemory(EndpointMemory):
    """Has the client ports of ``EndpointMemory`` and connects them to a memory outside the core.

    A read command that the memory accepts in a later cycle than a write must return the written data. Clients then see
    the same order, because a write passes in the cycle in which it is accepted. The memory answers read commands in
    order, after any time. There is room for every answer, so ``read.data`` never stalls.

    Parameters
    ----------
    size       : size in bytes, a power of two.
    data_width : bits of a word (64, 128, 256, 512).
    read_ahead : words that each client can have outstanding. Reads move one word per cycle up to that latency.

    Attributes
    ----------
    write : MemoryWriteStream, **out**; writes of all clients.
    read  : MemoryReadStream; ``command`` is **out**, ``data`` is **in**.
    """
    def __init__(self, size, data_width, read_ahead):
        EndpointMemory.__init__(self, size, data_width)
        self.PLACES = read_ahead
        self.write  = MemoryWriteStream(data_width, size)
        self.read   = MemoryReadStream(data_width, size)

    def do_finalize(self):
        self.finalize_writes()
        self.finalize_reads()

    def finalize_writes(self):
        # No register after the arbiter, because a read could overtake a write that waits in it.
        self.writes = self._arbiter(self._writes, memory_write_layout(self.data_width, self.size))
        self.comb  += self.writes.source.connect(self.write)

    def finalize_reads(self):
        layout       = memory_command_layout(self.data_width, self.size)
        clients      = self._reads
        self.reads   = self._arbiter([client.command for client in clients], layout)
        self.pending = stream.Buffer(layout)
        # Clients of the outstanding words, in order; one place per outstanding word.
        self.order   = stream.SyncFIFO([("client", len(self.reads.grant))], self.PLACES * len(clients))
        accepted     = self.reads.source.valid & self.reads.source.ready
        self.comb   += [
            self.reads.source.connect(self.pending.sink),
            self.pending.source.connect(self.read.command),
            self.order.sink.valid.eq(accepted),
            self.order.sink.client.eq(self.reads.grant),
            self.order.source.ready.eq(self.read.data.valid),
            self.read.data.ready.eq(self.order.source.valid),
        ]
        for n, client in enumerate(clients):
            mine = self.order.source.valid & (self.order.source.client == n)
            self.comb += [
                client.returned.valid.eq(self.read.data.valid & mine),
                client.returned.dat.eq(self.read.data.dat),
            ]

# AXI4 ---------------------------------------------------------------------------------------------
# The AXI4 master of a standalone core, behind which its endpoint memory lies (Arm IHI 0022H).

ADDRESS_BITS = 32
INCR         = 1  # AxBURST of a burst with increasing addresses.


def axi_memory_layout(data_width):
    """The signals of the master: (name, bits, direction). Every transaction has the ID 0."""
    address = [("id", 1), ("addr", ADDRESS_BITS), ("len", 8), ("size", 3), ("burst", 2)]
    fields  = {
        "aw": ("output", address),
        "w":  ("output", [("data", data_width), ("strb", data_width // 8), ("last", 1)]),
        "b":  ("input",  [("id", 1), ("resp", 2)]),
        "ar": ("output", address),
        "r":  ("input",  [("id", 1), ("resp", 2), ("data", data_width), ("last", 1)]),
    }
    other = {"input": "output", "output": "input"}
    return [(channel + name, bits, to) for channel, (way, layout) in fields.items()
        for name, bits, to in [("valid", 1, way), ("ready", 1, other[way]), *[(*field, way) for field in layout]]]


def memory_io(config):
    """Returns the ports of the master, with ``memory_error``, one cycle for each word that had an error."""
    if config.memory.kind != "axi":
        return []
    clock   = [(f"memory_{name}", 0, Pins(1)) for name in ("aclk", "aresetn") if config.memory.clock == "own"]
    signals = [Subsignal(name, Pins(bits)) for name, bits, _ in axi_memory_layout(config.data_width)]
    return [*clock, ("memory", 0, *signals), ("memory_error", 0, Pins(1))]


class AXIMemoryFace(LiteXModule):
    """Connects an ``AXIMemory`` to the signals of an AXI4 master, in ``sys`` or in a clock of its own.

    A reset of the other clock only holds the master's signals: what was accepted before must still be answered. A
    slave that forgets transactions leaves the engines waiting, until the core is reset too.

    Parameters
    ----------
    memory       : ``AXIMemory``.
    clock, reset : Signal(), **in**, clock of the master and its synchronous reset, active high. None: ``sys``.

    Attributes
    ----------
    port : Record(axi_memory_layout).
    """
    def __init__(self, memory, clock=None, reset=None):
        width     = memory.data_width
        self.port = port = Record([(name, bits) for name, bits, _ in axi_memory_layout(width)])

        # # #

        domains = ("sys", "sys")
        hold    = Signal()  # The master is in reset.
        if clock is not None:
            domains = ("memory_sys", "memory_axi")
            add_clocks(self, "memory", clock, 0)
            self.comb += hold.eq(reset | ResetSignal("memory_axi"))
        for name in ("aw", "w", "ar", "b", "r"):
            inner   = getattr(memory, name)
            outward = name in ("aw", "w", "ar")
            ways    = domains if outward else domains[::-1]
            # What is in the buffer or the crossing stays valid, also after a time-out.
            cross   = (stream.Buffer(inner.description) if clock is None else
                stream.ClockDomainCrossing(inner.description, *ways, depth=16, buffered=True))
            self.add_module(f"{name}_crossing", cross)
            outer   = cross.source if outward else cross.sink
            self.comb += inner.connect(cross.sink) if outward else cross.source.connect(inner)
            valid, ready = getattr(port, f"{name}valid"), getattr(port, f"{name}ready")
            if outward:
                self.comb += [valid.eq(outer.valid & ~hold), outer.ready.eq(ready & ~hold)]
            else:
                self.comb += [
                    outer.valid.eq(valid & ~hold),
                    ready.eq(outer.ready & ~hold),
                    outer.resp.eq(getattr(port, f"{name}resp")),
                ]
            if name in ("aw", "ar"):
                self.comb += [
                    getattr(port, f"{name}addr").eq(Cat(Constant(0, log2_int(width // 8)), outer.address)),
                    getattr(port, f"{name}len").eq(outer.len),
                    getattr(port, f"{name}size").eq(log2_int(width // 8)),
                    getattr(port, f"{name}burst").eq(INCR),
                ]
            elif name == "w":
                self.comb += [port.wdata.eq(outer.data), port.wstrb.eq(outer.strb), port.wlast.eq(outer.last)]
            elif name == "r":
                self.comb += outer.data.eq(port.rdata)


def add_memory(soc, config, pads):
    """Adds an ``AXIMemoryFace`` for the endpoint memory to the SoC."""
    own = {}
    if config.memory.clock == "own":
        own = {"clock": pads["memory_aclk"], "reset": ~pads["memory_aresetn"]}
    soc.memory_face = face = AXIMemoryFace(soc.memory, **own)
    for name, _, way in axi_memory_layout(config.data_width):
        pad, port = getattr(pads["memory"], name), getattr(face.port, name)
        soc.comb += pad.eq(port) if way == "output" else port.eq(pad)
    soc.comb += pads["memory_error"].eq(soc.memory.failed)
