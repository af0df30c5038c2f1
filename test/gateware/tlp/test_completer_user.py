# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The host's requests to the user's bus: a slave that behaves, and slaves that do not."""

import random
from dataclasses import replace

import pytest

from litepcie_soc.common.abi import USER_OFFSET
from litepcie_soc.tlp.completer_user import UserBus
from test.gateware.simulation import full, memory_read, memory_write, written_bytes
from test.gateware.tlp.bench import Bench, Reader
from test.gateware.tlp.host import CARD, HOST
from test.gateware.tlp.test_completer import (
    BAR0, WINDOW, CardModel, PassingWrites, check_completions, long_requests, register_requests, wait)

USER    = BAR0 + USER_OFFSET
SIZE    = 0x1_0000
ORIGIN  = 0x8200_0000
TIMEOUT = 200   # Cycles.
CA      = 4     # Completion status (PCIe 4.0 2.2.9.1).


class Slave:
    """A slave on the user's bus that stores bytes; ``answer(offset)`` gives (cycles, error), or None: it is silent.

    It also checks the master: a cycle does not change before its end, and nothing outside the range is accessed.
    """
    def __init__(self, bench, answer):
        self.bench    = bench
        self.answer   = answer
        self.bytes    = {}
        self.accesses = []     # (we, byte offset, sel)
        self.go       = False  # A silent cycle ends.
        self.errors   = 0      # Accesses that the layer reported as failed.

    def processes(self):
        return []

    def watchers(self):
        return [self.serve(), self.count()]

    def count(self):
        while True:
            self.errors += (yield self.bench.layer.user.done) & (yield self.bench.layer.user.failed)
            yield

    def serve(self):
        bus = self.bench.layer.user.bus
        while True:
            while not ((yield bus.cyc) and (yield bus.stb)):
                yield
            cycle = yield from self.state(bus)
            we, address, sel, value = cycle
            assert ORIGIN <= address < ORIGIN + SIZE and sel
            offset, answer = address - ORIGIN, self.answer(address - ORIGIN)
            waited = 0
            while (not self.go) if answer is None else waited < answer[0]:
                waited += 1
                yield
                if not (yield bus.cyc):
                    break
                assert (yield from self.state(bus)) == cycle, "the cycle changed before its end"
            if not (yield bus.cyc):
                continue                       # Aborted.
            self.accesses.append((we, offset, sel))
            error = answer is not None and answer[1]
            if we and not error:
                self.bytes.update({offset + n: value >> 8*n & 0xff for n in range(4) if sel >> n & 1})
            word = [self.bytes.get(offset + n, CardModel.initial(offset + n)) for n in range(4)]
            yield [bus.dat_r.eq(0xdeadbeef if error or we else int.from_bytes(bytes(word), "little")),
                bus.err.eq(error), bus.ack.eq(not error)]
            yield
            yield [bus.err.eq(0), bus.ack.eq(0)]
            yield

    @staticmethod
    def state(bus):
        return (yield bus.we), 4*(yield bus.adr), (yield bus.sel), (yield bus.dat_w)


def user_bench(data_width=64, **options):
    return Bench(data_width, user_bus=UserBus(ORIGIN, SIZE, TIMEOUT), **options)


def ended(count):
    """Returns a process that waits until ``count`` reads are complete, or failed."""
    def process(bench, _):
        while sum(tlp.status != 0 or tlp.byte_count <= 4*tlp.length - tlp.lower_address % 4
                for tlp in bench.host.completions) < count:
            yield
    return process


def run(requests, answer=lambda offset: (1, 0), data_width=64, processes=(), **options):
    bench = user_bench(data_width, **options)
    slave = Slave(bench, answer)
    bench.host.requests.extend(requests)
    bench.run([slave, CardModel(bench)], [*[process(bench, slave) for process in processes]] or [wait(bench, requests)],
        watchers=[bench.blame("aborted")])
    return bench, slave


def failures(bench):
    """Returns (tag, byte count) of every completion that failed; checks that each is Completer Abort."""
    failed = [tlp for tlp in bench.host.completions if tlp.status]
    for tlp in failed:
        assert (tlp.fmt, tlp.type, tlp.status, tlp.length, tlp.data) == (0, 0b01010, CA, 0, b"")
        assert (tlp.completer, tlp.requester) == (CARD, HOST)
    return [(tlp.tag, tlp.byte_count) for tlp in failed]


@pytest.mark.parametrize("data_width, shape, endianness", [(64, "shared", "big"), *full((512, "split", "little"))])
def test_every_width_and_length(data_width, shape, endianness):
    """Each byte enable reaches the bus as ``sel``, and every read returns what was written before it."""
    rng      = random.Random(data_width)
    requests = [replace(tlp, address=tlp.address + USER_OFFSET) for tlp in
        register_requests(rng) + long_requests(rng, BAR0 + 0x3000, False) if tlp.length < 200]
    bench, slave = run(requests, lambda offset: (rng.choice((0, 0, 1, 7)), 0), data_width, shape=shape,
        endianness=endianness, stall=0.2)
    written, passing, completions = {}, PassingWrites(requests), iter(bench.host.completions)
    for number, tlp in enumerate(requests):
        if tlp.fmt & 2:
            written.update(written_bytes(tlp))
        else:
            check_completions(tlp, completions,
                lambda address: passing.values(number, address,
                    written.get(address, CardModel.initial(address - USER))))
    assert next(completions, None) is None
    assert slave.bytes == {address - USER: byte for address, byte in written.items()}
    assert slave.errors == 0 and bench.errors["refused"] == 0
    assert {sel for we, _, sel in slave.accesses if we} == set(range(1, 16))


