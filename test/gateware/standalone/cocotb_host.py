# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Runs in the simulator, by cocotb: buffers in host memory behind an AXI4 slave, and a master of cocotbext-axi."""

import os

import cocotb
from cocotb.task import bridge
from cocotbext.axi import AxiBurstType, AxiBus, AxiMaster, AxiResp

from test.gateware.standalone.bench import BUFFER
from test.gateware.standalone.cocotb_core import CocotbBench, begin, pause
from test.gateware.standalone.cocotb_memory import memory_of

SIZE  = 16 << 10
PLACE = (BUFFER, 0x6000_0000)   # Of the buffers in host memory: headers of four and of three dwords.
READ, WRITE = 1 << 8, 1 << 9


class Logic:
    """The user's logic: a master at the core's slave, and a descriptor at a time; the test is the driver too."""
    def __init__(self, dut, bench, share):
        self.dut, self.bench, self.host = dut, bench, bench.host
        self.master = AxiMaster(AxiBus.from_prefix(dut, "host"), dut.sys_clk, dut.sys_rst)
        self.size   = (len(dut.host_wstrb) - 1).bit_length()    # AxSIZE of a full beat.
        pause(self.master, share)

    def give(self, number, flags=READ | WRITE, size=SIZE):
        place = PLACE[number]
        for name, value in (("BASE_LO", place & 0xffffffff), ("BASE_HI", place >> 32), ("SIZE", size),
                ("SET", number | flags)):
            self.host.write(self.bench.regs[f"HOST_{name}"], value)
        while not self.host.read(self.bench.regs["HOST_VALID"]) >> number & 1:
            pass

    def wait(self, event):
        self.host.wait(event.is_set, "the end of a transaction")
        return event.data

    def write(self, address, data, **options):
        return self.wait(self.master.init_write(address, data, **options)).resp

    def read(self, address, length, **options):
        end = self.wait(self.master.init_read(address, length, **options))
        return end.resp, end.data

    def move(self, write, address, endpoint, length, tag):
        """Executes a descriptor, and returns its end: (tag, write, reason)."""
        dut, found = self.dut, []
        for name, value in dict(write=write, address=address, endpoint=endpoint, length=length, tag=tag).items():
            getattr(dut, f"descriptor_{name}").value = value
        dut.descriptor_valid.value = 1
        self.host.wait(lambda: taken(dut, "descriptor"), "a descriptor to be taken")
        dut.descriptor_valid.value = 0
        dut.end_ready.value = 1
        def ended():
            if not taken(dut, "end"):
                return False
            found.extend(int(getattr(dut, f"end_{name}").value) for name in ("tag", "write", "reason"))
            return True
        self.host.wait(ended, "the end of a descriptor")
        dut.end_ready.value = 0
        return tuple(found)

    def errors(self):
        return self.host.read(self.bench.regs["HOST_ERRORS"])


def taken(dut, name):
    """Whether the beat moved at the clock edge that has just been: the values are still those before it."""
    return int(getattr(dut, f"{name}_valid").value) and int(getattr(dut, f"{name}_ready").value)


@cocotb.test()
async def bytes_both_ways(dut):
    """Any address, length and size of a beat, with pauses of the master and of the host."""
    await begin(dut)
    @bridge
    def host():
        bench  = CocotbBench(dut, stall=0.2)
        logic  = Logic(dut, bench, share=0.3)
        choose = bench.random
        for number in (0, 1):
            logic.give(number)
        for _ in range(int(os.environ["ACCESSES"])):
            number = choose.randrange(2)
            length = choose.choice((1, 2, 3, 4, 5, 16, 64, 150))
            offset = choose.choice((0, SIZE - length, choose.randrange(SIZE - length)))
            size   = choose.choice((0, 2, logic.size, logic.size))
            data   = bench.bytes(length)
            before = bench.host.get(PLACE[number] + offset - 4, 4)
            assert logic.write(number*SIZE + offset, data, size=size) == AxiResp.OKAY
            assert bench.host.get(PLACE[number] + offset - 4, 4 + length) == before + data
            more   = bench.bytes(length)
            bench.host.put(PLACE[number] + offset, more)
            assert logic.read(number*SIZE + offset, length, size=size) == (AxiResp.OKAY, more)
        assert logic.errors() == 0
    await host()


