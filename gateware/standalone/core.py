#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The SoC of a standalone core: plain ports instead of a board."""

from migen import *

from migen.genlib.cdc import MultiReg, MultiRegImpl

from litex.gen import *

from litex.build.generic_platform import GenericPlatform, Pins, Subsignal

from litepcie_soc.axi.memory import AXIMemory
from litepcie_soc.common.abi import BAR0_SIZE
from litepcie_soc.common.memory_ports import memory_command_layout, memory_data_layout, memory_write_layout
from litepcie_soc.phy.sim import SimPHY, sim_phy_io
from litepcie_soc.soc.descriptor_port import end_layout, user_descriptor_layout
from litepcie_soc.soc.link import PCI_ID
from litepcie_soc.soc.soc import LitePCIeSoC
from litepcie_soc.standalone import axi, memory_ports
from litepcie_soc.standalone.memory_ports import ExternalMemory

# Ports --------------------------------------------------------------------------------------------


def endpoint_io(name, layout):
    """Returns a platform resource with ``NAME_valid``, ``NAME_ready`` and the fields of ``layout``."""
    signals = [("valid", 1), ("ready", 1), *layout]
    return (name, 0, *[Subsignal(signal, Pins(bits)) for signal, bits in signals])


def memory_io(data_width, size):
    return [
        endpoint_io("memory_write",        memory_write_layout(data_width, size)),
        endpoint_io("memory_read_command", memory_command_layout(data_width, size)),
        endpoint_io("memory_read_data",    memory_data_layout(data_width)),
    ]


