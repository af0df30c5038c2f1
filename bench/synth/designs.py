#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The designs whose area is compared. Each has one reader and one writer. The streams of the PHY, the data side and MSI
are top-level ports.

The comparison is fair because:

- Both designs use the same ``SimPHY``, without hard block, clock crossing and endpoint memory.
- Stock is LiteX's ``add_pcie(ndmas=1)`` with its defaults (``bench/stock``): tables of 256 descriptors, 8 pending
  requests, 1 KiB of buffering each way, loopback. ``stock_bare`` has neither buffering nor loopback: it is the smallest
  stock design that moves data.
- Ours is a target's ``add_litepcie(channels=1)`` with identity, error counters, MSI and the window onto the endpoint
  memory. The memory is outside, like the user of stock's streams: reader, writer and window use four ports.
- In both designs synthesis knows no input value and must keep every output.
"""

from dataclasses import dataclass

from migen import *

from litex.gen import *

from litex.build.generic_platform import GenericPlatform, Pins, Subsignal

from litepcie_soc.build.emit import numbered_alike
from litepcie_soc.common.abi import BAR0_SIZE
from litepcie_soc.common.memory_ports import MemoryReadStream, MemoryWriteStream, word_address_width
from litepcie_soc.phy.sim import SimPHY, sim_phy_io
from litepcie_soc.soc.export import reproducible
from litepcie_soc.soc.soc import LitePCIeSoC

from litepcie_bench.stock.soc import StockSoC

CLK_FREQ    = 125e6
MEMORY_SIZE = 1 << 20  # Bytes of our endpoint memory: the size of the window.
TOP         = "core"

OURS, STOCK, STOCK_BARE = "litepcie_soc", "litepcie_stock", "litepcie_stock_bare"

# Platform -----------------------------------------------------------------------------------------


def _bus(**widths):
    return [Subsignal(name, Pins(width)) for name, width in widths.items()]


def memory_io(data_width, clients=2):
    """Returns the ports of the endpoint memory: a write port and a read port for each client."""
    address = word_address_width(data_width, MEMORY_SIZE)
    io = []
    for n in range(clients):
        io.append(("memory_write", n, *_bus(valid=1, ready=1, address=address, dat=data_width,
            be=data_width // 8)))
        io.append(("memory_command", n, *_bus(valid=1, ready=1, address=address)))
        io.append(("memory_data", n, *_bus(valid=1, ready=1, dat=data_width)))
    return io


def stream_io(data_width):
    """Returns the ports of stock's two streams, which have no byte enables."""
    return [(name, 0, *_bus(valid=1, ready=1, first=1, last=1, data=data_width))
        for name in ("source", "sink")]


def platform_of(data_width, io):
    clock = [("sys_clk", 0, Pins(1)), ("sys_rst", 0, Pins(1))]
    return GenericPlatform("core", clock + sim_phy_io(data_width) + io, name=TOP)

# Ours ---------------------------------------------------------------------------------------------


def _drive(pads, names, endpoint):
    """Returns the statements that connect a stream master to pads, including ``ready`` back from the pads."""
    return [getattr(pads, name).eq(getattr(endpoint, name)) for name in ("valid", *names)] \
        + [endpoint.ready.eq(pads.ready)]


class BorderMemory(LiteXModule):
    """Replaces ``EndpointMemory``: makes its ports top-level ports."""
    def __init__(self, platform, data_width):
        self.platform, self.data_width = platform, data_width

    def add_write_port(self):
        port = MemoryWriteStream(self.data_width, MEMORY_SIZE)
        pads = self.platform.request("memory_write")
        self.comb += _drive(pads, ("address", "dat", "be"), port)
        return port

    def add_read_port(self):
        port    = MemoryReadStream(self.data_width, MEMORY_SIZE)
        command = self.platform.request("memory_command")
        data    = self.platform.request("memory_data")
        self.comb += _drive(command, ("address",), port.command)
        self.comb += [port.data.valid.eq(data.valid), port.data.dat.eq(data.dat), data.ready.eq(port.data.ready)]
        return port


class OurSoC(LitePCIeSoC):
    """``LitePCIeSoC`` as in a target, with the endpoint memory outside. ``options`` are those of ``add_litepcie``."""
    def __init__(self, platform, data_width, tags, **options):
        self.cd_sys = ClockDomain()
        self.comb += [
            self.cd_sys.clk.eq(platform.request("sys_clk")),
            self.cd_sys.rst.eq(platform.request("sys_rst")),
        ]
        LitePCIeSoC.__init__(self, platform, CLK_FREQ)
        self.pcie_phy = SimPHY(data_width,
            pads      = {name: platform.request(name) for name in ("tx", "rx", "phy", "msi")},
            bar0_size = BAR0_SIZE,
        )
        self.add_litepcie(self.pcie_phy,
            target      = "synth",
            gen         = 2,
            lanes       = 4,
            memory_size = MEMORY_SIZE,
            tags        = tags,
            memory      = self.memory_of(data_width),
            **options,
        )

    def memory_of(self, data_width):
        return BorderMemory(self.platform, data_width)

# Stock --------------------------------------------------------------------------------------------


class StockCore(StockSoC):
    """Stock LitePCIe as in the benchmark, with its two streams as ports."""
    def __init__(self, platform, data_width, **dma):
        self.pads = {name: platform.request(name) for name in ("source", "sink")}
        StockSoC.__init__(self, platform, data_width, sys_clk_freq=CLK_FREQ, **dma)

    def add_streams(self, dma):
        source, sink = self.pads["source"], self.pads["sink"]
        self.comb += _drive(source, ("first", "last", "data"), dma.source)
        self.comb += [getattr(dma.sink, name).eq(getattr(sink, name)) for name in ("valid", "first", "last", "data")]
        self.comb += sink.ready.eq(dma.sink.ready)

# Designs ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Design:
    """A design to measure. ``tags`` is 0 for stock, which has no such option."""
    name:  str
    width: int
    tags:  int = 0

    @property
    def clocked(self):
        """Whether to place and route, which takes minutes: only for designs with a clock goal and their peers."""
        return self.width == 64 and self.tags in (0, 32) and self.name != STOCK_BARE

    def __str__(self):
        tags = f", {self.tags} tags" if self.tags else ""
        return f"{self.name} {self.width} bit{tags}"

    def soc(self):
        """Returns the SoC before it is finalised."""
        if self.name == OURS:
            return OurSoC(platform_of(self.width, memory_io(self.width)), self.width, self.tags)
        options  = dict(with_buffering=False, with_loopback=False) if self.name == STOCK_BARE else {}
        platform = platform_of(self.width, stream_io(self.width))
        return StockCore(platform, self.width, **options)

    def sources(self):
        """Returns texts by file name: the module ``core`` and the initial contents of its memories."""
        with numbered_alike():
            soc    = self.soc()
            soc.finalize()
            output = soc.platform.get_verilog(soc, name=TOP)
        return {f"{TOP}.v": reproducible(output.main_source), **output.data_files}


WIDTHS  = (64, 128, 256, 512)
DESIGNS = [
    Design(STOCK_BARE, 64),
    Design(OURS, 64, 64),
    *(design for width in WIDTHS for design in (Design(STOCK, width), Design(OURS, width, 32))),
]
# Designs measured without --width. 512 bit takes minutes more and shows nothing new.
USUAL = [design for design in DESIGNS if design.width <= 256]
