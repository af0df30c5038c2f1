#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The card's PCI Express side as a module."""

from migen import *

from litex.gen import *

from litex.soc.integration.soc import SoCCSRRegion, SoCConstant
from litex.soc.interconnect import csr_bus, wishbone

from litepcie_soc.axi.interface import memory_of
from litepcie_soc.common import abi
from litepcie_soc.common.link_rates import link_rate
from litepcie_soc.dma.descriptor import DESCRIPTOR_BYTES
from litepcie_soc.dma.engine import DIRECTIONS, DMAEngine
from litepcie_soc.dma.fetch import RING_LOG2_MAX
from litepcie_soc.phy.hard_block import (
    blocks_of_bytes, completion_blocks, completion_buffer_bytes as phy_completion_buffer_bytes, completion_space,
)
from litepcie_soc.phy.shapes import HEADER_BITS, REPORTED_ERRORS
from litepcie_soc.soc.descriptor_port import DescriptorPort
from litepcie_soc.soc.host_axi import HostAXI, ram_bytes
from litepcie_soc.soc.host_port import DESTINATION_BITS, HostPort
from litepcie_soc.soc.identity import Identity
from litepcie_soc.soc.interrupts import UserInterrupts, check_interrupts
from litepcie_soc.soc.link import link_of, longest_read, share_tags
from litepcie_soc.soc.msi import MSIX, MSIMerger, msi_enable
from litepcie_soc.soc.reset import FunctionReset
from litepcie_soc.soc.user_bus import HOST_CYCLES
from litepcie_soc.stream_dma.engine import StreamChannel, StreamEngine, StreamList
from litepcie_soc.stream_dma.port import StreamPort
from litepcie_soc.stream_dma.stream import check_number, streams_of
from litepcie_soc.tlp.layer import TransactionLayer

# Register Banks -----------------------------------------------------------------------------------
# The pinned register banks of BAR0, on a bus of their own.


