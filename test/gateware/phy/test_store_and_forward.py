#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

import random

import pytest

from litepcie_soc.phy.store_and_forward import MAX_PAYLOAD, StoreAndForward

from test.gateware.simulation import Stalls, TLP, Watch, accept, drive, forever, memory_read, memory_write, simulate


def requests(rng, count):
    longest = [memory_write(0x1_0000_0000, rng.randbytes(MAX_PAYLOAD)) for _ in range(4)]
    return longest + [memory_read(64*n, 4) if n % 3 == 0 else memory_write(0x1_0000_0000, rng.randbytes(
        rng.randrange(1, 200))) for n in range(count)]


@pytest.mark.parametrize("data_width", [128, 512])
def test_no_gap_in_a_tlp(data_width):
    """`valid` stays asserted within a TLP, although input has gaps and the output has back-pressure."""
    sent   = requests(random.Random(data_width), 60)
    dut    = StoreAndForward(data_width)
    output = Watch(dut.source, name="source")
    gaps   = []

    def watch():
        inside = False
        while True:
            valid, ready, last = (yield dut.source.valid), (yield dut.source.ready), (yield dut.source.last)
            if inside and not valid:
                gaps.append(len(output.beats))
            if valid and ready:
                inside = not last
            yield

    def until_out():
        while len(output.packets()) < len(sent):
            yield

    beats = [beat for tlp in sent for beat in tlp.beats(data_width, "big")]
    simulate(dut, [drive(dut.sink, beats, Stalls(0.5, 1)), until_out(), forever(accept(dut.source, Stalls(0.2, 2))),
        forever(output.watch()), forever(watch())], cycles=8000)
    assert [TLP.from_beats(packet, data_width, "big") for packet in output.packets()] == sent and not gaps


@pytest.mark.parametrize("data_width", [128, 512])
def test_a_beat_per_cycle(data_width):
    sent   = requests(random.Random(data_width), 60)
    dut    = StoreAndForward(data_width)
    output = Watch(dut.source, name="source")
    beats  = [beat for tlp in sent for beat in tlp.beats(data_width, "big")]

    def until_out():
        while len(output.beats) < len(beats):
            yield

    simulate(dut, [drive(dut.sink, beats), until_out(), forever(accept(dut.source)), forever(output.watch())],
        cycles=4000)
    longest = max(len(packet) for packet in output.packets())
    assert output.beats[-1]["cycle"] <= len(beats) + longest + 4


def test_truncated_tlps_are_dropped():
    """Truncated TLPs, also of one beat, are dropped; the TLPs around them pass."""
    sent   = requests(random.Random(3), 40)
    dut    = StoreAndForward(128)
    output = Watch(dut.source, name="source")

    def card():
        for n, tlp in enumerate(sent):
            beats = list(tlp.beats(128, "big"))
            if n % 3 == 1:
                yield dut.cut.eq(1)
                beats = [*beats[:-1], {"dat": 0, "be": 0, "first": 0, "last": 1}] if len(beats) > 1 else beats
            yield from drive(dut.sink, beats)
            yield dut.cut.eq(0)
        for _ in range(100):
            yield

    simulate(dut, [card(), forever(accept(dut.source, Stalls(0.2, 2))), forever(output.watch())], cycles=4000)
    whole = [tlp for n, tlp in enumerate(sent) if n % 3 != 1]
    assert [TLP.from_beats(packet, 128, "big") for packet in output.packets()] == whole
