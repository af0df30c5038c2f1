#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Two engines with all their ports at the top, as Verilog, compiled by Verilator, driven by Python.

Migen's simulator is too slow for whole engines. This runs some ten thousand cycles per second, and
it runs the Verilog that the FPGA gets.
"""

import ctypes
import functools

from migen import *

from litex.soc.interconnect import csr_bus

from litepcie_soc.common.memory_ports import MemoryReadStream, MemoryWriteStream
from litepcie_soc.dma.counters import ACTIVE_LO
from litepcie_soc.dma.engine import DIRECTIONS, DMAEngine
from litepcie_soc.memory.bram import EndpointMemory
from litepcie_soc.tlp.ports import MemoryReadPort, MemoryWritePort

from test.gateware.simulation import waveform
from test.gateware.verilate import to_verilog, verilate

CLK_FREQ    = 4e6        # Four cycles per microsecond: moderation takes few cycles.
MEMORY_SIZE = 64 << 10
DATA_TAGS   = 32
DESCRIPTORS     = 128   # Prefetched descriptors, as in the SoC with one channel.
DESCRIPTOR_TAGS = 4     # Their tags.
CSR_PAGING  = 0x800
NEAR_WRAP   = 0xffffffe5   # First count of a DUT whose counts wrap soon.

# Top ----------------------------------------------------------------------------------------------


class Top(Module):
    """Reader and writer on their own memory streams, or both on one ``EndpointMemory``.

    DOORBELL, COMPLETED and ACTIVE begin at ``first_count``, so that a test reaches their wrap at 2^32 soon.
    ``inputs`` and ``outputs`` map names to Signals, seen from the engines.
    """
    def __init__(self, data_width, *, real_memory=False, first_count=0, descriptors=DESCRIPTORS,
        fetch_tags=DESCRIPTOR_TAGS):
        self.descriptors = descriptors
        self.fetch_tags  = fetch_tags
        self.inputs  = {}
        self.outputs = {}
        self.clock_domains.cd_sys = ClockDomain()
        if real_memory:
            self.submodules.memory = EndpointMemory(MEMORY_SIZE, data_width)
        self.csr = csr_bus.Interface(data_width=32, address_width=14)
        buses    = []
        for n, direction in enumerate(DIRECTIONS):
            engine = self.make_engine(direction, data_width, real_memory)
            start_at(engine, first_count)
            self.comb += engine.registers.selected.eq(self.csr.adr)
            bank = csr_bus.CSRBank(engine.get_csrs(sort=True), n,
                bus    = csr_bus.Interface(data_width=32, address_width=14),
                paging = CSR_PAGING)
            self.submodules += bank
            buses.append(bank.bus)
        self.submodules += csr_bus.InterconnectShared([self.csr], buses)
        for name in ("adr", "re", "we", "dat_w"):
            self.expose(self.inputs, f"csr_{name}", getattr(self.csr, name))
        self.expose(self.outputs, "csr_dat_r", self.csr.dat_r)

    def make_engine(self, direction, data_width, real_memory):
        reader = direction == "reader"
        ports  = dict(
            clk_freq        = CLK_FREQ,
            descriptor_port = MemoryReadPort(data_width, self.fetch_tags),
            data_port       = MemoryReadPort(data_width, DATA_TAGS) if reader else MemoryWritePort(data_width),
            status_port     = MemoryWritePort(data_width),
        )
        engine = self.engine_on(direction, data_width, real_memory, ports)
        setattr(self.submodules, direction, engine)
        self.expose_read_port(f"{direction}_descriptor", ports["descriptor_port"])
        self.expose_write_port(f"{direction}_status", ports["status_port"])
        expose_data = self.expose_read_port if reader else self.expose_write_port
        expose_data(f"{direction}_data", ports["data_port"])
        self.expose_stream(f"{direction}_msi", engine.msi, from_engine=True)
        for name in ("max_payload_size", "max_request_size", "reset", "can_send"):
            self.expose(self.inputs, f"{direction}_{name}", getattr(engine, name))
        self.expose(self.outputs, f"{direction}_resetting", engine.resetting)
        return engine

    def engine_on(self, direction, data_width, real_memory, ports):
        """The engine, with its other side at the top; ``ports`` are its arguments for the transaction layer."""
        reader = direction == "reader"
        if real_memory:
            memory = self.memory.add_write_port() if reader else self.memory.add_read_port()
        else:
            memory = (MemoryWriteStream if reader else MemoryReadStream)(data_width, MEMORY_SIZE)
            if reader:
                self.expose_stream(f"{direction}_memory", memory, from_engine=True)
            else:
                self.expose_stream(f"{direction}_command", memory.command, from_engine=True)
                self.expose_stream(f"{direction}_words", memory.data, from_engine=False)
        return DMAEngine(direction, **ports, memory=memory, descriptors=self.descriptors)

    def expose(self, direction, name, signal):
        signal.name_override = name
        direction[name] = signal

    def expose_stream(self, name, endpoint, from_engine):
        description = endpoint.description
        forward, back = (
            (self.outputs, self.inputs) if from_engine else (self.inputs, self.outputs))
        self.expose(forward, f"{name}_valid", endpoint.valid)
        self.expose(back,    f"{name}_ready", endpoint.ready)
        for field, *_ in description.payload_layout + description.param_layout:
            self.expose(forward, f"{name}_{field}", getattr(endpoint, field))

    def expose_read_port(self, name, port):
        self.expose_stream(f"{name}_request", port.request, from_engine=True)
        self.expose_stream(f"{name}_data",    port.data,    from_engine=False)
        self.expose_stream(f"{name}_retire",  port.retire,  from_engine=False)
        self.expose(self.inputs, f"{name}_no_tag", port.no_tag)

    def expose_write_port(self, name, port):
        self.expose_stream(f"{name}_sink", port.sink, from_engine=True)
        self.expose(self.outputs, f"{name}_sink_first", port.sink.first)
        self.expose(self.outputs, f"{name}_sink_last",  port.sink.last)
        self.expose(self.inputs,  f"{name}_sent",       port.sent)
        self.expose(self.inputs,  f"{name}_dropped",    port.dropped)


def start_at(engine, count):
    for signal in (engine.progress.completed, engine.registers.doorbell.storage, engine.doorbell,
        engine.ring.fetch.slot, engine.ring.parse_slot, engine.counters.first,
        engine.counters.lows[ACTIVE_LO]):
        signal.reset = Constant(count & (1 << len(signal)) - 1, len(signal))


def ports(top):
    return {*top.inputs.values(), *top.outputs.values()}

# Compilation --------------------------------------------------------------------------------------


def words(signal):
    return (len(signal) + 31) // 32


def copies(ports, into_model):
    """C++ statements between the model's ports and an array of dwords."""
    lines, at = [], 0
    for name, signal in ports.items():
        for n in range(words(signal)):
            if len(signal) > 64:
                model, shift = f"top->{name}[{n}]", 0
            else:
                model, shift = f"top->{name}", 32 * n
            if not into_model:
                lines.append(f"out[{at}] = (uint32_t)({model} >> {shift});")
            elif len(signal) > 64 or len(signal) <= 32:
                lines.append(f"{model} = in[{at}];")
            else:
                lines.append(f"{model} {'|=' if n else '='} (uint64_t)in[{at}] << {shift};")
            at += 1
    return "\n    ".join(lines)


