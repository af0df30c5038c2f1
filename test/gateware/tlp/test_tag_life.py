# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A tag is used again only when no completion of its request can come; TLPs that the loss of the link cuts."""

from types import SimpleNamespace

import pytest

from litepcie_soc.common.pcie import REASON_BUS_MASTER, REASON_NONE, REASON_TIMEOUT
from test.gateware.simulation import TLP, Stalls, Watch, accept, forever, memory_read, memory_write, simulate
from test.gateware.steps import send, wait
from test.gateware.tlp.bench import Bench, Reader
from test.gateware.tlp.host import CARD, HOST, Host
from test.gateware.tlp.test_completer import BAR0, WINDOW, CardModel
from test.gateware.tlp.test_read_errors import errors

SIZE = 256


def make(*, tags=8, count=40, size=SIZE, timeout_us=640, pause=0.0, **options):
    bench  = Bench(64, host=Host(split=64, latency=60), timeout_us=timeout_us, **options)
    port   = bench.layer.add_read_port("port", tags)
    reader = Reader(port, [(0x10000 + size*n, size, size*n) for n in range(count)], Stalls(), Stalls(pause, 7))
    return bench, reader


def until(condition):
    while not condition():
        yield


def reasons(reader):
    return [reason for reason, _ in reader.retired]


def test_error_completion_ends_the_quarantine():
    """A completion with an error status is the last one of its request, also after the timeout."""
    bench, reader = make(count=60, pause=0.8, timeout_us=320)
    host      = bench.host
    host.hold = lambda tlp: len(host.reads) <= 1
    def late():
        yield from until(lambda: reader.retired)
        tag = host.reads[0].tag
        bad = host.held[tag][0]
        host.held[tag] = [type(bad)(fmt=0, type=bad.type, requester=bad.requester, tag=tag, status=1,
            byte_count=bad.byte_count, lower_address=bad.lower_address)]
        yield from host.let_go(tag)
    bench.run([reader], [late()])
    assert reasons(reader) == [REASON_TIMEOUT] + [REASON_NONE]*59
    assert bench.errors == errors(timeout=1, unexpected=1)
    assert host.reads[0].tag in [tlp.tag for tlp in host.reads[1:]]


# Rules: TXN.2.7#1
def test_quarantine_ends():
    """A tag whose completions never come is used again after the quarantine, and not before."""
    # All other tags are in flight, so a tag that is free is the next one.
    bench, reader = make(tags=32, count=350, size=16, quarantine_us=1024, timeout_us=320, buffer_blocks=1000)
    host      = bench.host
    host.hold = lambda tlp: len(host.reads) <= 1
    times     = {}
    def watch():
        yield from until(lambda: reader.retired)
        ended = host.cycle
        tag   = host.reads[0].tag
        yield from until(lambda: host.cycle - ended > 1000)
        assert tag not in [tlp.tag for tlp in host.reads[1:]]
        del host.held[tag]
        yield from until(lambda: tag in [tlp.tag for tlp in host.reads[1:]])
        times["again"] = host.cycle - ended
    bench.run([reader], [watch()])
    assert reasons(reader) == [REASON_TIMEOUT] + [REASON_NONE]*349
    assert 1000 < times["again"] <= 1024*9//8 + 100


class Closed(Stalls):
    """The PHY does not accept in some cycles of the host's clock."""
    def __init__(self, host, begin, end):
        Stalls.__init__(self, 1.0)
        self.host, self.begin, self.end = host, begin, end

    def next(self):
        return self.begin <= self.host.cycle < self.end


def test_no_timeout_while_the_phy_does_not_accept():
    """The PHY does not accept for three timeouts. No request ends before it was sent, no tag is on the link twice."""
    bench, reader = make(tags=4, count=10, timeout_us=320)
    bench.tx_stalls = Closed(bench.host, 150, 1200)
    bench.run([reader])
    assert reasons(reader) == [REASON_NONE]*10
    assert bench.errors == errors()
    assert len(bench.host.reads) == 10


def test_lost_requests_end_together(lost=30):
    """All requests that are older than the timeout end together, not one timeout after another."""
    bench, reader = make(tags=lost, count=lost, buffer_blocks=1000, timeout_us=1600)
    bench.host.answer = lambda tlp, completions: []
    bench.run([reader], extended_tag=1, cycles=8000)
    assert reasons(reader) == [REASON_TIMEOUT]*lost
    assert reader.cycles[-1] - reader.cycles[0] < 300 + 100
    assert 1600 <= reader.cycles[0] <= 2100
    assert bench.errors == errors(timeout=lost)


