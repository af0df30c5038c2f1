# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Two engines with all their ports at the top, as Verilog, compiled by Verilator, driven by Python: some ten thousand
cycles per second. Migen's simulator is too slow for whole engines."""

import functools

from migen import *
from litex.soc.interconnect import csr_bus

from litepcie_soc.common.memory_ports import MemoryReadStream, MemoryWriteStream
from litepcie_soc.dma.engine import DIRECTIONS, DMAEngine
from litepcie_soc.dma.registers import ACTIVE_LO
from litepcie_soc.tlp.ports import MemoryReadPort, MemoryWritePort
from test.gateware.simulation import waveform
from test.gateware.verilate import Core, to_verilog

CLK_FREQ    = 4e6        # Four cycles per microsecond: moderation takes few cycles.
MEMORY_SIZE = 64 << 10
DATA_TAGS   = 32
DESCRIPTORS     = 128   # Prefetched descriptors, as in the SoC with one channel.
DESCRIPTOR_TAGS = 4     # Their tags.
CSR_PAGING  = 0x800
NEAR_WRAP   = 0xffffffe5   # First count of a DUT whose counts wrap soon.


class Top(Module):
    """Reader and writer on their own memory streams.

    DOORBELL, COMPLETED and ACTIVE begin at ``first_count``, so that a test reaches their wrap at 2^32 soon.
    """
    def __init__(self, data_width, *, first_count=0, descriptors=DESCRIPTORS, fetch_tags=DESCRIPTOR_TAGS):
        self.descriptors = descriptors
        self.fetch_tags  = fetch_tags
        self.ports = set()
        self.clock_domains.cd_sys = ClockDomain()
        self.csr = csr_bus.Interface(data_width=32, address_width=14)
        buses    = []
        for n, direction in enumerate(DIRECTIONS):
            engine = self.make_engine(direction, data_width)
            start_at(engine, first_count)
            self.comb += engine.registers.selected.eq(self.csr.adr)
            bank = csr_bus.CSRBank(engine.get_csrs(sort=True), n,
                bus    = csr_bus.Interface(data_width=32, address_width=14),
                paging = CSR_PAGING)
            self.submodules += bank
            buses.append(bank.bus)
        self.submodules += csr_bus.InterconnectShared([self.csr], buses)
        for name in ("adr", "re", "we", "dat_w", "dat_r"):
            self.expose(f"csr_{name}", getattr(self.csr, name))

    def make_engine(self, direction, data_width):
        reader = direction == "reader"
        ports  = dict(
            clk_freq        = CLK_FREQ,
            descriptor_port = MemoryReadPort(data_width, self.fetch_tags),
            data_port       = MemoryReadPort(data_width, DATA_TAGS) if reader else MemoryWritePort(data_width),
            status_port     = MemoryWritePort(data_width))
        engine = self.engine_on(direction, data_width, ports)
        setattr(self.submodules, direction, engine)
        self.expose_read_port(f"{direction}_descriptor", ports["descriptor_port"])
        self.expose_write_port(f"{direction}_status", ports["status_port"])
        expose_data = self.expose_read_port if reader else self.expose_write_port
        expose_data(f"{direction}_data", ports["data_port"])
        self.expose_stream(f"{direction}_msi", engine.msi)
        for name in ("max_payload_size", "max_request_size", "reset", "can_send", "resetting"):
            self.expose(f"{direction}_{name}", getattr(engine, name))
        return engine

    def engine_on(self, direction, data_width, ports):
        """The engine, with its other side at the top; ``ports`` are its arguments for the transaction layer."""
        reader = direction == "reader"
        memory = (MemoryWriteStream if reader else MemoryReadStream)(data_width, MEMORY_SIZE)
        if reader:
            self.expose_stream(f"{direction}_memory", memory)
        else:
            self.expose_stream(f"{direction}_command", memory.command)
            self.expose_stream(f"{direction}_words", memory.data)
        return DMAEngine(direction, **ports, memory=memory, descriptors=self.descriptors)

    def expose(self, name, signal):
        signal.name_override = name
        self.ports.add(signal)

    def expose_stream(self, name, endpoint):
        description = endpoint.description
        fields = [field for field, *_ in description.payload_layout + description.param_layout]
        for field in ("valid", "ready", *fields):
            self.expose(f"{name}_{field}", getattr(endpoint, field))

    def expose_read_port(self, name, port):
        for part in ("request", "data", "retire"):
            self.expose_stream(f"{name}_{part}", getattr(port, part))
        self.expose(f"{name}_no_tag", port.no_tag)

    def expose_write_port(self, name, port):
        self.expose_stream(f"{name}_sink", port.sink)
        for part, signal in (("sink_first", port.sink.first), ("sink_last", port.sink.last), ("sent", port.sent),
                ("dropped", port.dropped)):
            self.expose(f"{name}_{part}", signal)


def start_at(engine, count):
    for signal in (engine.progress.completed, engine.registers.doorbell.storage, engine.doorbell,
        engine.ring.fetch.slot, engine.ring.parse_slot, engine.counters.first, engine.counters.lows[ACTIVE_LO]):
        signal.reset = Constant(count & (1 << len(signal)) - 1, len(signal))


@functools.cache
def verilog_of(data_width, top_class=Top, **kwargs):
    return to_verilog(lambda: top_class(data_width, **kwargs), lambda top: top.ports, "dma_dut")[1].main_source


def model(data_width, **kwargs):
    """A new DUT, out of reset."""
    dut = Core(verilog_of(data_width, **kwargs), "dma_dut", ("-Wwarn-LATCH", "-Wwarn-MULTIDRIVEN"), waveform())
    assert not dut.messages, f"a combinatorial loop, a latch, or a signal with two drivers:\n{dut.messages}"
    for reset in (1, 1, 1, 1, 0):
        dut["sys_rst"] = reset
        dut.settle()
        if reset:
            dut.edge()
    return dut
