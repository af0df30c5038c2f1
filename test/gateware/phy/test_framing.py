# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""TLPs that begin in the beat in which the one before them ends."""

import random

import pytest

from litepcie_soc.phy.framing import StraddleAligner

from test.gateware.simulation import Stalls, TLP, Watch, accept, forever, memory_read, memory_write, simulate


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
            yield [dut.sink.valid.eq(1), dut.sink.dat.eq(dat), dut.sof.eq(sof), dut.eof.eq(eof)]
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
        raw.drive(dut, Stalls(share, 1)), forever(accept(dut.source, Stalls(share, 2))), forever(output.watch())])
    assert [TLP.from_beats(packet, 128, "big") for packet in output.packets()] == sent
    assert straddle == 0 or sum(sof == 0b11000 for _, sof, _ in raw.beats) > 10
    if not share:   # One beat per cycle, and one extra cycle for each straddling TLP that ends at dword 2 or 3.
        ends_high = sum(eof in (0b11011, 0b11111) for _, _, eof in raw.beats)
        assert output.beats[-1]["cycle"] <= len(raw.beats) + ends_high + 2
