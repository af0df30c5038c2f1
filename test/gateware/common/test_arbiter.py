# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Packet arbiter, whose packets stay whole with any back-pressure by test/formal/test_packets.py; rates of links."""

import random

import pytest

from litepcie_soc.common.arbiter import PacketArbiter
from litepcie_soc.common.link_rates import data_path_rate, default_clock, link_rate
from test.gateware.simulation import Watch, accept, drive, forever, simulate

LAYOUT = [("dat", 16)]


def packets_of(sink, count, rng):
    """Beats whose data hold the numbers of sink, packet and beat."""
    for packet in range(count):
        length = rng.randrange(1, 5)
        for n in range(length):
            yield dict(dat=sink << 12 | packet << 4 | n, first=int(n == 0), last=int(n == length - 1))


def run(count, packets):
    rng    = random.Random(count)
    dut    = PacketArbiter(LAYOUT, count)
    output = Watch(dut.source)
    lists  = [list(packets_of(n, packets, rng)) for n in range(count)]
    def until_done():
        while len(output.beats) < sum(len(beats) for beats in lists):
            yield
    simulate(dut, [
        *[drive(sink, beats) for sink, beats in zip(dut.sinks, lists)],
        forever(accept(dut.source)), forever(output.watch()), until_done()])
    for n, beats in enumerate(lists):
        assert [b["dat"] for b in output.beats if b["dat"] >> 12 == n] == [b["dat"] for b in beats]
    for packet in output.packets():
        assert len({beat["dat"] >> 4 for beat in packet}) == 1, "packets are mixed"
    return output


@pytest.mark.parametrize("count", [1, 5])
def test_no_idle_beat_and_fair(count):
    """While all sinks have packets, every cycle carries a beat, and the sinks are served round robin."""
    output = run(count, 30)
    cycles = [beat["cycle"] for beat in output.beats]
    assert cycles == list(range(cycles[0], cycles[0] + len(cycles)))
    turns = [packet[0]["dat"] >> 12 for packet in output.packets()]
    assert turns == [(turns[0] + n) % count for n in range(len(turns))]


@pytest.mark.parametrize("other, soon, cycles", [(0, 0, 1), (0, 1, 0), (1, 1, 1)])
def test_soon_chooses_while_nothing_is_sent(other, soon, cycles):
    """A packet that was expected leaves in its first cycle; it is expected in vain if another sink has one."""
    dut    = PacketArbiter(LAYOUT, 3)
    waited = []
    def send():
        yield [dut.source.ready.eq(1), dut.soon.eq(soon << 2)]
        for sink in dut.sinks:
            yield sink.last.eq(1)
        yield dut.sinks[1].valid.eq(other)
        yield
        yield [dut.soon.eq(0), dut.sinks[2].valid.eq(1)]
        yield
        while not (yield dut.sinks[2].ready):
            waited.append((yield dut.grant))
            yield dut.sinks[1].valid.eq(0)
            yield
    simulate(dut, [send()])
    assert len(waited) == cycles


def test_bad_count():
    with pytest.raises(ValueError, match="count 0 is not supported; give 1 or more"):
        PacketArbiter(LAYOUT, 0)


@pytest.mark.parametrize("gen, lanes, rate", [(1, 1, 250e6), (2, 4, 2e9), (3, 8, 7876.9e6)])
def test_link_rate(gen, lanes, rate):
    assert link_rate(gen, lanes) == pytest.approx(rate, rel=1e-4)
    assert data_path_rate(128, 125e6) == 2e9


@pytest.mark.parametrize("gen, lanes, data_width, clock", [
    (1, 4, 64, 125e6), (1, 8, 64, 250e6), (3, 8, 256, 250e6), (3, 8, 64, 250e6)])
def test_default_clock(gen, lanes, data_width, clock):
    assert default_clock(gen, lanes, data_width) == clock
