# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""Shapes of a PHY's streams, and the gate that holds MSIs. test/formal/test_gates.py proves the gate of TLPs."""

import pytest

from litepcie_soc.phy.gate import MSIGate
from litepcie_soc.phy.shapes import PHYShape
from litepcie_soc.phy.sim import SimPHY
from litepcie_soc.tlp.layer import TransactionLayer

from test.gateware.simulation import Stalls, TLP, Watch, accept, drive, forever, memory_read, memory_write, simulate


def test_an_msi_waits_for_bus_mastering_and_is_dropped_while_msi_is_disabled():
    dut  = MSIGate()
    seen = []
    def check():
        yield dut.sink.valid.eq(1)
        for enable, master, ready in [(e, m, r) for e in (0, 1) for m in (0, 1) for r in (0, 1)]:
            yield [dut.enable.eq(enable), dut.master.eq(master), dut.source.ready.eq(ready)]
            yield
            yield
            seen.append((enable, master, ready, (yield dut.source.valid), (yield dut.sink.ready)))
    simulate(dut, [check()])
    for enable, master, ready, valid, taken in seen:
        assert valid == (enable and master)
        assert taken == (ready if valid else not enable)


class Shared(PHYShape):
    """A `PHYShape` with its PHY inside, for the simulator; the link is up unless a test changes that."""
    def __init__(self, data_width=64):
        phy = SimPHY(data_width)
        phy.link_up.reset = 1
        PHYShape.__init__(self, phy)
        self.submodules.phy = phy


def beats(tlps, data_width=64):
    return [beat for tlp in tlps for beat in tlp.beats(data_width, "big")]


def decode(watch, data_width=64):
    return [TLP.from_beats(packet, data_width, "big") for packet in watch.packets()]


@pytest.mark.parametrize("data_width", [64, 512])
def test_completions_are_separated_from_requests(data_width):
    dut      = Shared(data_width)
    def completion(n, kind):
        return TLP(fmt=2, type=kind, length=3, byte_count=12, tag=n, data=bytes(12))
    sent     = []
    for n in range(12):
        sent += [memory_write(64*n, bytes(20)), completion(n, 0b01010 + n % 2), memory_read(64*n, 8)]
    requests = Watch(dut.req_source)
    answers  = Watch(dut.cmp_source)
    simulate(dut, [
        drive(dut.phy.source, beats(sent, data_width), Stalls(0.3, 1)),
        forever(accept(dut.req_source, Stalls(0.3, 2))), forever(accept(dut.cmp_source, Stalls(0.3, 3))),
        forever(requests.watch()), forever(answers.watch())])
    assert decode(answers, data_width) == [tlp for tlp in sent if tlp.is_completion]
    assert decode(requests, data_width) == [tlp for tlp in sent if not tlp.is_completion]


def test_requests_and_completions_share_one_stream():
    dut      = Shared()
    requests = [memory_write(64*n, bytes(40)) for n in range(20)]
    answers  = [TLP(fmt=2, type=0b01010, length=2, byte_count=8, tag=n, data=bytes(8)) for n in range(20)]
    output   = Watch(dut.phy.sink)
    def both_sent():
        yield dut.phy.link_up.eq(1)
        while len(output.packets()) < 40:
            yield
    simulate(dut, [
        drive(dut.req_sink, beats(requests), Stalls(0.2, 1)), drive(dut.cmp_sink, beats(answers), Stalls(0.2, 2)),
        forever(accept(dut.phy.sink, Stalls(0.3, 3))), forever(output.watch()), both_sent()])
    sent = decode(output)
    assert [tlp for tlp in sent if tlp.is_completion] == answers
    assert [tlp for tlp in sent if not tlp.is_completion] == requests


def test_link_lost_in_a_request_does_not_block_completions():
    dut    = Shared()
    answer = TLP(fmt=2, type=0b01010, length=2, byte_count=8, tag=1, data=bytes(8))
    output = Watch(dut.phy.sink, framed=False)
    def lose():
        yield [dut.phy.link_up.eq(1), dut.phy.sink.ready.eq(1)]
        yield from drive(dut.req_sink, beats([memory_write(0, bytes(40))])[:3])
        yield dut.phy.link_up.eq(0)
        yield
        yield
        yield dut.phy.link_up.eq(1)
        yield from drive(dut.cmp_sink, beats([answer]))
    simulate(dut, [lose(), forever(output.watch())], cycles=100)
    assert TLP.from_beats(output.beats[3:], 64, "big") == answer


def test_not_a_phy():
    with pytest.raises(ValueError, match="is not a PHY: it must have sink and source, or req_sink"):
        PHYShape(object())

def test_data_width_must_match_the_phy():
    with pytest.raises(ValueError, match="data_width 128 does not match the PHY; give 64"):
        TransactionLayer(SimPHY(64), 128, 125e6)