@cocotb.test()
async def bursts_that_wrap_or_stay(dut):
    await begin(dut)
    @bridge
    def host():
        bench = CocotbBench(dut, stall=0)
        logic = Logic(dut, bench, share=0)
        logic.give(0)
        data  = bench.bytes(32)
        bench.host.put(PLACE[0] + 0x100, data)
        for start in (0, 8, 28):
            assert logic.read(0x100 + start, 32, burst=AxiBurstType.WRAP, size=2) == \
                (AxiResp.OKAY, data[start:] + data[:start])
        assert logic.write(0x100 + 12, data, burst=AxiBurstType.WRAP, size=2) == AxiResp.OKAY
        assert bench.host.get(PLACE[0] + 0x100, 32) == data[20:] + data[:20]
        # cocotbext-axi lets the lanes of beat after beat wrap at the width of the bus only, and so with FIXED.
        width = 1 << logic.size
        now   = bench.host.get(PLACE[0] + 0x100, width)
        assert logic.read(0x100 + width - 2, width, burst=AxiBurstType.WRAP, size=1)[1] == now[-2:] + now[:-2]
        assert logic.write(0x200, data, burst=AxiBurstType.FIXED) == AxiResp.OKAY
        assert bench.host.get(PLACE[0] + 0x200, 2*width) == data[-width:] + bytes(width)
        assert logic.read(0x200, 3*width, burst=AxiBurstType.FIXED) == (AxiResp.OKAY, 3*data[-width:])
    await host()


@cocotb.test()
async def refusals(dut):
    """SLVERR for what is out of bounds or not allowed."""
    await begin(dut)
    @bridge
    def host():
        bench = CocotbBench(dut, stall=0.2)
        logic = Logic(dut, bench, share=0)
        assert logic.read(0, 4)[0] == AxiResp.SLVERR
        assert logic.write(0, b"none") == AxiResp.SLVERR
        logic.give(0, READ, 4096)
        logic.give(1, WRITE)
        for address in (0, 2*SIZE, 1 << 31):
            assert logic.write(address, b"none") == AxiResp.SLVERR
        for address in (SIZE, 4096, 2**32 - 4):
            assert logic.read(address, 4)[0] == AxiResp.SLVERR
        assert bench.host.memory == {}
        bench.host.put(PLACE[0] + 4092, b"last")
        # cocotbext-axi divides what crosses 4 KiB: one burst here, whose second beat is a buffer's end.
        assert logic.read(4092, 4) == (AxiResp.OKAY, b"last")
        assert logic.write(SIZE + 4096, bytes(range(64))) == AxiResp.OKAY
        assert logic.errors() == 8
    await host()


@cocotb.test()
async def descriptors(dut):
    """Between a buffer and the memory of the core, beside bursts of the master."""
    await begin(dut)
    if hasattr(dut, "memory_awvalid"):
        memory_of(dut, late=3)
    @bridge
    def host():
        bench = CocotbBench(dut, stall=0.2)
        logic = Logic(dut, bench, share=0)
        for number in (0, 1):
            logic.give(number)
        for n, length in enumerate(int(length) for length in os.environ["LENGTHS"].split()):
            data  = bench.bytes(length)
            bench.host.put(PLACE[0] + 3 + n, data)
            event = logic.master.init_write(SIZE + 8192, data)
            assert logic.move(0, 3 + n, 64*n + 5, length, n) == (n, 0, 0)
            assert logic.move(1, SIZE + 1, 64*n + 5, length, 100 + n) == (100 + n, 1, 0)
            assert bench.host.get(PLACE[1] + 1, length) == data
            assert logic.wait(event).resp == AxiResp.OKAY and bench.host.get(PLACE[1] + 8192, length) == data
        assert logic.move(1, 2*SIZE, 0, 4, 7) == (7, 1, bench.regs["HOST_REASON_NO_BUFFER"])
        assert logic.move(0, 0, (64 << 10) - 1, 2, 8) == (8, 0, bench.regs["REASON_MEMORY_RANGE"])
    await host()
