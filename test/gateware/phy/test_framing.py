#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""TLPs in the streams of the hard blocks: start, straddling, gaps, headers."""

import random

from dataclasses import replace

import pytest

from litepcie_soc.phy.framing import StartOfTLP, StraddleAligner
from litepcie_soc.phy.headers import FourDwordHeaders
from litepcie_soc.phy.store_and_forward import MAX_PAYLOAD, StoreAndForward

from test.gateware.simulation import Stalls, TLP, Watch, accept, drive, forever, memory_read, memory_write, simulate

# Start --------------------------------------------------------------------------------------------

def test_first_follows_last():
    data_width = 256
    rng    = random.Random(1)
    sent   = [memory_write(64*n, bytes(rng.randrange(1, 100))) if n % 3 else memory_read(n, 8) for n in range(40)]
    dut    = StartOfTLP(data_width)
    output = Watch(dut.source, name="source")
    beats  = [{**beat, "first": 0} for tlp in sent for beat in tlp.beats(data_width, "big")]
    simulate(dut, [
        drive(dut.sink, beats, Stalls(0.3, 1)), forever(accept(dut.source, Stalls(0.3, 2))), forever(output.watch()),
    ])
    assert [TLP.from_beats(packet, data_width, "big") for packet in output.packets()] == sent

# Straddle -----------------------------------------------------------------------------------------

class RawBlock:
    """Beats of the 128-bit receive interface of the 7-series hard block.

    A TLP begins at dword 0. If the previous TLP ends in the lower half of a beat, it may begin at dword 2 of that beat;
    `straddle` is the probability of this.
    """
    def __init__(self, tlps, straddle, rng):
        self.beats = []                 # [dat, sof, eof]
        for tlp in tlps:
            self.add(tlp.dwords("big"), rng.random() < straddle)

    def add(self, dwords, straddle):
        lane = 0
        if straddle and self.beats and self.beats[-1][2] in (0b10011, 0b10111):
            lane = 2
            self.beats[-1][1] = 0b11000
        else:
            self.beats.append([0xdead << 96, 0b10000, 0b01111])
        for n, dword in enumerate(dwords):
            if n and (lane + n) % 4 == 0:
                self.beats.append([0xdead << 96, 0, 0b01111])
            beat    = self.beats[-1]
            place   = 32*((lane + n) % 4)
            beat[0] = beat[0] & ~(0xffffffff << place) | dword << place
        self.beats[-1][2] = 0b10011 | (lane + len(dwords) - 1) % 4 << 2

    def drive(self, dut, stalls):
        for dat, sof, eof in self.beats:
            while stalls.next():
                yield dut.sink.valid.eq(0)
                yield
            yield dut.sink.valid.eq(1)
            yield dut.sink.dat.eq(dat)
            yield dut.sof.eq(sof)
            yield dut.eof.eq(eof)
            yield
            while not (yield dut.sink.ready):
                yield
        yield dut.sink.valid.eq(0)
        yield


def completions(rng, count):
    return [TLP(fmt=2, type=0b01010, length=length, byte_count=4*length, tag=n, data=rng.randbytes(4*length))
        for n in range(count) for length in [rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 14, 15, 16, 17, 18, 32])]]


@pytest.mark.parametrize("straddle", [0, 0.7, 1])
@pytest.mark.parametrize("share", [0, 0.3])
def test_straddled_tlps(straddle, share):
    rng    = random.Random(int(10*straddle))
    sent   = completions(rng, 150) + [memory_write(0x1000, bytes(range(40))), memory_read(0, 4)]
    raw    = RawBlock(sent, straddle, rng)
    dut    = StraddleAligner()
    output = Watch(dut.source, name="source", framed=False)
    simulate(dut, [
        raw.drive(dut, Stalls(share, 1)), forever(accept(dut.source, Stalls(share, 2))), forever(output.watch()),
    ])
    assert [TLP.from_beats(packet, 128, "big") for packet in output.packets()] == sent
    assert straddle == 0 or sum(sof == 0b11000 for _, sof, _ in raw.beats) > 10
    if not share:   # One beat per cycle, and one extra cycle for each straddling TLP that ends at dword 2 or 3.
        ends_high = sum(eof in (0b11011, 0b11111) for _, _, eof in raw.beats)
        assert output.beats[-1]["cycle"] <= len(raw.beats) + ends_high + 2


