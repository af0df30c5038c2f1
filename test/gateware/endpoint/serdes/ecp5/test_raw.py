# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Raw mode: 8b/10b in the fabric, the alignment of received words, and the gearing between clocks."""

import random

import pytest
from migen import *
from litex.gen import *

from litepcie_soc.endpoint.serdes.ecp5.coded import ReceiveGear, TransmitGear
from litepcie_soc.endpoint.serdes.ecp5.raw import CONTROL, DRAIN, RawReceiver, RawTransmitter, codes, encode
from test.gateware.simulation import simulate
from test.gateware.steps import wait

COM = 0x1bc


def coded(symbols, disparity=0):
    """Returns the code words of symbols."""
    words = []
    for symbol in symbols:
        word, disparity = encode(symbol & 0xff, symbol >> 8, disparity)
        words.append(word)
    return words


def test_words_that_exist():
    """Of 1024 words, those of 256 data and 12 control symbols at both disparities, some of which are equal."""
    assert len(codes()) == 2*(256 + 12)
    assert encode(0xbc, 1, 0) == (0x17c, 1) and encode(0xbc, 1, 1) == (0x283, 0)


def received(words, shift, invert=0, flipped=()):
    """Returns the symbols that the receiver makes of code words which begin at any bit, None for wrong ones."""
    bits = [0]*shift + [word >> n & 1 for word in words for n in range(10)]
    for n in flipped:
        bits[n] ^= 1
    bits = bits[:len(bits) // 20 * 20]
    dut, got = RawReceiver(), []
    def drive():
        yield dut.invert.eq(invert)
        yield from wait(6)
        for n in range(0, len(bits), 20):
            yield dut.bus.eq(sum((bit ^ invert) << place + 2*(place >= 10) for place, bit in enumerate(bits[n:n + 20])))
            yield
            data, k, error = (yield dut.data), (yield dut.k), (yield dut.error)
            for half in range(2):
                got.append(None if error >> half & 1 else data >> 8*half & 0xff | (k >> half & 1) << 8)
    simulate(dut, {"pcie_rx": [drive()]}, clocks={"pcie_rx": 10})
    return got


def lined_up(got, sent):
    """Returns where the received symbols begin among the sent ones, and asserts that no other follow."""
    first = got.index(COM)
    start = next(n for n in range(60) if sent[n:n + 100] == got[first:first + 100])
    assert got[first:] == sent[start:start + len(got) - first]
    return start


@pytest.mark.parametrize("shift, invert", [(shift, shift % 2) for shift in range(20)])
def test_finds_the_comma_at_any_bit(trace, shift, invert):
    begin = trace["down_scrambled"].index(COM)
    words = coded(trace["down_scrambled"][begin:begin + 240])
    lined_up(received(words, shift, invert), trace["down_scrambled"][begin:])


def test_each_wrong_bit_is_seen_and_costs_no_alignment(trace):
    """A wrong bit is a wrong word, or a wrong disparity some symbols later."""
    begin = trace["down_scrambled"].index(COM)
    sent  = trace["down_scrambled"][begin:]
    words = coded(sent[:200])
    clean = received(words, 3)
    for bit in range(1503, 1513, 3):
        got   = received(words, 3, flipped=[bit])
        wrong = [n for n, (one, other) in enumerate(zip(got, clean, strict=True)) if one != other]
        assert None in got[wrong[0]:] and got[wrong[0] + 40:] == clean[wrong[0] + 40:]
    assert lined_up(clean, sent) >= 0


def test_the_alignment_changes_after_a_slip(trace):
    """The data of TS1 are valid one bit later, too, so it is the comma that shows it."""
    begin = trace["down_scrambled"].index(COM)
    sent  = trace["down_scrambled"][begin:begin + 120]
    words = coded(sent)
    # One bit too many in the middle: as if the lane had slipped.
    bits  = [word >> n & 1 for word in words for n in range(10)]
    later = bits + [0] + bits + bits
    moved = [sum(bit << n for n, bit in enumerate(later[at:at + 10])) for at in range(0, len(later) - 9, 10)]
    got   = received(moved, 0)
    again = got[len(sent) + 100:]
    assert got[len(sent):len(sent) + 100].count(None) >= 3
    assert None not in again and any(again[-40:] == sent[m:m + 40] for m in range(80))


def test_sends_words_and_asks_for_idle_after_the_last_one():
    """Every symbol at each disparity, some in both halves: the words of our tables are those of LiteX."""
    every   = [*range(256), *(0x100 | data for data in sorted(CONTROL))]
    rng     = random.Random(1)
    symbols = [symbol for _ in range(8) for symbol in rng.sample(every, len(every))]
    dut, words, quiet = RawTransmitter(), [], []
    def drive():
        for low, high in zip(symbols[::2], symbols[1::2]):
            yield [dut.data.eq(low & 0xff | (high & 0xff) << 8), dut.k.eq(low >> 8 | high >> 8 << 1)]
            yield
            bus = yield dut.bus
            words.extend([bus & 0x3ff, bus >> 12 & 0x3ff])
        yield dut.idle.eq(3)
        for _ in range(DRAIN + 4):
            yield
            quiet.append((yield dut.quiet))
        yield dut.idle.eq(0)
        yield
        yield
        yield
        quiet.append((yield dut.quiet))
    simulate(dut, {"pcie": [drive()]}, clocks={"pcie": 10})
    first = next(n for n, word in enumerate(words) if word in (encode(symbols[0] & 0xff, symbols[0] >> 8, disparity)[0]
        for disparity in (0, 1)))
    disparity = 0 if words[first] == encode(symbols[0] & 0xff, symbols[0] >> 8, 0)[0] else 1
    assert words[first:] == coded(symbols, disparity)[:len(words) - first]
    assert quiet.index(1) >= DRAIN and quiet[-2:] == [1, 0] and quiet == sorted(quiet[:-1]) + [0]


REST = 0x800


class Sender(LiteXModule):
    """The gear and its reset, which both clock domains have."""
    def __init__(self):
        self.reset     = Signal()
        self.cd_pcie   = ClockDomain()
        self.cd_symbol = ClockDomain()
        self.gear      = TransmitGear(12, REST)

        # # #

        self.comb += [self.cd_pcie.rst.eq(self.reset), self.cd_symbol.rst.eq(self.reset)]


@pytest.mark.parametrize("phase", range(0, 40, 10))
def test_every_half_leaves_once_and_in_order(phase):
    dut, got = Sender(), []
    def feed():
        for n in range(200):
            yield [dut.reset.eq(n < 4 or 100 <= n < 108), dut.gear.sink.eq(2*n & 0x3ff | (2*n + 1 & 0x3ff) << 12)]
            yield
    def watch():
        for _ in range(390):
            got.append((yield dut.gear.source))
            yield
    simulate(dut, {"pcie": [feed()], "symbol": [watch()]}, clocks={"pcie": (80, phase), "symbol": 40})
    # Two stretches, before and after the second reset, each without a gap.
    runs = [[]]
    for half in got:
        if half == REST:
            runs += [[]] if runs[-1] else []
        else:
            runs[-1].append(half)
    runs = [run for run in runs if run]
    assert len(runs) == 2 and min(map(len, runs)) > 150
    for run in runs:
        assert run[0] % 2 == 0 and run == list(range(run[0], run[0] + len(run)))


def test_two_halves_are_a_word_in_every_second_cycle():
    dut, got = ReceiveGear(12), []
    def drive():
        for n in range(100):
            yield dut.sink.eq(n)
            yield
            if (yield dut.valid):
                got.append((yield dut.source))
    simulate(dut, {"pcie_rx": [drive()]}, clocks={"pcie_rx": 10})
    halves = [half for word in got[2:] for half in (word & 0xfff, word >> 12)]
    assert len(got) == 50 and halves == list(range(halves[0], halves[0] + len(halves)))
