#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

import random

from migen import ClockDomainsRenamer, Module, Signal

from litex.soc.interconnect import stream

from litepcie_soc.phy.order import COUNT_BITS, CommittedCounter, PostedOrder

from test.gateware.simulation import Stalls, Watch, accept, drive, forever, simulate
from test.gateware.steps import pulse, wait

# Bench --------------------------------------------------------------------------------------------

class Bench(Module):
    """MSI and completions that wait for posted requests."""
    def __init__(self):
        self.submodules.order = posted = PostedOrder()
        self.msi_source = stream.Endpoint([("dat", 8)])
        self.cpl_source = stream.Endpoint([("dat", 8)])
        self.msi_sink   = posted.after_posted(self.msi_source, packets=False)
        self.cpl_sink   = posted.after_posted(self.cpl_source, packets=True)


class Requests:
    """Posted requests that are accepted and committed at random; both counts begin at `start`."""
    def __init__(self, dut, rng, start=0):
        self.dut, self.rng = dut, rng
        self.accepted = self.committed = start

    def run(self):
        while True:
            accepts = self.accepted - self.committed < 40 and self.rng.random() < 0.3
            commits = self.committed < self.accepted and self.rng.random() < 0.3
            yield self.dut.order.accepted.eq(accepts)
            yield self.dut.order.committed.eq((self.committed + commits) % 2**COUNT_BITS)
            yield
            self.accepted  += accepts
            self.committed += commits

# Tests --------------------------------------------------------------------------------------------

def test_packets_wait_for_the_requests_before_them():
    """A packet waits for the requests accepted before it, and for no later ones. Packets stay whole."""
    rng      = random.Random(1)
    dut      = Bench()
    requests = Requests(dut, rng)
    offered  = {"msi": [], "cpl": []}   # Count of accepted requests when each packet was offered.
    seen     = {"msi": [], "cpl": []}   # Count of committed requests when each packet came out.
    outputs  = {"msi": Watch(dut.msi_source, framed=False), "cpl": Watch(dut.cpl_source, name="completions")}

    def source(name, sink, beats):
        for n in range(60):
            yield from wait(rng.randrange(30))
            offered[name].append(requests.accepted)
            yield from drive(sink, [{"dat": n, "first": beat == 0, "last": beat == beats - 1} for beat in range(beats)],
                Stalls(0.2, n + 1))

    def watch():
        while True:
            for name, output in outputs.items():
                done = sum(beat["first"] for beat in output.beats)
                while len(seen[name]) < done:
                    seen[name].append(requests.committed)
            yield

    simulate(dut, [source("msi", dut.msi_sink, 1), source("cpl", dut.cpl_sink, 3), forever(requests.run()),
        forever(accept(dut.msi_source, Stalls(0.2, 3))), forever(accept(dut.cpl_source, Stalls(0.2, 4))),
        *[forever(output.watch()) for output in outputs.values()], forever(watch())])
    assert [beat["dat"] for beat in outputs["msi"].beats] == list(range(60))
    assert [beat["dat"] for beat in outputs["cpl"].beats] == [n for n in range(60) for _ in range(3)]
    for name in offered:
        late = [committed - accepted for accepted, committed in zip(offered[name], seen[name])]
        assert all(n >= -1 for n in late) and sum(late)/len(late) < 15, late
    assert requests.committed > 150


def test_counts_wrap():
    dut      = Bench()
    requests = Requests(dut, random.Random(2), start=2**COUNT_BITS - 20)
    output   = Watch(dut.msi_source, framed=False)

    def source():
        yield dut.order.committed.eq(2**COUNT_BITS - 20)
        yield dut.order.reset.eq(1)
        yield
        yield
        yield dut.order.reset.eq(0)
        for n in range(30):
            yield from drive(dut.msi_sink, [{"dat": n}])

    def later():
        yield from wait(4)
        yield from requests.run()

    simulate(dut, [source(), forever(later()), forever(accept(dut.msi_source)), forever(output.watch())], cycles=3000)
    assert requests.committed > 2**COUNT_BITS


def run_one(dut, *steps, cycles):
    output = Watch(dut.msi_source, framed=False)
    simulate(dut, [*steps, drive(dut.msi_sink, [{"dat": 5}]), forever(accept(dut.msi_source)), forever(output.watch())],
        cycles=cycles)
    return output.beats[0]["cycle"]


def test_no_wait_without_outstanding_requests():
    assert run_one(Bench(), cycles=10) < 5


def until_beats(output, count):
    while len(output.beats) < count:
        yield


def accept_requests(dut, count):
    yield dut.order.accepted.eq(1)
    yield from wait(count)
    yield dut.order.accepted.eq(0)


def test_reset_ends_the_wait_for_lost_requests():
    dut = Bench()

    def lose():
        yield from accept_requests(dut, 5)
        yield from wait(20)
        yield from pulse(dut.order.reset)

    assert 25 <= run_one(dut, lose(), cycles=100) < 35


def test_time_does_not_end_the_wait():
    """A host may withhold credits for any time; an MSI must not pass the write that waits for them."""
    dut = Bench()

    def late():
        yield from accept_requests(dut, 3)
        yield from wait(2**18 + 1000)
        yield dut.order.committed.eq(3)

    assert run_one(dut, late(), cycles=2**18 + 2000) >= 2**18 + 1000


def test_a_packet_taken_back_waits_for_the_requests_before_its_next_offer():
    dut    = Bench()
    output = Watch(dut.msi_source, framed=False)

    def offer():
        yield from accept_requests(dut, 1)
        yield dut.msi_sink.valid.eq(1)
        yield from wait(5)
        yield dut.msi_sink.valid.eq(0)
        yield from accept_requests(dut, 1)
        yield dut.msi_sink.valid.eq(1)
        yield
        yield dut.order.committed.eq(1)
        yield from wait(20)
        assert not output.beats
        yield dut.order.committed.eq(2)
        yield from until_beats(output, 1)

    simulate(dut, [offer(), forever(accept(dut.msi_source)), forever(output.watch())], cycles=100)


def test_committed_count_crosses_clocks():
    """The count in `sys` is late, never too large, and never goes down."""
    strobes = [Signal(), Signal()]
    dut     = ClockDomainsRenamer({"pcie": "sys"})(CommittedCounter(strobes))
    rng     = random.Random(3)
    total   = [0]
    seen    = []

    def strobe():
        for _ in range(400):
            values = [rng.random() < 0.5 for _ in strobes]
            for signal, value in zip(strobes, values):
                yield signal.eq(value)
            yield
            total[0] += sum(values)
            seen.append(((yield dut.count), total[0]))
        for signal in strobes:
            yield signal.eq(0)
        yield from wait(40)
        assert (yield dut.count) == total[0]

    simulate(dut, [strobe()])
    assert all(0 <= exact - told < 60 for told, exact in seen)
    assert all(after >= before for (before, _), (after, _) in zip(seen, seen[1:]))