@pytest.mark.parametrize("what", ["tags", "room"])
def test_no_hang_when_quarantine_leaves_nothing(what):
    """Requests end at once when quarantine leaves no tag, or not enough room. After the completions came they succeed
    again."""
    bench, reader = make(tags=32, count=80, pause=0.95, timeout_us=1600, buffer_blocks=1000 if what == "tags" else 20)
    host      = bench.host
    lost      = 32 if what == "tags" else 5
    host.hold = lambda tlp: len(host.reads) <= lost
    took      = []
    def late():
        yield from until(lambda: len(reader.retired) >= lost)
        since = host.cycle
        yield from until(lambda: len(reader.retired) >= lost + 20)
        took.append(host.cycle - since)
        for tag in list(host.held):
            yield from host.let_go(tag)
    bench.run([reader], [late()])
    assert took[0] < 20*60
    assert reasons(reader)[:lost + 20] == [REASON_TIMEOUT]*(lost + 20)
    assert reasons(reader)[-10:] == [REASON_NONE]*10
    assert len(reader.retired) == 80
    assert bench.errors["unexpected"] == 4*lost


def test_abandon():
    """While `abandon` is asserted every request ends at once, also those that wait for the PHY. The tags of requests
    that were sent are not used again before their completions came."""
    bench, reader = make(tags=8, count=45, timeout_us=2**26)
    host      = bench.host
    host.hold = lambda tlp: len(host.reads) <= 8
    bench.tx_stalls = Closed(host, 130, 1400)
    drained = []
    stop    = []
    reader.request_stalls = SimpleNamespace(next=lambda: reader.issued >= 20 and len(stop) == 1)
    def reset():
        yield from wait(400)
        stop.append(1)
        yield bench.layer.abandon.eq(1)
        yield from wait(200)
        for _ in range(300):
            drained.append((yield bench.layer.drained))
            yield
        yield bench.layer.abandon.eq(0)
        stop.append(1)
        yield from wait(1400)
        for tag in list(host.held):
            yield from host.let_go(tag)
    bench.run([reader], [reset()])
    assert sum(drained) > 250
    assert set(reasons(reader)) <= {REASON_BUS_MASTER, REASON_NONE}
    assert reader.retired[0] == (REASON_BUS_MASTER, 0)
    assert reasons(reader)[-15:] == [REASON_NONE]*15
    assert bench.errors["timeout"] == 0


def test_loss_of_the_link_frees_all_tags():
    """After the link was down, all requests have ended with REASON_BUS_MASTER and every tag can be used, those in
    quarantine too."""
    bench, reader = make(tags=32, count=80, timeout_us=1200, buffer_blocks=1000)
    host      = bench.host
    host.hold = lambda tlp: len(host.reads) <= 32
    def link():
        yield from until(lambda: len(host.reads) == 32)
        yield from wait(600)    # The timeout of the first ones passes.
        yield bench.phy.link_up.eq(0)
        host.held.clear()
        yield from wait(3)
        yield bench.phy.link_up.eq(1)
    reader.request_stalls = Stalls(0.95, 3)
    bench.run([reader], [link()])
    assert {REASON_TIMEOUT, REASON_BUS_MASTER} <= set(reasons(reader)[:32])
    assert reasons(reader)[-45:] == [REASON_NONE]*45
    assert len({tlp.tag for tlp in host.reads[32:]}) == 32
    assert len(reader.retired) == 80


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
            if n == beats:  # The data of this beat is driven but never becomes valid.
                yield [getattr(sink, name).eq(value) for name, value in beat.items()]
                break
            yield from send(sink, **beat)
        if beats is not None:
            self.up = False
            yield self.phy.link_up.eq(0)
            yield from wait(down)
            yield self.phy.link_up.eq(1)
            self.up = True
        yield

    def play(self, process, others=(), cycles=20000):
        def setup():
            yield [self.phy.id.eq(CARD), self.phy.link_up.eq(1), self.phy.bus_master_enable.eq(1),
                self.layer.timeout_us.eq(self.timeout_us)]
            yield
        def main():
            yield from setup()
            yield from process
        simulate(self, [main(), *[forever(accept(sink)) for sink in self.sinks],
            *[forever(watch.watch()) for watch in self.tx], *map(forever, others)], cycles=cycles)

    def count(self, tlp):
        return len(list(tlp.beats(self.data_width, self.endianness)))


@pytest.mark.parametrize("data_width, shape, down", [(64, "shared", 1), (128, "split", 40)])
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
            yield from wait(200)
    bench.play(host(), [board.bus(), board.writes(), board.reads()])
    # Registers and window hold all of the write that follows, and of the truncated write only bytes that arrived.
    for n in range(1, bench.count(memory_write(BAR0, data))):
        arrived = 4 * max(0, n * data_width // 32 - 3)
        for space in (board.registers, board.memory):
            written = {at - 0x1000 * n: byte for at, byte in space.items() if at // 0x1000 == n}
            assert bytes(written.pop(0x800 + k) for k in range(8)) == done
            assert all(k < arrived and data[k] == byte for k, byte in written.items()), (n, written)


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
        yield from wait(20)
        bench.tx[0].beats.clear()
        yield from bench.give("req", read)
        yield from wait(200)
    bench.play(host(), [board.bus(), board.writes(), board.reads()])
    answer = TLP.from_beats(bench.tx[0].beats, 64, bench.endianness)
    assert (answer.tag, answer.status, answer.data) == (5, 0, bytes(CardModel.initial(n) for n in range(16)))