class PinnedBanks(LiteXModule):
    """Connects the register banks of a module to BAR0, each at its pinned address.

    The bus has no other master and no other slave: nothing of the user's SoC can reach these registers, and their
    addresses do not depend on it. Addresses without a bank read as 0.

    Parameters
    ----------
    source : module whose attributes have the registers. Those of ``source.engines`` are told the bus address, and
        ``source.msix``, if there is one, sees the writes to its table.
    pages  : dict, page of every bank by name.
    bus    : wishbone.Interface, 32-bit data; word address = offset in BAR0 / 4.

    Attributes
    ----------
    regions : dict, LiteX's CSR region of every bank by name; the origin is the offset in BAR0.

    Raises ``ValueError`` if a module with registers has no pinned page.
    """
    def __init__(self, source, pages, bus):
        layout = dict(data_width=32, address_width=log2_int(abi.WINDOW_OFFSET // 4))
        # Always with registers: decoding and reading the banks takes a whole cycle.
        self.bridge = bridge = wishbone.Wishbone2CSR(bus, csr_bus.Interface(**layout), register=True)
        # A write is complete in the cycle in which the banks see it: there is nothing to wait for. So the host's writes
        # to consecutive registers are two cycles apart, which leaves every second cycle to the visits of ``Counters``.
        bridge.fsm.act("WRITE-READ", If(bus.we, bus.ack.eq(1), NextState("IDLE")))

        # # #

        def page_of(name, memory):
            name = name if memory is None else f"{name}_{memory.name_override}"
            if name not in pages:
                raise ValueError(f"bank {name} has registers, but no pinned address")
            return pages[name]

        self.array = array = csr_bus.CSRBankArray(source, page_of, **layout, alignment=32, paging=abi.CSR_PAGING)
        self.comb += bridge.csr.connect(*array.get_buses())
        self.comb += [engine.registers.selected.eq(bridge.csr.adr) for engine in source.engines]
        if hasattr(source, "msix"):
            source.msix.watch(bridge.csr)
        self.regions = {name: SoCCSRRegion(origin=page * abi.CSR_PAGING, busword=32, obj=csrs)
            for name, csrs, page, _ in sorted(array.banks, key=lambda bank: bank[2])}

# Card ---------------------------------------------------------------------------------------------


def engines_of(channels, streams):
    """Returns the number of readers and the number of writers."""
    return tuple(channels + sum(stream.has(way) for stream in streams) for way in DIRECTIONS)


class LitePCIe(LiteXModule):
    """Everything between a PHY and the endpoint memory: transaction layer, engines, pinned registers.

    ``add_litepcie`` adds it to a SoC. Its registers are in BAR0 only, not among those of the SoC.

    Parameters
    ----------
    phy          : PHY of the card. The module takes its data width, and what else it knows: see ``link_of``.
    sys_clk_freq : frequency of ``sys`` in Hz.
    target       : name of the bitstream, up to 63 ASCII characters.
    gen, lanes   : link for which the PHY was built. None: those that the PHY knows; ``SimPHY`` knows none.
    memory_size  : size of the endpoint memory in bytes, a power of two.
    channels     : number of memory channels, each with a reader and a writer; 1..7 with the streams. 0: only streams
        move data, and the host reaches the endpoint memory by the window alone.
    tags         : number of requests that all channels can have outstanding: 32, 64, 128 or 256. All channels share
        32 while the host does not enable Extended Tags.
    completion_buffer_bytes : bytes of completions that the PHY can hold, 16 for each header. None: the size known
        for the type of the PHY.
    pci_id       : identity that the PHY has in configuration space, for ``soc.h``. None: the one that the PHY knows.
    memory       : LiteDRAM's crossbar or a port of it, LiteX's ``AXIInterface``, or a module with the ports of
        ``EndpointMemory``; see ``memory_of``. None: block RAM.
    streams      : list of ``Stream``, or number of streams with both directions. They follow the memory channels and
        share the tags with them.
    relaxed_ordering, no_snoop : Attr bits of requests for data (PCIe 4.0 2.2.6.4, 2.2.6.5). Descriptors and status
        blocks never have them.
    user_bus     : ``UserBus``, range of the user's bus that the host reaches through BAR0. None: none.
    host_buffers : number of buffers in host memory that the user's logic can have, up to 16; see ``HostPort``. 0: none.
    host_buffer_bytes : bytes of the largest of these buffers, a power of two from 4 KiB to 256 MiB.
    host_timeout_cycles : cycles after which an access to these buffers fails; see ``HostPort``.
    host_axi : bool, the user's logic has a ``HostAXI`` onto these buffers.
    host_descriptors : bool, the user's logic has a ``DescriptorPort`` between these buffers and the endpoint memory.

    Attributes
    ----------
    memory    : the endpoint memory; ``add_write_port()`` and ``add_read_port()`` give ports to the user's logic.
    streams   : list of what the user's logic connects to, by number or name: ``source`` (host to logic), ``sink``
        (logic to host), ``source_active`` and ``sink_active``, those of the directions that the stream has. It is a
        ``StreamPort``, or a ``StreamChannel`` if the stream has the width of the data path, in ``sys``.
    constants : dict, ``CONFIG_*`` constants of ``soc.h`` without their prefix.
    soc_constants : dict, constants of the SoC, which get those of the interrupts.
    prefix    : str, before the names of the constants in the SoC.
    user_bus  : the parameter.
    host      : ``HostPort``, if there are ``host_buffers``; its ``bus`` is for the user's logic.
    host_axi  : ``HostAXI``, with ``host_axi``; its ``axi`` is for the user's logic.
    descriptor_port : ``DescriptorPort``, with ``host_descriptors``; ``sink`` and ``source`` are for the user's logic.
    interrupts : ``UserInterrupts``, once the design is finalised, if ``add_interrupt`` was called.
    banks     : ``PinnedBanks``, once the design is finalised.

    Raises ``ValueError`` if an argument is not supported.
    """
    csr_map = abi.csr_map()

    def __init__(self, phy, *, sys_clk_freq, target, memory_size=1 << 16, gen=None, lanes=None, channels=1,
        tags=32, completion_buffer_bytes=None, pci_id=None,
        memory=None, streams=0, relaxed_ordering=False, no_snoop=False, user_bus=None,
        host_buffers=0, host_buffer_bytes=1 << 20, host_timeout_cycles=HOST_CYCLES, host_axi=False,
        host_descriptors=False):
        self.sys_clk_freq = sys_clk_freq
        self.user_bus     = user_bus
        self.constants    = {}
        self.soc_constants = {}
        self.prefix       = ""
        self.wanted_interrupts = []
        wanted = streams_of(streams)
        check_number(streams if isinstance(streams, int) else len(wanted), channels)
        link = link_of(phy, gen, lanes, tags, pci_id, completion_buffer_bytes)
        for name, wanted_port in (("host_axi needs", host_axi), ("host_descriptors need", host_descriptors)):
            if wanted_port and not host_buffers:
                raise ValueError(f"{name} host_buffers; give host_buffers=1 to 16")
        reader_tags, fetch_tags = share_tags(channels + len(wanted), tags, phy.data_width,
            more=int(host_buffers > 0) + host_axi + host_descriptors, engines=engines_of(channels, wanted))
        if completion_buffer_bytes is None:
            blocks                  = completion_blocks(phy)
            completion_buffer_bytes = phy_completion_buffer_bytes(phy)
        else:
            blocks = blocks_of_bytes(completion_buffer_bytes)
        data_width  = phy.data_width
        self.memory_size = memory_size
        window_size = min(memory_size, abi.WINDOW_MAX)
        self.memory = memory_of(memory, memory_size, data_width)
        self.tlp    = TransactionLayer(phy,
            data_width              = data_width,
            clk_freq                = self.sys_clk_freq,
            tags                    = tags,
            completion_blocks       = blocks,
            bar0_size               = abi.BAR0_SIZE,
            window_bytes            = window_size,
            relaxed_ordering        = relaxed_ordering,
            no_snoop                = no_snoop,
            user_bus                = user_bus,
        )
        self.comb += [
            self.tlp.window_write.connect(self.memory.add_write_port()),
            self.tlp.window_read.connect(self.memory.add_read_port()),
        ]
        longest = longest_read(blocks[0], link_rate(link.gen, link.lanes))
        self.engines = []
        self.streams = StreamList()
        self.vectors = len(DIRECTIONS) * (channels + len(wanted))  # Of the engines, also of those that a stream lacks.
        for channel in range(channels):
            self.add_channel(channel, reader_tags, fetch_tags, longest)
        for channel, stream in enumerate(wanted, start=channels):
            self.add_stream(channel, stream, reader_tags, fetch_tags, longest)
        if not isinstance(streams, int):
            self.constants |= {f"PCIE_STREAM_{name.upper()}": n for n, name in enumerate(self.streams.names)}
        self.add_function_reset()
        self.add_error_reports()
        self.msi_enable         = msi_enable(phy)
        self.interrupts_enabled = Signal()
        self.add_identity(phy, target=target, channels=channels, data_width=data_width,
            ring_log2=RING_LOG2_MAX, tags=reader_tags, memory_size=memory_size,
            window_size=window_size, clk_freq=self.sys_clk_freq,
            gen=link.gen, lanes=link.lanes, streams=len(wanted),
            lacking=[sum((not stream.has(way)) << n for n, stream in enumerate(wanted)) for way in DIRECTIONS],
            direct=all(engine.direct for engine in self.engines),
            user_bus=user_bus, msix=self.tlp.shape.msix_enable is not None)
        self.add_link_constants(phy, link, channels, memory_size, tags, completion_buffer_bytes)
        if host_buffers:
            self.add_host_port(host_buffers, host_buffer_bytes, host_timeout_cycles)
        if host_axi:
            self.add_host_axi(phy, reader_tags, longest)
        if host_descriptors:
            self.add_descriptor_port(phy, reader_tags, longest)

    def add_channel(self, channel, reader_tags, fetch_tags, longest, stream=None):
        """Adds the engines ``readerN`` and ``writerN`` of a channel, those that a ``Stream`` has, with their ports."""
        is_stream = stream is not None
        for direction in [way for way in DIRECTIONS if not is_stream or stream.has(way)]:
            name   = f"{direction}{channel}"
            reader = direction == "reader"
            depth  = 32 << log2_int(fetch_tags, need_pow2=False)
            # A stream reorders its data in a RAM of its own, whose addresses are not known here.
            bits   = 32 if is_stream else bits_for(self.memory_size - 1)
            ports  = {
                "descriptor_port": self.tlp.add_read_port(f"{name}_descriptors", fetch_tags,
                    destination_bits=log2_int(DESCRIPTOR_BYTES*depth)),
                "data_port":       self.tlp.add_read_port(name, reader_tags, bulk=True, destination_bits=bits) if reader
                    else self.tlp.add_write_port(name, bulk=True),
                "status_port":     self.tlp.add_write_port(f"{name}_status"),
            }
            if is_stream:
                ports["words"] = stream.words(self.tlp.data_width)
            else:
                ports["memory"] = (
                    self.memory.add_write_port() if reader else self.memory.add_read_port())
            engine = (StreamEngine if is_stream else DMAEngine)(direction,
                clk_freq     = self.sys_clk_freq,
                descriptors  = depth,
                longest_read = longest,
                **ports)
            self.add_module(name, engine)
            self.engines.append(engine)

    def add_stream(self, channel, stream, *shares):
        """Adds the engines of a ``Stream``, and its port if the logic wants another width, clock domain or end."""
        self.add_channel(channel, *shares, stream)
        ends = {}
        if stream.from_host:
            reader = getattr(self, f"reader{channel}")
            ends  |= {"source": reader.source, "source_active": reader.active}
        if stream.to_host:
            writer = getattr(self, f"writer{channel}")
            ends  |= {"sink": writer.sink, "sink_active": writer.active}
        end    = StreamChannel(**ends)
        number = len(self.streams)
        if stream.converted:
            width = self.tlp.data_width if stream.width is None else stream.width
            end   = StreamPort(end, width, stream.clock_domain, stream.ends)
            self.add_module(f"stream{number}_port", end)
        self.streams.append(end)
        self.streams.names = (*self.streams.names, stream.name)

    def add_function_reset(self):
        shape, resets = self.tlp.shape, FunctionReset()
        self.function_reset = resets
        self.comb += [
            resets.link_up.eq(shape.link_up),
            resets.function_reset.eq(shape.function_reset),
            resets.busy.eq(Reduce("OR", [engine.resetting for engine in self.engines]) | ~self.tlp.drained),
            shape.function_reset_done.eq(resets.done),
            self.tlp.abandon.eq(resets.active),
            self.tlp.rcb_128.eq(shape.rcb_128),
            *[engine.forget.eq(resets.active) for engine in self.engines],
        ]

    def add_error_reports(self):
        strobes = self.tlp.error_strobes
        for error, counters in REPORTED_ERRORS.items():
            strobe     = Signal()
            self.sync += strobe.eq(Reduce("OR", [strobes[name] for name in counters]))
            self.comb += getattr(self.tlp.shape.errors, error).eq(strobe)
        header     = Signal(HEADER_BITS, reset_less=True)
        self.sync += header.eq(self.tlp.error_header)
        self.comb += self.tlp.shape.errors.header.eq(header)

    def add_host_port(self, buffers, limit, timeout_cycles):
        self.host  = HostPort(self.tlp.add_read_port("host", 1, ordered=True, destination_bits=DESTINATION_BITS),
            self.tlp.add_write_port("host"), buffers, limit, timeout_cycles)
        self.comb += [
            self.host.can_send.eq(self.tlp.enable),
            self.host.reset.eq(self.function_reset.active),
        ]
        self.identity.has_host_port()

    def add_host_axi(self, phy, tags, longest):
        width = self.tlp.data_width
        self.host_axi = HostAXI(self.host,
            read_port    = self.tlp.add_read_port("axi", tags, bulk=True, ordered=True,
                destination_bits=log2_int(ram_bytes(width))),
            write_port   = self.tlp.add_write_port("axi", bulk=True),
            longest_read = longest)
        self.connect_port(self.host_axi.port, phy)

    def add_descriptor_port(self, phy, tags, longest):
        bits = bits_for(self.memory_size - 1)
        self.descriptor_port = port = DescriptorPort(self.host,
            read_port    = self.tlp.add_read_port("user", tags, bulk=True, ordered=True, destination_bits=bits),
            write_port   = self.tlp.add_write_port("user", bulk=True),
            memory_write = self.memory.add_write_port(),
            memory_read  = self.memory.add_read_port(),
            longest_read = longest)
        self.connect_port(port, phy)

    def connect_port(self, port, phy):
        """Connects what a ``DescriptorPort`` takes from the card."""
        self.comb += [
            port.can_send.eq(self.tlp.enable),
            port.reset.eq(self.function_reset.active),
            port.max_payload_size.eq(phy.max_payload_size),
            port.max_request_size.eq(phy.max_request_size),
            If(port.busy, self.function_reset.busy.eq(1)),
        ]

    def add_interrupt(self, name, source, pulse=False):
        """Adds an interrupt of the user's logic; programs wait for it with ``/dev/litepcieN_interruptM``.

        With MSI-X it has a vector of its own. The name and the number M are in ``csr.json`` and ``soc.h``
        (``CONFIG_PCIE_INTERRUPT_NAME``), and the driver shows the name.

        Parameters
        ----------
        name   : str, a lower-case letter, then up to 14 of a-z, 0-9 and _.
        source : Signal(), **in**, synchronous to ``sys``. For example ``ev.irq`` of LiteX's EventManager.
        pulse  : bool. True: each cycle with ``source`` asserted is an event. False: ``source`` is a level, which stays
            asserted until the program has removed its cause.

        Returns the number M. Raises ``ValueError`` if an argument is not supported, or there are 16 already.
        """
        wanted = [*self.wanted_interrupts, (name, source, pulse)]
        if self.finalized:
            raise ValueError(f"interrupt {name} comes too late; add it before the SoC is finalised")
        check_interrupts(wanted)
        self.wanted_interrupts = wanted
        return len(wanted) - 1

    def add_user_interrupts(self):
        """Adds the unit for the interrupts of ``add_interrupt``, if there are any."""
        if not self.wanted_interrupts:
            return
        self.interrupts = UserInterrupts(self.wanted_interrupts)
        self.comb += [
            self.interrupts.enable.eq(self.interrupts_enabled & ~self.function_reset.active),
            self.interrupts.reset.eq(self.function_reset.active),
        ]
        self.identity.has_interrupts()
        for number, (name, _, _) in enumerate(self.wanted_interrupts):
            self.constants[f"PCIE_INTERRUPT_{name.upper()}"] = number
        if self.constants["PCIE_msix_vectors"]:
            self.constants["PCIE_msix_vectors"] += len(self.wanted_interrupts)
        for name, value in self.constants.items():
            self.soc_constants[f"CONFIG_{self.prefix}{name}".upper()] = SoCConstant(value)

    def add_msi(self):
        """Adds MSI and, if the PHY has it, MSI-X; the host enables one of them."""
        shape    = self.tlp.shape
        sources  = [engine.msi for engine in self.engines]
        if hasattr(self, "interrupts"):
            sources.append(self.interrupts.source)
        vectors  = self.vectors + len(self.wanted_interrupts)
        self.msi = msi = MSIMerger(sources)
        self.comb += [
            self.interrupts_enabled.eq(self.msi_enable),
            msi.source.connect(shape.msi),
            msi.enable.eq(self.interrupts_enabled & ~self.function_reset.active),
            msi.master.eq(shape.bus_master_enable & shape.link_up),
        ]
        if shape.msix_enable is None:
            return
        self.msix = msix = MSIX(self.tlp.add_write_port("msix"), vectors=vectors)
        self.comb += [
            msix.enable.eq(shape.msix_enable),
            msix.function_mask.eq(shape.msix_function_mask),
            msix.can_send.eq(self.tlp.enable),
            msix.clear.eq(self.function_reset.active),
            If(shape.msix_enable,
                self.interrupts_enabled.eq(1),
                msi.source.connect(msix.sink),
                shape.msi.valid.eq(0)
            ),
        ]

    def add_identity(self, phy, **what):
        self.identity = identity = Identity(**what)
        self.comb += [
            identity.max_payload_size.eq(phy.max_payload_size),
            identity.max_request_size.eq(phy.max_request_size),
            identity.memory_ready.eq(getattr(self.memory, "ready", 1)),
            identity.memory_failed.eq(getattr(self.memory, "failed", 0)),
            identity.link_up.eq(self.tlp.shape.link_up),
            identity.bus_master.eq(self.tlp.shape.bus_master_enable),
            identity.extended_tag.eq(self.tlp.shape.extended_tag),
            identity.msi_enable.eq(self.interrupts_enabled),
            identity.resetting.eq(Reduce("OR", [engine.resetting for engine in self.engines])),
            identity.clear.eq(self.function_reset.active),
            self.tlp.timeout_us.eq(identity.timeout_us),
        ]
        if hasattr(phy, "_link_status"):  # LitePCIe's PHYs.
            identity.has_ltssm(phy._link_status.fields.ltssm)
        if self.tlp.user:
            self.comb += [
                identity.user_failed.eq(self.tlp.user.done & self.tlp.user.failed),
                self.tlp.user.abort.eq(self.function_reset.active),
            ]
        # A status block of the cycle in which this ends is dropped and written again, an MSI is held.
        for engine in self.engines:
            self.comb += [
                engine.can_send.eq(self.tlp.enable),
                engine.reset.eq(identity.reset | self.function_reset.reset),
                engine.max_payload_size.eq(phy.max_payload_size),
                engine.max_request_size.eq(phy.max_request_size),
            ]

    def add_link_constants(self, phy, link, channels, memory_size, tags, completion_buffer_bytes):
        """Adds the ``CONFIG_*`` constants of ``soc.h``, which the simulator reads."""
        completions, data = completion_space(phy)
        constants = {
            "gen":                     link.gen,
            "lanes":                   link.lanes,
            "data_width":              phy.data_width,
            "phy_split":               int(self.tlp.shape.split),
            "endianness_little":       int(phy.endianness == "little"),
            "completion_buffer_bytes": completion_buffer_bytes,  # That outstanding reads use at most.
            "completion_headers":      completions,              # That the hard block holds.
            "completion_data":         data,                     # Bytes, likewise.
            **{name: getattr(phy, name, 0) for name in ("fabric_width", "fabric_beats")},
            "channels":                channels,                 # Of memory.
            "streams":                 len(self.streams),
            "tags":                    tags,
            "bar0_size":               abi.BAR0_SIZE,
            "msix_vectors":            self.vectors if self.tlp.shape.msix_enable is not None else 0,
            "msix_table":              abi.MSIX_TABLE_BASE,
            "msix_pending":            abi.MSIX_PENDING_BASE,
            **link.pci_id,
        }
        for name, value in constants.items():
            self.constants[f"PCIE_{name}"] = value
        self.constants["MEMORY_SIZE"] = memory_size

    def finalize(self, *args, **kwargs):
        # Before the submodules are: LiteX takes the RAMs that they then make for RAMs on the bus.
        if not self.finalized:
            self.add_user_interrupts()
            self.add_msi()
            self.banks = PinnedBanks(self, self.csr_map, self.tlp.csr_bus)
        LiteXModule.finalize(self, *args, **kwargs)

    # The registers have a bus of their own: LiteX must not collect them for that of the SoC.

    def get_csrs(self):
        return []

    def get_memories(self):
        return []

    def get_constants(self):
        return []
