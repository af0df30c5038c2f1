#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Credits for TLPs of all lengths, and the entrance that waits for them."""

import random

import pytest

from litepcie_soc.phy.soft.credits import CreditEntrance

from test.gateware.phy.soft.bench import memory_read, memory_write
from test.gateware.phy.soft.packets import joined, words
from test.gateware.phy.soft.partner import units_of
from test.gateware.simulation import Watch, accept, drive, forever, simulate


def limits(dut, headers, data, pulse):
    """A limit of the partner."""
    yield dut.header_fc.eq(headers)
    yield dut.data_fc.eq(data)
    yield pulse.eq(1)
    yield
    yield pulse.eq(0)
    yield


def granted(dut):
    """Grants every request in the next cycle."""
    while True:
        yield dut.grant.eq(0)
        if (yield dut.request) and not (yield dut.grant):
            yield dut.grant.eq(1)
        yield


def run(tlps, script, at_once=False):
    """What passed after ``script``, a function of (dut, watch). ``at_once``: each request is granted in its cycle."""
    dut   = CreditEntrance()
    watch = Watch(dut.source)
    if at_once:
        dut.comb += dut.grant.eq(dut.request)
    grants = [] if at_once else [granted(dut)]
    simulate(dut, [script(dut, watch)] + [forever(part) for part in (*grants, accept(dut.source), watch.watch(),
        drive(dut.sink, [beat for tlp in tlps for beat in words(tlp)]))], cycles=200000)
    return [joined(beats) for beats in watch.packets()]


@pytest.mark.parametrize("dwords", [1, 4, 5, pytest.param(32, marks=pytest.mark.full), 255, 256,
    pytest.param(1023, marks=pytest.mark.full), 1024])
def test_a_tlp_passes_with_its_last_credit(dwords):
    tlp  = memory_write(random.Random(dwords), dwords, wide=bool(dwords & 1))
    need = units_of(tlp)
    assert need == (dwords + 3)//4

    def script(dut, watch):
        yield from limits(dut, 100, max(1, need - 1), dut.record)
        for _ in range(20):
            yield
        if need > 1:
            assert not (yield dut.request) and not watch.beats
            yield from limits(dut, 100, need, dut.update)
        while not watch.packets():
            yield
    assert run([tlp], script) == [tlp]


@pytest.mark.full
def test_headers_and_data_wrap():
    rng  = random.Random(1)
    tlps = [memory_write(rng, 4*17) if n % 2 else memory_read(rng) for n in range(600)]

    def script(dut, watch):
        headers, data = 4, 40
        yield from limits(dut, headers, data, dut.record)
        while len(watch.packets()) < len(tlps):
            passed = watch.packets()
            assert len(passed) <= headers and sum(units_of(joined(beats)) for beats in passed) <= data
            headers, data = len(passed) + 4, sum(units_of(joined(beats)) for beats in passed) + 40
            yield from limits(dut, headers % 256, data % 4096, dut.update)
            for _ in range(100):
                yield
    assert run(tlps, script) == tlps
    assert sum(map(units_of, tlps)) > 4096


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
            yield pool.forget.eq(1)
            yield
            yield pool.forget.eq(0)
        yield
        assert (yield gate.header.fewest) == 0xff and not (yield gate.data.infinite)
    assert run(tlps, script) == tlps


@pytest.mark.parametrize("largest", [0, 32, 64])
def test_credits_for_the_longest_tlp(largest):
    """While there is no TLP. Those that a TLP has taken count."""
    tlps = [memory_write(random.Random(1), 8)]

    def ready(dut, headers, data):
        yield from limits(dut, headers, data, dut.update)
        for _ in range(6):
            yield
        return (yield dut.ready) and (yield dut.idle)

    def script(dut, watch):
        yield dut.largest.eq(largest)
        yield from limits(dut, 1, 2, dut.record)
        while not watch.packets():
            yield
        for headers, units, wanted in ((1, 99, 0), (2, 1 + largest//4, 0), (2, 2 + largest//4, 1), (9, 99, 1)):
            assert (yield from ready(dut, headers, units)) == wanted, (headers, units)
    assert run(tlps, script) == tlps


def test_discards_what_has_no_grant():
    """The second read has no credit, and the others come too early; the one that was granted passes whole."""
    rng  = random.Random(5)
    tlps = [memory_read(rng, wide=bool(n % 2)) for n in range(5)]

    def script(dut, watch):
        yield from limits(dut, 1, 100, dut.record)
        while not watch.beats:
            yield
        yield dut.discard.eq(1)
        for _ in range(100):
            yield
        assert (yield dut.idle) and len(watch.packets()) == 1
        yield dut.discard.eq(0)
        yield from limits(dut, 3, 100, dut.update)
        yield from drive(dut.sink, [beat for tlp in late for beat in words(tlp)])
        for _ in range(100):
            yield
        assert not (yield dut.request)
    late = [memory_read(rng) for _ in range(2)]
    assert run(tlps, script, at_once=True) == tlps[:1] + late


def test_discards_a_tlp_or_passes_it_whole():
    """`discard` comes at every moment around the grant."""
    tlps, passed = [memory_read(random.Random(1), wide=True)], []
    for cycles in range(16):
        def script(dut, watch, cycles=cycles):
            yield from limits(dut, 1, 100, dut.record)
            for _ in range(cycles):
                yield
            yield dut.discard.eq(1)
            for _ in range(60):
                yield
            assert (yield dut.idle) and not (yield dut.source.valid)
        passed.append(run(tlps, script, at_once=True))
    early = passed.index(tlps)
    assert 0 < early < 15 and passed == [[]]*early + [tlps]*(16 - early)
