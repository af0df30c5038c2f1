#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The link goes down in the middle of a TLP. Missing data has no effect, and the next TLPs are handled as usual."""

from types import SimpleNamespace

import pytest

from test.gateware.simulation import TLP, Watch, accept, forever, memory_read, memory_write, simulate
from test.gateware.tlp.bench import Bench, Reader
from test.gateware.tlp.host import CARD, HOST
from test.gateware.tlp.test_completer import BAR0, WINDOW, CardModel


class Cuts(Bench):
    """A bench that truncates TLPs of the host: `give` sends a TLP, or its first beats before the link goes down."""
    def __init__(self, data_width, shape):
        Bench.__init__(self, data_width, shape=shape, timeout_us=320)
        split        = shape == "split"
        self.rx      = {kind: self.phy.source if not split else getattr(self.phy, f"{kind}_source")
            for kind in ("req", "cmp")}
        self.sinks   = [self.phy.req_sink, self.phy.cmp_sink] if split else [self.phy.sink]
        self.came    = []
        self.up      = True
        self.tx      = [Watch(sink, framed=False, handshake=True) for sink in self.sinks]

    def give(self, kind, tlp, beats=None, down=3):
        sink = self.rx[kind]
        for n, beat in enumerate(tlp.beats(self.data_width, self.endianness)):
            for name, value in beat.items():
                yield getattr(sink, name).eq(value)
            if n == beats:
                break  # The data of this beat is driven but never becomes valid.
            yield sink.valid.eq(1)
            yield
            while not (yield sink.ready):
                yield
        yield sink.valid.eq(0)
        if beats is not None:
            self.up = False
            yield self.phy.link_up.eq(0)
            for _ in range(down):
                yield
            yield self.phy.link_up.eq(1)
            self.up = True
        yield

    def play(self, process, others=(), cycles=20000):
        def setup():
            yield self.phy.id.eq(CARD)
            yield self.phy.link_up.eq(1)
            yield self.phy.bus_master_enable.eq(1)
            yield self.layer.timeout_us.eq(self.timeout_us)
            yield

        def main():
            yield from setup()
            yield from process

        simulate(self, [main(), *[forever(accept(sink)) for sink in self.sinks],
            *[forever(watch.watch()) for watch in self.tx], *map(forever, others)], cycles=cycles)

    def count(self, tlp):
        return len(list(tlp.beats(self.data_width, self.endianness)))


def pause(cycles):
    for _ in range(cycles):
        yield


@pytest.mark.one_at_a_time
@pytest.mark.parametrize("data_width, shape", [(64, "shared"), (128, "split"), (512, "shared")])
@pytest.mark.parametrize("down", [1, 40])
def test_truncated_write(data_width, shape, down):
    bench = Cuts(data_width, shape)
    board = CardModel(bench)
    data  = bytes(range(1, 25))
    done  = bytes(range(100, 108))

    def host():
        for n in range(1, bench.count(memory_write(BAR0, data))):
            at = 0x1000 * n
            for base in (BAR0 + at, WINDOW + at):
                yield from bench.give("req", memory_write(base, data, requester=HOST), n, down)
                yield from bench.give("req", memory_write(base + 0x800, done, requester=HOST))
            yield from pause(200)

    bench.play(host(), [board.bus(), board.writes(), board.reads()])
    # Registers and window hold all of the write that follows, and of the truncated write only bytes that arrived.
    for n in range(1, bench.count(memory_write(BAR0, data))):
        arrived = 4 * max(0, n * data_width // 32 - 3)
        for space in (board.registers, board.memory):
            written = {at - 0x1000 * n: byte for at, byte in space.items() if at // 0x1000 == n}
            assert bytes(written.pop(0x800 + k) for k in range(8)) == done
            assert all(k < arrived and data[k] == byte for k, byte in written.items()), (n, written)


@pytest.mark.one_at_a_time
@pytest.mark.parametrize("data_width, shape", [(64, "shared"), (256, "split")])
@pytest.mark.parametrize("down", [1, 40])
def test_truncated_completion(data_width, shape, down):
    """Its request ends with an error and without a byte, and so do the others outstanding; later ones succeed."""
    bench = Cuts(data_width, shape)
    port  = bench.layer.add_read_port("a", 4)
    size  = 64
    beats = bench.count(TLP(fmt=2, type=0b01010, length=size // 4, byte_count=size, data=bytes(size)))
    reads = [(0x1000 * n, size, 0x40 * n) for n in range(3 * beats)]
    data  = bytes(range(size))
    reader = Reader(port, reads, bench.stalls())
    reader.check_retired = lambda reason, count, cycle: reader.retired.append((reason, count))

    def answer(n, beats=None):
        """Completes request n of the reader."""
        packets = bench.tx[0].packets()
        tag = TLP.from_beats(packets[n], data_width, bench.endianness).tag
        tlp = TLP(fmt=2, type=0b01010, length=size // 4, requester=CARD, tag=tag, byte_count=size, data=data)
        yield from bench.give("cmp", tlp, beats, down)

    def turn(n, cut):
        """Completes three requests, or with `cut` only the first: the second completion has only `cut` beats."""
        while reader.issued < 3 * n + 3:
            yield
        yield from pause(30)
        for k in range(3):
            if not (cut and k == 2):
                yield from answer(3 * n + k, cut if k == 1 else None)
                yield from pause(20)
        while len(reader.retired) < 3 * n + 3:
            yield

    def host():
        for n in range(1, beats):
            yield from turn(n - 1, n)
        yield from turn(beats - 1, None)

    # Three requests at a time: the next three are made after these have ended, and the link is up.
    reader.request_stalls = SimpleNamespace(
        next=lambda: not bench.up or reader.issued >= len(reader.retired) // 3 * 3 + 3)
    bench.play(host(), [*reader.processes(), *reader.watchers()])
    for n in range(beats - 1):
        first, *lost = reader.retired[3 * n:3 * n + 3]
        assert first == (0, size)
        assert all(reason != 0 and count == 0 for reason, count in lost), (n, lost)
    assert reader.retired[-3:] == [(0, size)] * 3


def test_read_after_truncated_requests():
    """A read is completed although the link went down during earlier reads, or before their completion was sent."""
    bench = Cuts(64, "shared")
    board = CardModel(bench, latency=9)
    read  = memory_read(BAR0, 16, requester=HOST, tag=5)

    def host():
        for beats in (1, None):
            for n in range(20):
                yield from bench.give("req", read, beats, 1 + n)
        yield from bench.give("req", read, bench.count(read), 30)
        yield from pause(20)
        bench.tx[0].beats.clear()
        yield from bench.give("req", read)
        yield from pause(200)

    bench.play(host(), [board.bus(), board.writes(), board.reads()])
    answer = TLP.from_beats(bench.tx[0].beats, 64, bench.endianness)
    assert (answer.tag, answer.status, answer.data) == (5, 0, bytes(CardModel.initial(n) for n in range(16)))
