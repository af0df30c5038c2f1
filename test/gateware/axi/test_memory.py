# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""``AXIMemory`` with two writing and two reading clients, and a slave that stores as late as it may."""

import random

import pytest
from migen import passive
from litex.gen import LiteXModule
from litex.soc.interconnect import axi
from litedram.common import LiteDRAMNativePort

from litepcie_soc.axi.interface import memory_of
from litepcie_soc.axi.memory import AXIMemory
from litepcie_soc.ddr.dram import DRAMMemory
from litepcie_soc.ddr.sim import SimDRAM
from test.gateware.simulation import fail, simulate
from test.gateware.steps import send, wait

SIZE, WIDTH = 16 << 10, 64
WORD        = WIDTH // 8


class Slave:
    """Answers bursts in order. What it has not answered, reads do not see. `bad`: words whose access is an error."""
    def __init__(self, memory, seed, stall, bad=()):
        self.memory  = memory
        self.random  = random.Random(seed)
        self.stall   = stall
        self.bad     = set(bad)
        self.words   = [0]*(SIZE // WORD)
        self.bursts  = []   # Of writes: (address, beats).
        self.beats   = []   # Of writes.
        self.reads   = []
        self.lengths = set()

    def pauses(self):
        return self.random.random() < self.stall

    def address(self, channel, queue):
        while True:
            yield channel.ready.eq(not self.pauses())
            yield
            if (yield channel.valid) and (yield channel.ready):
                first, count = (yield channel.address), (yield channel.len) + 1
                if first*WORD // 4096 != (first + count - 1)*WORD // 4096:
                    fail("a burst crosses 4 KiB", expected="one page", found=f"{count} beats", address=first*WORD)
                self.lengths.add(count)
                queue.append((first, count))

    def take(self):
        w = self.memory.w
        while True:
            yield w.ready.eq(not self.pauses())
            yield
            if (yield w.valid) and (yield w.ready):
                self.beats.append(((yield w.data), (yield w.strb), (yield w.last)))

    def answer(self):
        b = self.memory.b
        while True:
            if not self.bursts or len(self.beats) < self.bursts[0][1] or self.pauses():
                yield
                continue
            first, count = self.bursts.pop(0)
            error = False
            for n in range(count):
                data, strb, last = self.beats.pop(0)
                if last != (n == count - 1):
                    fail("WLAST is wrong", expected=int(n == count - 1), found=last, address=first*WORD,
                        beat=f"{n} of {count}")
                mask = sum(0xff << 8*lane for lane in range(WORD) if strb >> lane & 1)
                self.words[first + n] = self.words[first + n] & ~mask | data & mask
                error |= first + n in self.bad
            yield [b.resp.eq(2*error), b.valid.eq(1)]
            yield
            assert (yield b.ready)
            yield b.valid.eq(0)

    def give(self):
        r = self.memory.r
        while True:
            if not self.reads or self.pauses():
                yield
                continue
            first, count = self.reads.pop(0)
            for n in range(count):
                while self.pauses():
                    yield
                yield [r.data.eq(self.words[first + n]), r.resp.eq(2*(first + n in self.bad)), r.valid.eq(1)]
                yield
                assert (yield r.ready)
                yield r.valid.eq(0)

    def parts(self):
        return [passive(part) for part in (lambda: self.address(self.memory.aw, self.bursts), self.take, self.answer,
            lambda: self.address(self.memory.ar, self.reads), self.give)]


class Client:
    """Writes runs of words into its half of the memory and reads them back at once."""
    def __init__(self, memory, number, seed, passes):
        self.write  = memory.add_write_port()
        self.read   = memory.add_read_port()
        self.random = random.Random(seed + number)
        self.base   = number*(SIZE // WORD // 2)
        self.words  = [0]*(SIZE // WORD // 2)
        self.passes = passes
        self.failed = {"write": 0, "read": 0}

    def run(self):
        for _ in range(self.passes):
            count = self.random.choice((1, 2, 5, 16, 17, 40))
            first = self.random.randrange(len(self.words) - count)
            for n in range(first, first + count):
                data, be = self.random.getrandbits(WIDTH), self.random.choice((0, 0x0f, 0xff, 0xff, 0x81))
                mask = sum(0xff << 8*lane for lane in range(WORD) if be >> lane & 1)
                self.words[n] = self.words[n] & ~mask | data & mask
                yield from send(self.write, address=self.base + n, dat=data, be=be)
            ticket = (yield self.write.outcome.accepted) + 1
            start  = max(0, first - 3)
            yield from self.fetch(start, count + 3)
            # The count of stored words reaches what was accepted: an engine waits for that.
            while ((yield self.write.outcome.stored) - ticket + 1) & 0xffff >= 0x8000:
                yield

    def fetch(self, start, count):
        count = min(count, len(self.words) - start)
        sent  = found = 0
        yield self.read.data.ready.eq(1)
        while found < count:
            yield [self.read.command.valid.eq(sent < count), self.read.command.address.eq(self.base + start + sent)]
            yield
            sent += (yield self.read.command.valid) & (yield self.read.command.ready)
            yield self.read.command.valid.eq(0)
            if (yield self.read.data.valid):
                word = yield self.read.data.dat
                if word != self.words[start + found]:
                    fail("word of a read", expected=f"{self.words[start + found]:#x}", found=f"{word:#x}",
                        address=(self.base + start + found)*WORD, word=f"{found} of {count}")
                found += 1

    @passive
    def watch(self):
        while True:
            self.failed["write"] += (yield self.write.outcome.failed)
            self.failed["read"]  += (yield self.read.outcome.failed)
            yield


def run(stall, seed, passes, bad=()):
    memory  = AXIMemory(SIZE, WIDTH, 16, timeout=2000)
    clients = [Client(memory, number, seed, passes) for number in range(2)]
    slave   = Slave(memory, seed, stall, bad)
    simulate(memory, [*[client.run() for client in clients], *[client.watch() for client in clients],
        *[part() for part in slave.parts()]], cycles=100000)
    for client in clients:
        assert slave.words[client.base:client.base + len(client.words)] == client.words
    return clients, slave


@pytest.mark.parametrize("stall, seed", [(0, 1), (0.5, 2)])
def test_reads_see_the_writes_before_them(stall, seed):
    clients, slave = run(stall, seed, 6)
    assert max(slave.lengths) == 16
    assert all(client.failed == {"write": 0, "read": 0} for client in clients)


def test_an_error_reaches_the_client_that_made_the_access():
    """Every word of the first client is bad, none of the second."""
    (first, second), _ = run(0.2, 3, 4, bad=range(SIZE // WORD // 2))
    assert first.failed["write"] and first.failed["read"]
    assert second.failed == {"write": 0, "read": 0}


@pytest.mark.parametrize("silent", ["aw", "w", "b", "ar", "r"])
def test_a_memory_that_falls_silent_fails_every_access(silent):
    """Writes and reads of more words than any buffer holds end, each with an error, and the memory is not ready."""
    memory = AXIMemory(SIZE, WIDTH, 16, timeout=100)
    client = Client(memory, 0, 1, 0)
    slave  = Slave(memory, 1, 0)
    def accesses():
        for n in range(300):
            yield from send(client.write, address=n, dat=n, be=0xff)
        yield client.read.data.ready.eq(1)
        for n in range(100):
            yield from send(client.read.command, address=n)
        yield from wait(400)
        assert (yield client.write.outcome.stored) == (yield client.write.outcome.accepted) == 300
        assert not (yield memory.ready) and (yield memory.failed)
        assert not (yield memory.order.source.valid)
        failed = client.failed["read"]
        for n in range(8):
            yield from send(client.read.command, address=n)
        yield from wait(30)
        assert client.failed["read"] == failed + 8
    parts = dict(zip(("aw", "w", "b", "ar", "r"), slave.parts()))
    simulate(memory, [accesses(), client.watch(), *[part() for name, part in parts.items() if name != silent]])
    assert client.failed["read"]


class BehindLiteX(LiteXModule):
    """LiteX's RAM behind its bridge from AXI4 to AXI4-Lite."""
    def __init__(self):
        full      = axi.AXIInterface(WIDTH, address_width=32)
        lite      = axi.AXILiteInterface(WIDTH, address_width=32)
        self.memory = memory_of(full, SIZE, WIDTH)
        self.bridge = axi.AXI2AXILite(full, lite)
        self.ram    = axi.AXILiteSRAM(SIZE, bus=lite)


class BehindLiteDRAM(LiteXModule):
    """A native port, whose commands the test executes."""
    def __init__(self):
        self.port   = LiteDRAMNativePort("both", 16, WIDTH)
        self.memory = memory_of(self.port, SIZE, WIDTH)

    @passive
    def dram(self):
        port, words = self.port, {}
        while True:
            yield port.cmd.ready.eq(1)
            yield
            if not (yield port.cmd.valid):
                continue
            address, end = (yield port.cmd.addr), port.wdata if (yield port.cmd.we) else port.rdata
            yield port.cmd.ready.eq(0)
            yield (end.ready if end is port.wdata else end.valid).eq(1)
            yield port.rdata.data.eq(words.get(address, 0))
            yield
            while not ((yield end.valid) and (yield end.ready)):
                yield
            if end is port.wdata:
                we   = yield end.we
                mask = sum(0xff << 8*n for n in range(WORD) if we >> n & 1)
                words[address] = words.get(address, 0) & ~mask | (yield end.data) & mask
            yield (end.ready if end is port.wdata else end.valid).eq(0)


@pytest.mark.parametrize("make", [BehindLiteX, BehindLiteDRAM])
def test_a_memory_of_litex(make):
    dut    = make()
    write  = dut.memory.add_write_port()
    read   = dut.memory.add_read_port()
    rng    = random.Random(3)
    values = [(100 + n, rng.getrandbits(WIDTH), rng.randrange(1, 256)) for n in range(20)]
    wanted = [sum(dat & 0xff << 8*n for n in range(WORD) if be >> n & 1) for _, dat, be in values]
    got    = []
    def client():
        for address, dat, be in values:
            yield from send(write, address=address, dat=dat, be=be)
        yield read.data.ready.eq(1)
        for address, *_ in values:
            yield from send(read.command, address=address)
        while len(got) < len(values):
            yield
    @passive
    def data():
        while True:
            yield
            if (yield read.data.valid) and (yield read.data.ready):
                got.append((yield read.data.dat))
    simulate(dut, [client(), data(), *([dut.dram()] if make is BehindLiteDRAM else [])], cycles=5000)
    assert got == wanted


@pytest.mark.parametrize("memory, message", [
    (axi.AXIInterface(128), "memory of 128 bits is not supported with a data path of 64; give an AXIInterface of 64"),
    (axi.AXIInterface(64, address_width=12), "memory of 16384 bytes needs more than the 12 bits of address"),
    (LiteDRAMNativePort("read", 16, 64), "memory port of mode read with 64 bits is not supported; give crossbar.get_p"),
    (7, "memory of int is not supported; give LiteDRAM's crossbar or a port of it, LiteX's AXIInterface, or a module")])
def test_a_memory_that_cannot_be(memory, message):
    with pytest.raises(ValueError, match=message):
        memory_of(memory, SIZE, WIDTH)


def test_the_crossbar_of_litedram():
    assert type(memory_of(SimDRAM(1 << 20, clk_freq=125e6).crossbar, 1 << 20, WIDTH)) is DRAMMemory
