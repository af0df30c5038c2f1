# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
import random

import pytest
from migen import passive

from litepcie_soc.memory.bram import EndpointMemory
from test.gateware.simulation import Watch, fail, forever, simulate
from test.gateware.steps import send, wait

SIZE = 2048


class Model:
    """Expected contents of the memory."""
    def __init__(self, data_width):
        self.bytes = data_width // 8
        self.image = bytearray(SIZE)

    def write(self, address, dat, be):
        for lane in range(self.bytes):
            if be >> lane & 1:
                self.image[address * self.bytes + lane] = dat >> 8 * lane & 0xff

    def read(self, address):
        return int.from_bytes(self.image[address * self.bytes:][:self.bytes], "little")


class Bench:
    """An EndpointMemory with random clients; ``check`` raises on the first wrong word."""
    def __init__(self, data_width, writers, readers, idle=0.0, stall=0.0, seed=0):
        self.dut     = EndpointMemory(SIZE, data_width)
        self.writes  = [self.dut.add_write_port() for _ in range(writers)]
        self.reads   = [self.dut.add_read_port() for _ in range(readers)]
        self.model   = Model(data_width)
        self.words   = SIZE * 8 // data_width
        self.idle    = idle
        self.stall   = stall
        self.rng     = random.Random(seed)
        self.wanted  = [[] for _ in self.reads]   # For each client: (allowed values).
        self.taken   = [[] for _ in self.reads]   # For each client: cycle of each accepted word.
        self.written = []                         # Cycle of each accepted write.

    def chance(self, p):
        return self.rng.random() < p

    def writer(self, port, count):
        for _ in range(count):
            while self.chance(self.idle):
                yield
            yield from send(port, address=self.rng.randrange(self.words), dat=self.rng.getrandbits(len(port.dat)),
                be=self.rng.getrandbits(len(port.be)))

    def commander(self, port, count):
        for _ in range(count):
            while self.chance(self.idle):
                yield
            yield from send(port.command, address=self.rng.randrange(self.words))

    @passive
    def taker(self, port):
        while True:
            yield port.data.ready.eq(int(not self.chance(self.stall)))
            yield

    @passive
    def monitor(self):
        """Applies the rule of the ports: a read command sees every write accepted before its cycle."""
        cycle = 0
        while True:
            yield
            cycle += 1
            commands = []
            for n, port in enumerate(self.reads):
                if (yield port.command.valid) and (yield port.command.ready):
                    address = yield port.command.address
                    commands.append((n, address, self.model.read(address)))
            for port in self.writes:
                if (yield port.valid) and (yield port.ready):
                    self.written.append(cycle)
                    self.model.write((yield port.address), (yield port.dat), (yield port.be))
            for n, address, before in commands:
                self.wanted[n].append({before, self.model.read(address)})
            for n, port in enumerate(self.reads):
                if (yield port.data.valid) and (yield port.data.ready):
                    allowed = self.wanted[n][len(self.taken[n])]
                    found   = yield port.data.dat
                    if found not in allowed:
                        fail("word of a read", expected=" or ".join(f"{word:#x}" for word in allowed),
                            found=f"{found:#x}", cycle=cycle, port=f"reader {n}", word=len(self.taken[n]))
                    self.taken[n].append(cycle)

    def done(self, writes, reads, limit=20000):
        for _ in range(limit):
            yield
            if len(self.written) == writes * len(self.writes) and all(len(taken) == reads for taken in self.taken):
                break
        else:
            fail("words were lost", expected=f"{writes} written and {reads} read by each client",
                found=f"{len(self.written)} written, {[len(taken) for taken in self.taken]} read", cycle=limit)
        yield from wait(20)
        assert all(len(taken) == reads for taken in self.taken), "words came twice"

    def run(self, writes, reads):
        simulate(self.dut, [
            *[self.writer(port, writes) for port in self.writes],
            *[self.commander(port, reads) for port in self.reads],
            *[self.taker(port) for port in self.reads],
            *[forever(Watch(port.data, framed=False, name=f"reader {n}").watch()) for n, port in enumerate(self.reads)],
            self.monitor(), self.done(writes, reads)])


@pytest.mark.parametrize("data_width, writers, readers, idle, stall", [
    (64, 1, 1, 0, 0), (128, 3, 1, 0.3, 0.7), (512, 1, 3, 0.7, 0.2), (128, 2, 2, 0.3, 0.2)])
def test_random_clients(data_width, writers, readers, idle, stall):
    Bench(data_width, writers, readers, idle, stall).run(120, 120)


@pytest.mark.parametrize("readers", [1, 3])
def test_word_per_cycle_each_way(readers):
    bench = Bench(128, 2, readers)
    bench.run(60, 60)
    assert bench.written == list(range(bench.written[0], bench.written[0] + 120))
    cycles = sorted(cycle for taken in bench.taken for cycle in taken)
    # The clients have separate buffers; at full rate, the number of cycles is the number of words.
    assert cycles[-1] - cycles[0] <= 60 * readers + EndpointMemory.LATENCY


def test_stopped_client_does_not_stop_another():
    bench = Bench(64, 1, 2)
    def stopped(port):
        yield port.data.ready.eq(0)
        while len(bench.taken[1]) < 100:
            yield
        yield port.data.ready.eq(1)
    simulate(bench.dut, [
        bench.writer(bench.writes[0], 100),
        *[bench.commander(port, 100) for port in bench.reads],
        stopped(bench.reads[0]), bench.taker(bench.reads[1]),
        bench.monitor(), bench.done(100, 100)])
    assert bench.taken[0][0] > bench.taken[1][-1]


@pytest.mark.parametrize("data_width, size, message", [
    (96, 2048, "data_width 96 is not supported; choose 64, 128, 256 or 512"), (128, 3000, "power of two .* not 3000"),
    (128, 16, r"at least two words \(32 bytes\), not 16")])
def test_parameter_errors(data_width, size, message):
    with pytest.raises(ValueError, match=message):
        EndpointMemory(size, data_width)
