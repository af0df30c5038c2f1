#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The link goes down and up at random moments. Only whole TLPs pass the gate, and truncated TLPs get an end. An MSI
waits for bus mastering."""

import random

import pytest

from litepcie_soc.phy.gate import LinkGate, MSIGate

from test.gateware.simulation import Stalls, accept, forever, memory_write, simulate

WIDTH = 64


def packets(count, seed):
    """TLPs as lists of beats; `dat` of the first two beats identifies the TLP."""
    rng = random.Random(seed)
    return [list(memory_write(0x1000 * n, bytes(4 * rng.randrange(1, 12))).beats(WIDTH, "big")) for n in range(count)]


def host(dut, tlps, abandons, rng):
    """Sends TLPs while the link goes down and up. With `abandons`, a TLP that is interrupted is never completed."""
    yield dut.link_up.eq(1)
    for tlp in tlps:
        down = rng.randrange(len(tlp)) if rng.random() < 0.5 else None
        for n, beat in enumerate(tlp):
            if n == down:
                yield dut.link_up.eq(0)
                if abandons:
                    yield dut.sink.valid.eq(0)
                    for _ in range(rng.choice((1, 2, 9))):
                        yield
                    yield dut.link_up.eq(1)
                    break
            yield dut.sink.valid.eq(1)
            for name, value in beat.items():
                yield getattr(dut.sink, name).eq(value)
            yield
            while not (yield dut.sink.ready):
                yield
            yield dut.sink.valid.eq(0)
        yield dut.link_up.eq(1)
    for _ in range(20):
        yield


def watch(dut, beats):
    """Records the beats that are accepted at the source, with `cut`."""
    while True:
        if (yield dut.source.valid) and (yield dut.source.ready):
            beat = {"cut": (yield dut.cut)}
            for name in ("first", "last", "dat"):
                beat[name] = yield getattr(dut.source, name)
            beats.append(beat)
        yield


@pytest.mark.parametrize("abandons", [False, True], ids=["completes", "abandons"])
@pytest.mark.parametrize("stall", [0, 0.5])
def test_every_tlp_has_an_end(abandons, stall):
    sent = packets(120, seed=3)
    dut, beats = LinkGate(WIDTH, ends=True), []
    simulate(dut, [host(dut, sent, abandons, random.Random(4)), forever(accept(dut.source, Stalls(stall, 5))),
        forever(watch(dut, beats))])
    came, whole, cut = {}, 0, 0
    for tlp in sent:
        came[tlp[0]["dat"], tlp[1]["dat"]] = tlp
    at = 0
    while at < len(beats):
        end = next(n for n in range(at, len(beats)) if beats[n]["last"])
        tlp = beats[at:end + 1]
        assert [beat["first"] for beat in tlp] == [1] + [0] * (len(tlp) - 1)
        cut += tlp[-1]["cut"]
        whole += not tlp[-1]["cut"]
        if not tlp[-1]["cut"]:
            assert [beat["dat"] for beat in tlp] == [beat["dat"] for beat in came[tlp[0]["dat"], tlp[1]["dat"]]]
        at = end + 1
    assert cut > 20 and whole > 40


def test_no_back_pressure_while_the_link_is_down():
    """On the card's side, the gate accepts and drops all beats, and later the rest of the TLP that was truncated."""
    dut, beats = LinkGate(WIDTH), []
    first, second, third = packets(3, seed=1)

    def card():
        yield dut.link_up.eq(1)
        yield dut.source.ready.eq(1)
        for n, beat in enumerate(first + second + third):
            if n == 2:
                yield dut.link_up.eq(0)
                yield dut.source.ready.eq(0)
            if n == len(first) + 1:
                yield dut.link_up.eq(1)
                yield dut.source.ready.eq(1)
            yield dut.sink.valid.eq(1)
            for name, value in beat.items():
                yield getattr(dut.sink, name).eq(value)
            yield
            assert (yield dut.sink.ready)
        yield dut.sink.valid.eq(0)
        yield
        yield

    simulate(dut, [card(), forever(watch(dut, beats))])
    assert [beat["dat"] for beat in beats] == [beat["dat"] for beat in first[:2] + third]


def test_an_msi_waits_for_bus_mastering_and_is_dropped_while_msi_is_disabled():
    dut  = MSIGate()
    seen = []

    def check():
        yield dut.sink.valid.eq(1)
        for enable, master, ready in [(e, m, r) for e in (0, 1) for m in (0, 1) for r in (0, 1)]:
            yield dut.enable.eq(enable)
            yield dut.master.eq(master)
            yield dut.source.ready.eq(ready)
            yield
            yield
            seen.append((enable, master, ready, (yield dut.source.valid), (yield dut.sink.ready)))

    simulate(dut, [check()])
    for enable, master, ready, valid, taken in seen:
        assert valid == (enable and master)
        assert taken == (ready if valid else not enable)
