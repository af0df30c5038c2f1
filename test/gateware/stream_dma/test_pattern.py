#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The pattern source sends what its description says, and the checker counts what differs from it."""

import pytest

from migen import *

from litepcie_soc.stream_dma.pattern import PatternEnds, bytes_of, ends, words

from test.gateware.simulation import full, simulate

WIDTHS = (128, 512, *full(64))


def value(beat, width):
    return sum(word << 64 * n for n, word in enumerate(words(beat, width)))


def sent(dut, width, beats, got):
    for beat in range(beats):
        yield dut.source.ready.eq(beat % 3 != 0)
        yield
        while not ((yield dut.source.valid) and (yield dut.source.ready)):
            yield dut.source.ready.eq(1)
            yield
        got.append(((yield dut.source.dat), (yield dut.source.be), (yield dut.source.last), (yield dut.source.first)))


@pytest.mark.parametrize("width", WIDTHS)
def test_source(width):
    dut, got = PatternEnds(width), []
    simulate(dut, [sent(dut, width, 600, got)])
    numbers = [beat for beat in range(600)]
    assert [beat[0] for beat in got] == [value(n, width) for n in numbers]
    assert [beat[1] for beat in got] == [(1 << bytes_of(n, width)) - 1 for n in numbers]
    assert [beat[2] for beat in got] == [int(ends(n)) for n in numbers]


def send(dut, width, beats, changed=None):
    for n, beat in enumerate(beats):
        yield dut.sink.valid.eq(1)
        yield dut.sink.dat.eq(value(beat, width) ^ (1 << 17 if n == changed else 0))
        yield dut.sink.be.eq((1 << bytes_of(beat, width)) - 1)
        yield dut.sink.first.eq(n == 0 or ends(beats[n - 1]))
        yield dut.sink.last.eq(ends(beat))
        yield
        while not (yield dut.sink.ready):
            yield
    yield dut.sink.valid.eq(0)
    yield
    yield
    yield


def counted(width, *parts, **options):
    dut, result = PatternEnds(width), []

    def run():
        for part in parts:
            yield from send(dut, width, part, **options)
        result.extend([(yield dut.beats.status), (yield dut.errors.status)])
    simulate(dut, [run()])
    return result


@pytest.mark.parametrize("width", WIDTHS)
def test_checker(width):
    assert counted(width, range(600)) == [600, 0]
    assert counted(width, range(600), changed=300) == [600, 1]


def test_checker_finds_a_gap_and_begins_again():
    beats, errors = counted(128, [*range(100), *range(101, 200)])
    assert (beats, errors) == (199, 99)
    assert counted(128, range(0x101), range(50)) == [0x101 + 50, 0]


def test_checker_finds_a_missing_end():
    def cut(dut):
        yield from send(dut, 128, range(0x100))
        yield dut.sink.valid.eq(1)
        yield dut.sink.dat.eq(value(0x100, 128))
        yield dut.sink.be.eq(1)
        yield
        while not (yield dut.sink.ready):
            yield
        yield dut.sink.valid.eq(0)
        for _ in range(3):
            yield
        assert (yield dut.errors.status) == 1
    dut = PatternEnds(128)
    simulate(dut, [cut(dut)])