def stream_layout(data_width):
    return [("first", 1), ("last", 1), ("dat", data_width), ("be", data_width // 8)]


def stream_io(config):
    """Returns the ports of all streams."""
    if config.stream_port.face == "axi":
        return axi.stream_io(config)
    return [endpoint_io(f"stream{n}_{way}", stream_layout(config.data_width))
        for n, stream in enumerate(config.streams) for way in stream.ports]


class Synchroniser(MultiRegImpl):
    """Two registers into another clock domain, which Vivado keeps and places side by side; other tools ignore that."""
    def __init__(self, *args):
        MultiRegImpl.__init__(self, *args)
        for reg in self.regs:
            reg.attr.add(("ASYNC_REG", "TRUE"))

    @staticmethod
    def lower(crossing):
        return Synchroniser(crossing.i, crossing.o, crossing.odomain, crossing.n, crossing.reset)


class Platform(GenericPlatform):
    """Top-level ports of a core: `sys_clk`, `sys_rst`, and the ports of PHY, memory and streams."""
    def __init__(self, config):
        io = [("sys_clk", 0, Pins(1)), ("sys_rst", 0, Pins(1))]
        io += sim_phy_io(config.data_width, config.phy.shape == "split")
        if has_memory_ports(config):
            io += memory_io(config.data_width, config.memory.size)
        io += stream_io(config) + axi.user_io(config) + axi.host_io(config) + memory_ports.memory_io(config)
        if config.host_buffers.descriptors:
            io += [endpoint_io("descriptor", user_descriptor_layout()), endpoint_io("end", end_layout())]
        GenericPlatform.__init__(self, "core", io, name=config.name)
        self.pads = {name: self.request(name) for name, *_ in io}
        axi.annotate(config, self.pads)

    def get_verilog(self, fragment, **options):
        return GenericPlatform.get_verilog(self, fragment, special_overrides={MultiReg: Synchroniser}, **options)


def has_memory_ports(config):
    return config.memory.kind == "external" or config.memory.user_ports


def forward(source, sink, layout):
    """Returns the statements that connect ``source`` to ``sink``; either can be pads."""
    fields = ["valid", *[name for name, *_ in layout]]
    return [
        *[getattr(sink, name).eq(getattr(source, name)) for name in fields],
        source.ready.eq(sink.ready),
    ]

# CRG ----------------------------------------------------------------------------------------------


class _CRG(LiteXModule):
    def __init__(self, pads):
        self.cd_sys = ClockDomain()

        # # #

        self.comb += [
            self.cd_sys.clk.eq(pads["sys_clk"]),
            self.cd_sys.rst.eq(pads["sys_rst"]),
        ]

# Core ---------------------------------------------------------------------------------------------


class Core(LitePCIeSoC):
    """SoC of a standalone core.

    Parameters
    ----------
    config : checked configuration of ``litepcie_soc.standalone.config``.

    Raises ``ValueError`` if the SoC does not support it.
    """
    def __init__(self, config):
        platform = Platform(config)
        pads     = platform.pads
        pcie     = config.pcie
        memory   = None
        if config.memory.kind == "external":
            memory = ExternalMemory(config.memory.size, config.data_width, config.memory.read_ahead)
        elif config.memory.kind == "axi":
            memory = AXIMemory(config.memory.size, config.data_width, config.memory.read_ahead,
                config.memory.timeout_us * config.clk_freq // 1_000_000)

        # CRG --------------------------------------------------------------------------------------
        self.crg = _CRG(pads)

        # SoC --------------------------------------------------------------------------------------
        LitePCIeSoC.__init__(self, platform, config.clk_freq)

        # PCIe -------------------------------------------------------------------------------------
        self.pcie_phy = SimPHY(config.data_width,
            pads       = pads,
            split      = config.phy.shape == "split",
            endianness = config.phy.endianness,
            bar0_size  = BAR0_SIZE,
            completion_space = config.phy.completion_space,
        )
        self.add_litepcie(self.pcie_phy,
            target      = f"{config.name} gen{pcie.gen} x{pcie.lanes} {config.data_width} bit",
            gen         = pcie.gen,
            lanes       = pcie.lanes,
            memory_size = config.memory.size,
            channels    = config.channels,
            streams     = config.wanted_streams,
            tags        = config.tags,
            memory      = memory,
            pci_id      = {name: getattr(pcie, name) for name in PCI_ID},
            completion_buffer_bytes = config.phy.completion_buffer_bytes,
            relaxed_ordering        = config.ordering.relaxed_ordering,
            no_snoop                = config.ordering.no_snoop,
            user_bus                = axi.user_bus_of(config),
            host_buffers            = config.host_buffers.count,
            host_buffer_bytes       = config.host_buffers.size,
            host_axi                = config.host_buffers.count > 0,
            host_descriptors        = config.host_buffers.descriptors,
        )

        # Ports ------------------------------------------------------------------------------------
        if has_memory_ports(config):
            self.add_memory_ports(config, pads)
        if config.memory.kind == "axi":
            memory_ports.add_memory(self, config, pads)
        if config.stream_port.face == "axi":
            axi.add_streams(self, config, pads)
        if config.user_bus.face == "axi-lite":
            axi.add_user(self, config, pads)
        if config.host_buffers.count:
            axi.add_host(self, pads)
        if config.host_buffers.descriptors:
            port       = self.litepcie.descriptor_port
            self.comb += forward(pads["descriptor"], port.sink, user_descriptor_layout())
            self.comb += forward(port.source, pads["end"], end_layout())
        for n, channel in enumerate(self.streams if config.stream_port.face == "native" else ()):
            for way in config.streams[n].ports:
                end, port  = getattr(channel, way), pads[f"stream{n}_{way}"]
                port.data  = port.dat  # The ports of a core keep their names.
                layout     = end.description.payload_layout + [("first", 1), ("last", 1)]
                self.comb += forward(end, port, layout) if way == "source" else forward(port, end, layout)

    def add_memory_ports(self, config, pads):
        """Adds the ports of an external memory, or the user's ports to the memory of the core."""
        external = config.memory.kind == "external"
        write    = self.memory.write if external else self.memory.add_write_port()
        read     = self.memory.read  if external else self.memory.add_read_port()
        width, size = config.data_width, config.memory.size
        for endpoint, name, layout, out in (
            (write,        "memory_write",        memory_write_layout(width, size),   external),
            (read.command, "memory_read_command", memory_command_layout(width, size), external),
            (read.data,    "memory_read_data",    memory_data_layout(width),          not external),
        ):
            source, sink = (endpoint, pads[name]) if out else (pads[name], endpoint)
            self.comb += forward(source, sink, layout)