WRAPPER = """\
#include "Vdma_dut.h"
#include "verilated.h"
#if VM_TRACE
#include "verilated_vcd_c.h"
static VerilatedVcdC *vcd;
static uint64_t now;
static void dump() {{ if (vcd) {{ vcd->dump(now++); vcd->flush(); }} }}
extern "C" void waves(Vdma_dut *top, const char *path) {{
    if (vcd)
        vcd->close();
    vcd = new VerilatedVcdC;
    top->trace(vcd, 99);
    vcd->open(path);
    now = 0;
}}
#else
static void dump() {{}}
#endif
extern "C" {{
Vdma_dut *create() {{ Verilated::traceEverOn(true); return new Vdma_dut; }}
void destroy(Vdma_dut *top) {{ delete top; }}
// One cycle: sets the inputs, gets the outputs that they cause, then the clock edge.
void step(Vdma_dut *top, const uint32_t *in, uint32_t *out, int reset) {{
    {inputs}
    top->sys_rst = reset;
    top->sys_clk = 0;
    top->eval();
    {outputs}
    dump();
    top->sys_clk = 1;
    top->eval();
    dump();
}}
}}
"""


class Model:
    """The compiled DUT: set inputs by name, ``step``, get the outputs of that cycle by name."""
    def __init__(self, library, inputs, outputs):
        self.library  = library
        self.handle   = library.create()
        self.at_in    = self.places(inputs)
        self.at_out   = self.places(outputs)
        self.inputs   = bytearray(4 * sum(words(signal) for signal in inputs.values()))
        self.outputs  = bytearray(4 * sum(words(signal) for signal in outputs.values()))
        self.c_in     = (ctypes.c_char * len(self.inputs)).from_buffer(self.inputs)
        self.c_out    = (ctypes.c_char * len(self.outputs)).from_buffer(self.outputs)

    @staticmethod
    def places(ports):
        places, at = {}, 0
        for name, signal in ports.items():
            size = 4 * words(signal)
            places[name] = (at, at + size, size)
            at += size
        return places

    def set(self, name, value):
        start, end, size = self.at_in[name]
        self.inputs[start:end] = int(value).to_bytes(size, "little")

    def get(self, name):
        start, end, _ = self.at_out[name]
        return int.from_bytes(self.outputs[start:end], "little")

    def step(self, reset=0):
        self.library.step(self.handle, self.c_in, self.c_out, reset)

    def close(self):
        if self.handle:
            self.library.destroy(self.handle)
            self.handle = None


@functools.cache
def _library(data_width, waves, top_class=Top, **kwargs):
    top, output = to_verilog(lambda: top_class(data_width, **kwargs), ports, "dma_dut")
    inputs, outputs = top.inputs, top.outputs
    wrapper = WRAPPER.format(inputs=copies(inputs, True), outputs=copies(outputs, False))
    program = verilate({"dma_dut.v": output.main_source, "wrapper.cpp": wrapper}, top="dma_dut", shared=True,
        waves=waves, options=["-Wwarn-LATCH", "-Wwarn-MULTIDRIVEN"])
    assert not program.messages, f"a combinatorial loop, a latch, or a signal with two drivers:\n{program.messages}"
    library = ctypes.CDLL(str(program.path))
    library.create.restype   = ctypes.c_void_p
    library.destroy.argtypes = [ctypes.c_void_p]
    if waves:
        library.waves.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.step.argtypes    = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    return library, inputs, outputs


def model(data_width, **kwargs):
    """A new DUT, out of reset."""
    path = waveform()
    dut  = Model(*_library(data_width, path is not None, **kwargs))
    if path:
        dut.library.waves(dut.handle, str(path).encode())
    for _ in range(4):
        dut.step(reset=1)
    return dut
