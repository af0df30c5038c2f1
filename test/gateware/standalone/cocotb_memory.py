# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Runs in the simulator, by cocotb: the endpoint memory behind the AXI4 master, and a slave of cocotbext-axi."""

import os
import random

import cocotb
from cocotb.task import bridge
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiBus, AxiSlave, Region

from test.gateware.standalone.bench import BACK, BUFFER
from test.gateware.standalone.cocotb_core import SEED, CocotbBench, begin, pause

SIZE = 64 << 10


class LateMemory(Region):
    """Stores late: a read that does not wait for the responses to writes gets what was there before.

    An access that meets `bad`, a range of addresses, is answered with SLVERR.
    """
    def __init__(self, clock, late, bad=range(0)):
        Region.__init__(self, SIZE)
        self.clock  = clock
        self.late   = late
        self.bad    = bad
        self.bytes  = bytearray(SIZE)
        self.random = random.Random(SEED)

    def check(self, address, length):
        assert 0 <= address <= address + length <= SIZE
        if set(range(address, address + length)) & set(self.bad):
            raise OSError("an address without memory")

    async def _write(self, address, data, **_):
        if self.late:
            await ClockCycles(self.clock, self.random.randrange(self.late))
        self.check(address, len(data))
        self.bytes[address:address + len(data)] = data

    async def _read(self, address, length, **_):
        self.check(address, length)
        return bytes(self.bytes[address:address + length])


def memory_of(dut, late=0, share=0, bad=range(0)):
    """Connects a slave to the core; returns its memory."""
    clock = dut.memory_aclk if hasattr(dut, "memory_aclk") else dut.sys_clk
    memory = LateMemory(clock, late, bad)
    pause(AxiSlave(AxiBus.from_prefix(dut, "memory"), clock, target=memory), share)
    return memory


async def errors(dut, found):
    """Counts cycles with `memory_error`."""
    while True:
        await RisingEdge(dut.sys_clk)
        found[0] += int(dut.memory_error.value)


@cocotb.test()
async def bytes_both_ways(dut):
    """DMA into the memory, the window, and DMA back, in any alignment; a late slave whose channels pause."""
    await begin(dut)
    memory = memory_of(dut, late=12, share=0.3)
    @bridge
    def host():
        bench  = CocotbBench(dut, stall=0.1)
        reader, writer = bench.engine("reader"), bench.engine("writer")
        window = bench.host.read(bench.regs["WINDOW_OFFSET"])
        at     = 0
        for n, length in enumerate(int(length) for length in os.environ["LENGTHS"].split()):
            at  += bench.random.randint(1, 40)
            data = bench.bytes(length)
            bench.host.put(BUFFER + 5000*n + n, data)
            before = bytes(memory.bytes)
            reader.submit([(BUFFER + 5000*n + n, at, length, 0)])
            reader.wait()
            # What is reported is stored.
            assert bytes(memory.bytes) == before[:at] + data + before[at + length:]
            assert bench.host.read_bytes(window + (at & ~3), 64) == memory.bytes[at & ~3:][:64]
            writer.submit([(BACK + 5000*n + n, at, length, 0)])
            writer.wait()
            assert bench.host.get(BACK + 5000*n + n, length) == data
            at  += length
        # A read of the host waits for the write before it.
        for _ in range(4):
            data = bench.bytes(32)
            bench.host.write_bytes(window + 0x2000, data)
            assert bench.host.read_bytes(window + 0x2000, 32) == data
    await host()


@cocotb.test()
async def errors_of_the_memory(dut):
    """An engine stops with the reason, has counted no byte from the error on, and works after a reset."""
    await begin(dut)
    memory_of(dut, late=12, bad=range(0x3000, 0x3001))
    found  = [0]
    cocotb.start_soon(errors(dut, found))
    @bridge
    def host():
        bench  = CocotbBench(dut, stall=0)
        reason = bench.regs["REASON_MEMORY_ERROR"]
        data   = bench.bytes(4096)
        bench.host.put(BUFFER, data)
        for direction in ("reader", "writer"):
            place  = BUFFER if direction == "reader" else BACK
            engine = bench.engine(direction)
            other  = bench.engine("writer" if direction == "reader" else "reader")
            engine.submit([(place, 0x1000, 4096, 0), (place, 0x2c00, 2048, 0), (place, 0x4000, 64, 0)])
            bench.host.wait(lambda: engine.reason, "the stop")
            assert engine.reason == reason
            # No byte behind the error counts. Bytes before it may not: the host answers reads out of order.
            stopped = bench.host.get32(engine.status + 4) >> 8
            assert (engine.completed, stopped) <= (1, 0x400) and (engine.completed or stopped < 4096)
            assert found[0] > 0
            found[0] = 0
            engine.reset()
            engine = bench.engine(direction)
            for job in (engine, other):
                job.submit([(place + 0x10000, 0x5000, 300, 0)])
                job.wait()
        assert found[0] == 0
    await host()
