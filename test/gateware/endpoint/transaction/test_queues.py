# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Queues of the card's TLPs, and the entrance that waits for credits."""

import random

import pytest

from litepcie_soc.endpoint.data_link.flow_control import CreditEntrance
from litepcie_soc.endpoint.transaction.queues import TransmitQueues
from test.gateware.endpoint.bench import completion, memory_read, memory_write, of_kind, random_tlps
from test.gateware.endpoint.packets import joined, words
from test.gateware.endpoint.partner import CPL, NP, P, kind_of, units_of
from test.gateware.simulation import Stalls, Watch, accept, drive, forever, simulate
from test.gateware.steps import pulse, wait

def take(source, order, stalls, has_credits):
    """Takes the TLPs of one type, and notes the order of all."""
    beats = []
    while True:
        inside = bool(beats)
        # A TLP that has begun is taken word by word, as the data link layer does.
        yield source.ready.eq(inside or (has_credits() and not stalls.next()))
        yield
        if (yield source.valid) and (yield source.ready):
            beats.append(dict(data=(yield source.data)))
            if (yield source.last):
                order.append(joined(beats))
                beats = []
        else:
            assert not inside or not (yield source.ready), "a cycle without a word in a TLP"


def run(tlps, stalls=0.0, credits_after=0):
    """The order in which TLPs leave; non-posted ones have credits when so many others have left."""
    dut, order = TransmitQueues(), []
    def wait_for_all():
        while len(order) < len(tlps):
            yield
    simulate(dut, [wait_for_all(), *map(forever, [*(take(source, order, Stalls(stalls, kind),
            lambda kind=kind: kind != NP or len(order) >= credits_after) for kind, source in enumerate(dut.sources)),
        drive(dut.sink, [beat for tlp in tlps for beat in words(tlp)], Stalls(stalls, 7))])], cycles=40000)
    return order


# Rules: 2.4.1
@pytest.mark.parametrize("seed", range(2))
def test_keeps_the_order_of_each_type_and_passes_no_posted_request(seed):
    rng   = random.Random(seed)
    tlps  = random_tlps(rng, 120)
    order = run(tlps, 0.3*seed)
    assert sorted(order) == sorted(tlps)
    for kind in (P, NP, CPL):
        assert of_kind(order, kind) == of_kind(tlps, kind)
    before = {tlp: len(of_kind(tlps[:n], P)) for n, tlp in enumerate(tlps)}
    for n, tlp in enumerate(order):
        assert kind_of(tlp) == P or len(of_kind(order[:n], P)) >= before[tlp]


# Rules: 2.4.1
def test_reads_without_credits_hold_nothing_back():
    rng  = random.Random(1)
    tlps = [memory_read(rng, wide=True) for _ in range(32)] + [memory_write(rng, 32), completion(rng, 4)]
    assert run(tlps, credits_after=2) == tlps[32:] + tlps[:32]


def limits(dut, headers, data, signal):
    """A limit of the partner."""
    yield [dut.header_fc.eq(headers), dut.data_fc.eq(data)]
    yield from pulse(signal)
    yield


def granted(dut):
    """Grants every request in the next cycle."""
    while True:
        yield dut.grant.eq(0)
        if (yield dut.request) and not (yield dut.grant):
            yield dut.grant.eq(1)
        yield


def enter(tlps, script, at_once=False):
    """What passed after ``script``, a function of (dut, watch). ``at_once``: each request is granted in its cycle."""
    dut   = CreditEntrance()
    watch = Watch(dut.source)
    if at_once:
        dut.comb += dut.grant.eq(dut.request)
    grants = [] if at_once else [granted(dut)]
    simulate(dut, [script(dut, watch)] + [forever(part) for part in (*grants, accept(dut.source), watch.watch(),
        drive(dut.sink, [beat for tlp in tlps for beat in words(tlp)]))], cycles=200000)
    return [joined(beats) for beats in watch.packets()]