def requests(rng, count):
    longest = [memory_write(0x1_0000_0000, rng.randbytes(MAX_PAYLOAD)) for _ in range(4)]
    return longest + [memory_read(64*n, 4) if n % 3 == 0 else memory_write(0x1_0000_0000, rng.randbytes(
        rng.randrange(1, 200))) for n in range(count)]


@pytest.mark.parametrize("data_width", [128, 512])
def test_a_beat_per_cycle(data_width):
    """With the buffer's own size, and TLPs of the longest payload; test/formal/test_gates.py proves the rest."""
    sent   = requests(random.Random(data_width), 60)
    dut    = StoreAndForward(data_width)
    output = Watch(dut.source, name="source")
    beats  = [beat for tlp in sent for beat in tlp.beats(data_width, "big")]

    def until_out():
        while len(output.beats) < len(beats):
            yield

    simulate(dut, [drive(dut.sink, beats), until_out(), forever(accept(dut.source)), forever(output.watch())],
        cycles=4000)
    assert [TLP.from_beats(packet, data_width, "big") for packet in output.packets()] == sent
    longest = max(len(packet) for packet in output.packets())
    assert output.beats[-1]["cycle"] <= len(beats) + longest + 4

# Headers of Four Dwords ---------------------------------------------------------------------------

def all_requests(rng):
    made = []
    for base in (0x1000, 0x7_0000_1000):
        for length in (*range(1, 70), 128, 256):
            made += [memory_write(base + rng.randrange(4), rng.randbytes(length)), memory_read(base, length)]
    rng.shuffle(made)
    return made


def dwords(beats, data_width):
    """The enabled dwords of a packet, which must not have gaps."""
    enabled = [beat["dat"] >> 32*n & 0xffffffff if beat["be"] >> 4*n & 15 == 15 else None
        for beat in beats for n in range(data_width//32)]
    assert all(beat["be"] == 2**(data_width//8) - 1 for beat in beats[:-1])
    count = enabled.index(None) if None in enabled else len(enabled)
    assert enabled[count:] == [None]*(len(enabled) - count)
    return enabled[:count]


def run(data_width, sent, share):
    dut     = FourDwordHeaders(data_width)
    output  = Watch(dut.source, name="source")
    taken   = Watch(dut.sink, name="sink")
    beats   = [beat for tlp in sent for beat in tlp.beats(data_width, "little")]
    simulate(dut, [
        drive(dut.sink, beats, Stalls(share, 1)), forever(accept(dut.source, Stalls(share, 2))),
        forever(output.watch()), forever(taken.watch()),
    ], cycles=40000)
    packets = output.packets()
    wanted  = [replace(tlp, fmt=tlp.fmt | 1).dwords("little") for tlp in sent]
    assert [dwords(packet, data_width) for packet in packets] == wanted
    # The sink accepts the last beat of a TLP together with the last beat at the source.
    assert [packet[-1]["cycle"] for packet in taken.packets()] == [packet[-1]["cycle"] for packet in packets]
    return output


@pytest.mark.parametrize("data_width", [128, 256, 512])
def test_every_length_with_stalls(data_width):
    run(data_width, all_requests(random.Random(data_width)), 0.3)


def test_four_dword_headers_take_a_beat_per_cycle():
    output = run(256, all_requests(random.Random(1)), 0)
    cycles = [beat["cycle"] for beat in output.beats]
    assert cycles == list(range(cycles[0], cycles[0] + len(cycles)))


def test_too_narrow():
    with pytest.raises(ValueError, match="data_width 64 is not supported here; choose 128, 256 or 512"):
        FourDwordHeaders(64)
