# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Runs in the simulator, by cocotb: streams with AXI4-Stream ports, and models of cocotbext-axi at them."""

import os

import cocotb
from cocotb.task import bridge
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

from test.gateware.standalone.bench import BACK, BUFFER
from test.gateware.standalone.cocotb_core import SEED, CocotbBench, begin, pauses

LENGTHS = [int(length) for length in os.environ["LENGTHS"].split()]


class Stream:
    """The models at stream 0, in a clock of their own if the core has one."""
    def __init__(self, dut, share):
        own        = hasattr(dut, "stream0_aclk")
        clock      = dut.stream0_aclk if own else dut.sys_clk
        reset      = dict(reset=dut.stream0_aresetn, reset_active_level=False) if own else dict(reset=dut.sys_rst)
        self.dut   = dut
        self.from_host = AxiStreamSink(AxiStreamBus.from_prefix(dut, "stream0_source"), clock, **reset)
        self.to_host   = AxiStreamSource(AxiStreamBus.from_prefix(dut, "stream0_sink"), clock, **reset)
        self.from_host.set_pause_generator(pauses(SEED, share))
        self.to_host.set_pause_generator(pauses(SEED + 1, share))


def exchange(bench, stream, packets):
    """Packets from the host to the models, and the same back from the models to the host, at once."""
    reader, writer = bench.engine("reader", bench.channels), bench.engine("writer", bench.channels)
    source, at     = [], BUFFER
    for packet in packets:
        bench.host.put(at, packet)
        source.append((at, 0, len(packet), bench.regs["DESCRIPTOR_LAST"]))
        at += len(packet) + bench.random.randint(1, 300)
    for packet in packets:
        stream.to_host.send_nowait(AxiStreamFrame(packet))
    writer.submit([(BACK + 0x2000 * n, 0, 0x1800, 0) for n in range(len(packets))])
    reader.submit(source)
    reader.wait()
    writer.wait()
    bench.host.wait(lambda: stream.from_host.count() == len(packets), "packets of the core")
    for n, packet in enumerate(packets):
        assert bytes(stream.from_host.recv_nowait(compact=True).tdata) == packet
        assert bench.host.get32(writer.status + 64 + 4 * n) == len(packet) | bench.regs["REPORT_LAST"]
        assert bench.host.get(BACK + 0x2000 * n, len(packet)) == packet
    return reader, writer


@cocotb.test()
async def packets(dut):
    """Each packet arrives with its bytes and its end, both ways, whatever pauses there are on either side."""
    await begin(dut)
    stream = Stream(dut, share=0.3)
    @bridge
    def host():
        bench = CocotbBench(dut, stall=0.2)
        exchange(bench, stream, [bench.bytes(length) for length in bench.random.sample(LENGTHS, len(LENGTHS))])
    await host()


@cocotb.test(skip=os.environ["CLOCK"] == "sys")
async def a_reset_of_the_stream(dut):
    """In the middle of packets; after the host has reset the engines, everything works as before."""
    await begin(dut)
    stream = Stream(dut, share=0.1)
    @bridge
    def host():
        bench   = CocotbBench(dut, stall=0.1)
        packets = [bench.bytes(length) for length in (300, 40, 1)]
        for turn in range(3):
            engines = [bench.engine(way, bench.channels) for way in ("reader", "writer")]
            bench.host.put(BUFFER, bytes(1000))
            engines[0].submit([(BUFFER, 0, 1000, bench.regs["DESCRIPTOR_LAST"])])
            engines[1].submit([(BACK, 0, 0x1800, 0)])
            stream.to_host.send_nowait(AxiStreamFrame(bytes(1000)))
            bench.host.ticks(180 + 37 * turn)
            dut.stream0_aresetn.value = 0
            bench.host.ticks(1 + 5 * turn)
            dut.stream0_aresetn.value = 1
            bench.host.ticks(20)
            for engine in engines:
                engine.reset()
            stream.to_host.clear()
            stream.from_host.clear()
            exchange(bench, stream, packets)
    await host()
