# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Runs in the simulator, by cocotb: registers behind an AXI4-Lite port, for which a model of cocotbext-axi answers."""

import os

import cocotb
from cocotb.task import bridge
from cocotbext.axi import AxiLiteBus, AxiLiteSlave, MemoryRegion

from test.gateware.standalone.cocotb_core import CocotbBench, begin, pause

ORIGIN, SIZE    = 0x4000_0000, 64 << 10
FAILS           = 0x8000          # Where the registers answer SLVERR.
COMPLETER_ABORT = 4
CYCLES_MAX      = 150             # 1.2 us at 125 MHz.


class Registers(MemoryRegion):
    """A memory with a place that fails."""
    def __init__(self):
        MemoryRegion.__init__(self, SIZE)

    def look(self, address):
        assert ORIGIN <= address < ORIGIN + SIZE, f"address {address:x}"
        if address - ORIGIN == FAILS:
            raise ValueError("no register")

    async def read(self, address, length, **kwargs):
        self.look(address)
        return await MemoryRegion.read(self, address - ORIGIN, length, **kwargs)

    async def write(self, address, data, **kwargs):
        self.look(address)
        await MemoryRegion.write(self, address - ORIGIN, data, **kwargs)


def slave(dut, share):
    """The registers at the core's port, and the model that answers for them."""
    own   = hasattr(dut, "user_aclk")
    clock = dut.user_aclk if own else dut.sys_clk
    reset = dict(reset=dut.user_aresetn, reset_active_level=False) if own else dict(reset=dut.sys_rst)
    made  = Registers()
    model = AxiLiteSlave(AxiLiteBus.from_prefix(dut, "user"), clock, target=made, **reset)
    pause(model, share)
    return made


class Access:
    """Accesses of the host to the registers, compared with what they should hold."""
    def __init__(self, bench):
        self.bench  = bench
        self.bar    = bench.regs["USER_OFFSET"]
        self.base   = bench.host.read(self.bar)
        self.shadow = bytearray(SIZE)
        self.errors = 0

    def write(self, offset, data, first_be=0xf, last_be=0xf):
        """Does not wait: writes follow each other at once."""
        self.bench.host.write_bytes(self.base + offset, data, first_be, last_be)
        for n, byte in enumerate(data):
            enable = first_be if n < 4 else last_be if n >= len(data) - 4 else 0xf
            if enable >> n % 4 & 1:
                self.shadow[offset + n] = byte

    def check(self, offset, length):
        assert self.bench.host.try_read(self.base + offset, length) == (0, self.shadow[offset:offset + length])

    def fails(self, offset):
        self.errors += 1
        assert self.bench.host.try_read(self.base + offset, 4) == (COMPLETER_ABORT, b"")

    def check_errors(self):
        assert self.bench.host.read(self.bench.regs["USER_ERRORS"]) == self.errors


@cocotb.test()
async def registers(dut):
    """Accesses of one to many dwords with any byte enables, at once after each other, whatever the pauses are."""
    await begin(dut)
    made = slave(dut, share=0.4)
    @bridge
    def host():
        bench  = CocotbBench(dut, stall=0.2)
        access = Access(bench)
        assert bench.host.read(bench.regs["USER_SIZE"]) == SIZE
        assert bench.host.read(bench.regs["USER_ORIGIN"]) == ORIGIN
        choose = bench.random
        for _ in range(int(os.environ["ACCESSES"])):
            dwords = choose.choice((1, 1, 2, 3, 8))
            offset = 4 * choose.randrange(0, 64)
            access.write(offset, bench.bytes(4 * dwords), choose.choice((0xf, 0xe, 0x6, 0x8)),
                choose.choice((0xf, 0x7, 0x1)))
            if choose.random() < 0.4:
                access.check(offset, 4 * dwords)
        access.check(0, 256)
        access.check(SIZE - 4, 4)
        assert bytes(made.mem[:512]) == access.shadow[:512]
        access.check_errors()
    await host()


@cocotb.test()
async def failures(dut):
    """SLVERR and addresses beyond the size end as Completer Abort, are counted, and disturb nothing else.

    Silence and resets of the registers: test/formal/test_user.py.
    """
    await begin(dut)
    slave(dut, share=0)
    @bridge
    def host():
        bench  = CocotbBench(dut, stall=0)
        access = Access(bench)
        access.write(0x100, b"good")
        access.fails(FAILS)
        access.write(FAILS, b"none")
        access.errors += 1
        access.fails(SIZE)
        access.check(0x100, 4)
        access.check_errors()
        begun = bench.host.cycle
        access.check(0x100, 4)
        dut._log.info("a read of a register takes %d cycles", bench.host.cycle - begun)
        assert bench.host.cycle - begun <= CYCLES_MAX
    await host()
