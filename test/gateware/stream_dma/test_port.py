#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The user's ports of a stream, and the pattern source and checker."""

import random

import pytest

from migen import *

from litex.gen import *
from litex.soc.interconnect import stream

from litepcie_soc.stream_dma.engine import StreamChannel
from litepcie_soc.stream_dma.pattern import StreamEnds, bytes_of, ends, words
from litepcie_soc.stream_dma.port import StreamPort
from litepcie_soc.stream_dma.ram import user_layout

from test.gateware.simulation import Stalls, simulate

# Device under Test --------------------------------------------------------------------------------


class Loop(LiteXModule):
    """A port whose two directions are connected at the user's side."""
    def __init__(self, width, user_width, clock_domain="sys", ends="be"):
        self.to_user   = stream.Endpoint(user_layout(width))
        self.from_user = stream.Endpoint(user_layout(width))
        self.port      = StreamPort(StreamChannel(self.to_user, self.from_user, Signal(), Signal()), user_width,
            clock_domain, ends)
        self.comb     += self.port.source.connect(self.port.sink)


def beats_of(packet, lanes):
    for at in range(0, len(packet), lanes):
        part = packet[at:at + lanes]
        yield (int.from_bytes(part, "little"), (1 << len(part)) - 1, at == 0, at + lanes >= len(packet))


def give(dut, packets, stalls):
    end, lanes = dut.to_user, len(dut.to_user.be)
    for packet in packets:
        for dat, be, first, last in beats_of(packet, lanes):
            while stalls.next():
                yield
            for signal, value in ((end.valid, 1), (end.data, dat), (end.be, be), (end.first, first), (end.last, last)):
                yield signal.eq(value)
            yield
            while not (yield end.ready):
                yield
            yield end.valid.eq(0)


def take(dut, count, stalls, got, cycles=None):
    end, lanes, packet, now = dut.from_user, len(dut.from_user.be), bytearray(), 0
    while len(got) < count:
        yield end.ready.eq(not stalls.next())
        yield
        now += 1
        if not ((yield end.valid) and (yield end.ready)):
            continue
        be, last = (yield end.be), (yield end.last)
        size     = be.bit_count()
        assert be == (1 << size) - 1 and size, f"gap in byte enables {be:#x}"
        assert last or size == lanes, "partial beat within a packet"
        assert (yield end.first) == (not packet), "first"
        packet += (yield end.data).to_bytes(lanes, "little")[:size]
        if cycles is not None:
            cycles.append(now)
        if last:
            got.append(bytes(packet))
            packet.clear()


def loop(width, user_width, packets, share=0.3, clocks=None, cycles=None, ends="be"):
    dut, got   = Loop(width, user_width, "user" if clocks else "sys", ends), []
    generators = [give(dut, packets, Stalls(share, 1)), take(dut, len(packets), Stalls(share, 2), got, cycles)]
    simulate(dut, {"sys": generators}, clocks=clocks or {"sys": 10}, cycles=200000)
    assert got == packets


def packets_of(lengths, seed=5):
    return [random.Random(seed).randbytes(length) for length in lengths]

# Packets ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width, user", [(128, 8), (64, 512)])
def test_each_length_keeps_its_bytes_and_its_end(width, user):
    longest = max(width, user) // 8
    loop(width, user, packets_of([*range(1, 2*longest + 2)] if longest < 64 else [1, 2, 7, 8, 9, 63, 64, 65, 127, 129]))


def test_another_clock():
    """The periods have no common multiple near: edges of the two clocks meet at any distance."""
    loop(128, 32, packets_of([1, 3, 16, 17, 64, 5, 200, 16]), clocks={"sys": 10, "user": 6})


@pytest.mark.parametrize("user", [32, 256])
def test_the_mark_of_liteeth(user):
    loop(128, user, packets_of([1, 4, 5, 16, 17, 31, 32, 33]), ends="last_be")