# Rules: 2.6.1
@pytest.mark.parametrize("dwords", [1, 4, 5, pytest.param(32, marks=pytest.mark.full), 255, 256,
    pytest.param(1023, marks=pytest.mark.full), 1024])
def test_a_tlp_passes_with_its_last_credit(dwords):
    tlp  = memory_write(random.Random(dwords), dwords, wide=bool(dwords & 1))
    need = units_of(tlp)
    assert need == (dwords + 3)//4
    def script(dut, watch):
        yield from limits(dut, 100, max(1, need - 1), dut.record)
        yield from wait(20)
        if need > 1:
            assert not (yield dut.request) and not watch.beats
            yield from limits(dut, 100, need, dut.update)
        while not watch.packets():
            yield
    assert enter([tlp], script) == [tlp]


def test_fewest_credits_that_a_tlp_left():
    tlps = [memory_write(random.Random(n), 8) for n in range(3)]
    def script(dut, watch):
        gate = dut.gate
        assert (yield gate.header.fewest) == 0xff and (yield gate.data.fewest) == 0xfff
        yield from limits(dut, 2, 20, dut.record)
        while len(watch.packets()) < 2:
            yield
        assert (yield gate.header.fewest) == 0 and (yield gate.data.fewest) == 16
        yield from limits(dut, 12, 40, dut.update)
        while len(watch.packets()) < 3:
            yield
        assert (yield gate.header.fewest) == 0 and (yield gate.data.fewest) == 16
        for pool in (gate.header, gate.data):
            yield from pulse(pool.forget)
        yield
        assert (yield gate.header.fewest) == 0xff and not (yield gate.data.infinite)
    assert enter(tlps, script) == tlps


@pytest.mark.parametrize("largest", [0, 32, 64])
def test_credits_for_the_longest_tlp(largest):
    """While there is no TLP. Those that a TLP has taken count."""
    tlps = [memory_write(random.Random(1), 8)]
    def ready(dut, headers, data):
        yield from limits(dut, headers, data, dut.update)
        yield from wait(6)
        return (yield dut.ready) and (yield dut.idle)
    def script(dut, watch):
        yield dut.largest.eq(largest)
        yield from limits(dut, 1, 2, dut.record)
        while not watch.packets():
            yield
        for headers, units, wanted in ((1, 99, 0), (2, 1 + largest//4, 0), (2, 2 + largest//4, 1), (9, 99, 1)):
            assert (yield from ready(dut, headers, units)) == wanted, (headers, units)
    assert enter(tlps, script) == tlps


def test_discards_what_has_no_grant():
    """The second read has no credit, and the others come too early; the one that was granted passes whole."""
    rng  = random.Random(5)
    tlps = [memory_read(rng, wide=bool(n % 2)) for n in range(5)]
    def script(dut, watch):
        yield from limits(dut, 1, 100, dut.record)
        while not watch.beats:
            yield
        yield dut.discard.eq(1)
        yield from wait(100)
        assert (yield dut.idle) and len(watch.packets()) == 1
        yield dut.discard.eq(0)
        yield from limits(dut, 3, 100, dut.update)
        yield from drive(dut.sink, [beat for tlp in late for beat in words(tlp)])
        yield from wait(100)
        assert not (yield dut.request)
    late = [memory_read(rng) for _ in range(2)]
    assert enter(tlps, script, at_once=True) == tlps[:1] + late


@pytest.mark.full
def test_discards_a_tlp_or_passes_it_whole():
    """`discard` comes at every moment around the grant."""
    tlps, passed = [memory_read(random.Random(1), wide=True)], []
    for cycles in range(16):
        def script(dut, watch, cycles=cycles):
            yield from limits(dut, 1, 100, dut.record)
            yield from wait(cycles)
            yield dut.discard.eq(1)
            yield from wait(60)
            assert (yield dut.idle) and not (yield dut.source.valid)
        passed.append(enter(tlps, script, at_once=True))
    early = passed.index(tlps)
    assert 0 < early < 15 and passed == [[]]*early + [tlps]*(16 - early)