def test_the_pinned_registers_are_elsewhere():
    """Neither bus sees an access to the other, up to the last dword of each."""
    places   = [0, USER_OFFSET - 4, USER_OFFSET, USER_OFFSET + SIZE - 4]
    requests = [tlp for n, place in enumerate(places) for tlp in
        (memory_write(BAR0 + place, bytes(4), requester=HOST), memory_read(BAR0 + place, 4, requester=HOST, tag=n))]
    bench = user_bench()
    slave, card = Slave(bench, lambda offset: (0, 0)), CardModel(bench)
    bench.host.requests.extend(requests)
    bench.run([slave, card], [wait(bench, requests)])
    assert sorted(offset for _, offset, _ in slave.accesses) == [0, 0, SIZE - 4, SIZE - 4]
    assert sorted(address for _, address, _ in card.accesses) == [0, 0, USER_OFFSET - 4, USER_OFFSET - 4]


@pytest.mark.parametrize("data_width, dword", [(128, 0), (128, 31), (512, 32)])
def test_a_bus_error_ends_the_read(data_width, dword):
    """Completions before the one with the wrong dword are sent; it is Completer Abort, and nothing after it is read."""
    bad = 0x100 + 4*dword
    bench, slave = run([
        memory_read(USER + 0x100, 4*71, requester=HOST, tag=1),
        memory_read(USER + 0x100, 1, requester=HOST, tag=2),
        memory_read(USER + 0x400, 8, requester=HOST, tag=3),
    ], lambda offset: (1, offset == bad), data_width, [ended(3)], stall=0.1)
    done = dword//32*32
    assert failures(bench) == [(1, 4*71 - 4*done)] + [(2, 1)]*(dword == 0)
    good = [tlp for tlp in bench.host.completions if tlp.status == 0]
    assert [(tlp.tag, tlp.length) for tlp in good] == [(1, 32)]*(done//32) + [(2, 1)]*(dword != 0) + [(3, 2)]
    assert [offset for _, offset, _ in slave.accesses] == \
        [0x100 + 4*n for n in range(dword + 1)] + [0x100, 0x400, 0x404]
    assert slave.errors == 1 + (dword == 0)


def test_beyond_the_range():
    bench, slave = run([
        memory_write(USER + SIZE, b"\1\2\3\4", requester=HOST),
        memory_read(USER + SIZE, 4, requester=HOST, tag=1),
        memory_read(BAR0 + 2*USER_OFFSET - 4, 4, requester=HOST, tag=2)])
    assert failures(bench) == [(1, 4), (2, 4)]
    assert slave.accesses == [] and slave.errors == 3
    assert [dwords[1] >> 8 & 0xff for dwords in bench.blamed] == [1, 2]
    assert [dwords[0::2] for dwords in bench.blamed] == [[1, USER + SIZE], [1, BAR0 + 2*USER_OFFSET - 4]]


@pytest.mark.parametrize("we", [0, 1])
def test_a_silent_slave_holds_up_nobody(we):
    """The access fails after its time. Later ones fail at once; registers and window are served meanwhile."""
    silent = memory_write(USER + 0x10, bytes(4), requester=HOST) if we else \
        memory_read(USER + 0x10, 4, requester=HOST, tag=1)
    requests = [silent, *[memory_read(USER + 0x40, 256, requester=HOST, tag=2 + n) for n in range(4)],
        memory_read(BAR0 + 8, 4, requester=HOST, tag=10), memory_read(WINDOW, 4, requester=HOST, tag=11)]
    bench, slave = run(requests, lambda offset: None if offset == 0x10 else (0, 0), processes=[ended(7 - we)])
    assert [tag for tag, _ in failures(bench)] == [1][we:] + [2, 3, 4, 5]
    assert [tlp.tag for tlp in bench.host.completions if tlp.status == 0] == [10, 11]
    assert slave.errors == 5
    cycles = [beat["cycle"] for beat in bench.tx[0].beats]
    assert cycles[-1] - bench.rx[0].beats[0]["cycle"] < TIMEOUT + 200


def test_a_slow_read_holds_up_neither_writes_nor_completions():
    """While reads wait for the slave, the card's own read of the host ends, and writes land."""
    rng   = random.Random(1)
    bench = user_bench(128)
    slave, card = Slave(bench, lambda offset: (TIMEOUT - 10, 0)), CardModel(bench)
    reader   = Reader(bench.layer.add_read_port("reader", 8), [(0x1000*n, 512, 0x1000*n) for n in range(8)],
        bench.stalls())
    requests = [memory_read(USER + 16*n, 4, requester=HOST, tag=n) for n in range(10)]
    requests += [memory_write(place + 4*n, rng.randbytes(4), requester=HOST) for n in range(10)
        for place in (BAR0, WINDOW)]
    bench.host.requests.extend(requests)
    def nothing_waits():
        while not len(card.registers) == len(card.memory) == 40 or len(reader.retired) < 8:
            yield
        assert len(bench.host.completions) <= 4
        yield from wait(bench, requests)
    bench.run([slave, card, reader], [nothing_waits()], cycles=5000)
    assert [tlp.tag for tlp in bench.host.completions] == list(range(10)) and slave.errors == 0