@pytest.mark.parametrize("width, user", [(64, 128), (128, 512)])
def test_a_cut_packet_does_not_lead_the_next_one(width, user):
    """A reset of the reader ends a packet without ``last``: a wider port drops what it has of an unfinished beat."""
    dut, got = Loop(width, user), []
    packets  = packets_of([user // 8 + width // 8, 3*user // 8])

    def to_user():
        for packet, lasts in zip(packets, (False, True)):
            for dat, be, first, last in beats_of(packet, width // 8):
                values = {"valid": 1, "data": dat, "be": be, "first": first, "last": last and lasts}
                for name, value in values.items():
                    yield getattr(dut.to_user, name).eq(value)
                yield
                while not (yield dut.to_user.ready):
                    yield
        yield dut.to_user.valid.eq(0)

    def of_user():
        yield dut.from_user.ready.eq(1)
        while sum(map(len, got)) < user // 8 + len(packets[1]):
            yield
            if (yield dut.from_user.valid):
                if (yield dut.from_user.first):
                    got.append(b"")
                got[-1] += (yield dut.from_user.data).to_bytes(width // 8, "little")

    simulate(dut, {"sys": [to_user(), of_user()]}, cycles=2000)
    assert got == [packets[0][:user // 8], packets[1]]

# Rate ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width, user, clock, most", [
    (128,  32, None, 4.0),   # Cycles per beat of the host: four beats of the user.
    ( 64, 512, None, 1.0),
    (128,  32,  5/2, 1.7),   # A clock 2.5 times as fast makes up for most of a quarter of the width.
])
def test_no_cycle_is_lost(width, user, clock, most):
    cycles = []
    clocks = {"sys": 100, "user": int(100 / clock)} if clock else None
    loop(width, user, packets_of([width // 8 * 200]), share=0, clocks=clocks, cycles=cycles)
    half = cycles[len(cycles) // 2:]
    assert (half[-1] - half[0]) / (len(half) - 1) <= most

# Refusals and LiteX's cores ------------------------------------------------------------------------


@pytest.mark.parametrize("width", [4, 24, 1024, "32"])
def test_a_width_that_is_not_supported(width):
    channel = StreamChannel(*[stream.Endpoint(user_layout(128)) for _ in range(2)], Signal(), Signal())
    with pytest.raises(ValueError, match="choose 8, 16, 32, 64, 128, 256 or 512"):
        StreamPort(channel, width)
    with pytest.raises(ValueError, match="ends 'keep' of a stream is not supported; choose be or last_be"):
        StreamPort(channel, 32, ends="keep")


def value(beat, width):
    return sum(word << 64 * n for n, word in enumerate(words(beat, width)))


def sent(dut, beats, got):
    for beat in range(beats):
        yield dut.source.ready.eq(beat % 3 != 0)
        yield
        while not ((yield dut.source.valid) and (yield dut.source.ready)):
            yield dut.source.ready.eq(1)
            yield
        got.append(((yield dut.source.data), (yield dut.source.be), (yield dut.source.last)))


@pytest.mark.parametrize("width", (128, 512))
def test_source(width):
    dut, got = StreamEnds(width), []
    simulate(dut, [sent(dut, 600, got)])
    assert got == [(value(n, width), (1 << bytes_of(n, width)) - 1, ends(n)) for n in range(600)]


def send(dut, width, beats, changed=None):
    for n, beat in enumerate(beats):
        yield dut.sink.valid.eq(1)
        yield dut.sink.data.eq(value(beat, width) ^ (1 << 17 if n == changed else 0))
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
    dut, result = StreamEnds(width), []

    def run():
        for part in parts:
            yield from send(dut, width, part, **options)
        result.extend([(yield dut.beats.status), (yield dut.errors.status)])
    simulate(dut, [run()])
    return result


def test_checker(width=128):
    assert counted(width, range(600)) == [600, 0]
    assert counted(width, range(600), changed=300) == [600, 1]


def test_loop_that_a_register_switches():
    """Beats come back unchanged and count nowhere; then the pattern goes on, and what was in the loop is gone."""
    dut, got = StreamEnds(128, loop=True), []

    def host():
        yield from send(dut, 128, range(200, 204))
        for _ in range(3):
            yield dut.source.ready.eq(1)
            yield
            got.append((yield dut.source.data))
        yield dut.source.ready.eq(0)
        yield dut.loop.storage.eq(0)
        yield
        yield
        got.append((yield dut.source.data))
        yield from send(dut, 128, range(5))
        got.extend([(yield dut.beats.status), (yield dut.errors.status)])
        yield dut.loop.storage.eq(1)
        yield
        yield
        got.append((yield dut.source.valid))
    simulate(dut, [host()])
    assert got == [*(value(n, 128) for n in (200, 201, 202, 0)), 5, 0, 0]


def test_checker_finds_a_gap_and_begins_again():
    beats, errors = counted(128, [*range(100), *range(101, 200)])
    assert (beats, errors) == (199, 99)
    assert counted(128, range(0x101), range(50)) == [0x101 + 50, 0]
