# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
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
from test.gateware.simulation import drive, simulate, through
from test.gateware.steps import send as send_beat, wait


class Loop(LiteXModule):
    """A port whose two directions are connected at the user's side."""
    def __init__(self, width, user_width, clock_domain="sys", ends="be"):
        self.sink, self.source = [stream.Endpoint(user_layout(width)) for _ in range(2)]
        channel    = StreamChannel(self.sink, self.source, Signal(), Signal())
        self.port  = StreamPort(channel, user_width, clock_domain, ends)
        self.comb += self.port.source.connect(self.port.sink)


def beats_of(packet, lanes):
    for at in range(0, len(packet), lanes):
        part = packet[at:at + lanes]
        yield dict(data=int.from_bytes(part, "little"), be=(1 << len(part)) - 1, first=at == 0,
            last=at + lanes >= len(packet))


def bytes_of_packet(beats, lanes):
    for beat in beats:
        size = beat["be"].bit_count()
        assert beat["be"] == (1 << size) - 1 and size, f"gap in byte enables of {beat}"
        assert beat["last"] or size == lanes, "partial beat within a packet"
    return b"".join(beat["data"].to_bytes(lanes, "little")[:beat["be"].bit_count()] for beat in beats)


def loop(width, user_width, packets, share=0.3, clocks=None, ends="be"):
    """Sends packets around; returns the cycles in which their beats came back."""
    dut    = Loop(width, user_width, "user" if clocks else "sys", ends)
    beats  = [beat for packet in packets for beat in beats_of(packet, width // 8)]
    output = through(dut, beats, len(packets), share, clocks=clocks)
    assert [bytes_of_packet(beats, width // 8) for beats in output.packets()] == packets
    return [beat["cycle"] for beat in output.beats]


def packets_of(lengths, seed=5):
    return [random.Random(seed).randbytes(length) for length in lengths]


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
    beats    = [{**beat, "last": beat["last"] and packet is packets[1]} for packet in packets
        for beat in beats_of(packet, width // 8)]
    def of_user():
        yield dut.source.ready.eq(1)
        while sum(map(len, got)) < user // 8 + len(packets[1]):
            yield
            if (yield dut.source.valid):
                if (yield dut.source.first):
                    got.append(b"")
                got[-1] += (yield dut.source.data).to_bytes(width // 8, "little")
    simulate(dut, {"sys": [drive(dut.sink, beats), of_user()]}, cycles=2000)
    assert got == [packets[0][:user // 8], packets[1]]


@pytest.mark.parametrize("width, user, clock, most", [
    (128,  32, None, 4.0),   # Cycles per beat of the host: four beats of the user.
    ( 64, 512, None, 1.0),
    (128,  32,  5/2, 1.7),   # A clock 2.5 times as fast makes up for most of a quarter of the width.
])
def test_no_cycle_is_lost(width, user, clock, most):
    clocks = {"sys": 100, "user": int(100 / clock)} if clock else None
    cycles = loop(width, user, packets_of([width // 8 * 200]), share=0, clocks=clocks)
    half   = cycles[len(cycles) // 2:]
    assert (half[-1] - half[0]) / (len(half) - 1) <= most


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
        yield from send_beat(dut.sink, data=value(beat, width) ^ (1 << 17 if n == changed else 0),
            be=(1 << bytes_of(beat, width)) - 1, first=n == 0 or ends(beats[n - 1]), last=ends(beat))
    yield from wait(3)


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
        yield [dut.source.ready.eq(0), dut.loop.storage.eq(0)]
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
