#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Queues of the card's TLPs: whole TLPs, the order between types, and what passes what waits."""

import random

import pytest

from litepcie_soc.phy.soft.queues import TransmitQueues

from test.gateware.phy.soft.bench   import completion, memory_read, memory_write, of_kind, random_tlps
from test.gateware.phy.soft.packets import joined, words
from test.gateware.phy.soft.partner import CPL, NP, P, kind_of
from test.gateware.simulation       import Stalls, drive, forever, simulate

READ = bytes([0x00, 0, 0, 1]) + bytes(8)


class Out:
    """Takes the TLPs of one type, and notes the order of all."""

    def __init__(self, source, order, stalls):
        self.source, self.order, self.stalls, self.open = source, order, stalls, True

    def run(self):
        beats, inside = [], False
        while True:
            taken = (yield self.source.valid) and (yield self.source.ready)
            if taken:
                beats.append(dict(data=(yield self.source.data)))
                if (yield self.source.last):
                    self.order.append(joined(beats))
                    beats = []
            elif inside and (yield self.source.ready):
                raise AssertionError("a cycle without a word in a TLP")
            inside = bool(beats)
            # A TLP that has begun is taken word by word, as the data link layer does.
            yield self.source.ready.eq(inside or (self.open and not self.stalls.next()))
            yield


def run(tlps, script=None, stalls=0.0, cycles=40000):
    """The order in which TLPs leave. ``script(dut, outs, order)`` replaces the wait for all."""
    dut, order = TransmitQueues(), []
    outs       = [Out(source, order, Stalls(stalls, seed)) for seed, source in enumerate(dut.sources)]

    def wait(dut, outs, order):
        while len(order) < len(tlps):
            yield
    parts = [out.run() for out in outs] + [
        drive(dut.sink, [beat for tlp in tlps for beat in words(tlp)], Stalls(stalls, 7))]
    simulate(dut, [(script or wait)(dut, outs, order), *map(forever, parts)], cycles=cycles)
    return order


@pytest.mark.parametrize("seed", range(4))
def test_keeps_the_order_of_each_type_and_passes_no_posted_request(seed):
    rng   = random.Random(seed)
    tlps  = random_tlps(rng, 120)
    order = run(tlps, stalls=0.3*(seed % 2))
    assert sorted(order) == sorted(tlps)
    for kind in (P, NP, CPL):
        assert of_kind(order, kind) == of_kind(tlps, kind)
    before = {tlp: len(of_kind(tlps[:n], P)) for n, tlp in enumerate(tlps)}
    for n, tlp in enumerate(order):
        assert kind_of(tlp) == P or len(of_kind(order[:n], P)) >= before[tlp]


def test_reads_without_credits_hold_nothing_back():
    rng  = random.Random(1)
    tlps = [memory_read(rng, wide=True) for _ in range(32)] + [memory_write(rng, 32), completion(rng, 4)]

    def script(dut, outs, order):
        outs[NP].open = False
        while len(order) < 2:
            yield
        outs[NP].open = True
        while len(order) < len(tlps):
            yield
    assert run(tlps, script) == tlps[32:] + tlps[:32]


def test_completions_and_reads_wait_for_the_write_before_them():
    rng  = random.Random(2)
    tlps = [memory_write(rng, 32), completion(rng, 1), READ]

    def script(dut, outs, order):
        outs[P].open = False
        for _ in range(400):
            yield
        assert not order
        outs[P].open = True
        while len(order) < len(tlps):
            yield
    assert run(tlps, script)[0] == tlps[0]
