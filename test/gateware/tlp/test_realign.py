#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

import random

import pytest

from litepcie_soc.tlp.realign import Realigner

from test.gateware.simulation import Stalls, Watch, accept, drive, forever, simulate

# Model --------------------------------------------------------------------------------------------

def beats_of(packet, lanes, lane_bits, rng):
    """Input beats of a packet; lanes outside the packet carry random data."""
    in_offset, out_offset, data, ident = packet
    total = -(-(in_offset + len(data))//lanes)
    cells = [rng.getrandbits(lane_bits) for _ in range(total*lanes)]
    cells[in_offset:in_offset + len(data)] = data
    for n in range(total):
        word = 0
        for lane in range(lanes):
            word |= cells[n*lanes + lane] << (lane_bits*lane)
        yield dict(dat=word, first=int(n == 0), last=int(n == total - 1), amount=(out_offset - in_offset) % lanes,
            start=out_offset, end=(out_offset + len(data) - 1) % lanes, ident=ident)


def check_output(packet, beats, lanes, lane_bits):
    _, out_offset, data, ident = packet
    assert len(beats) == -(-(out_offset + len(data))//lanes)
    got = []
    for n, beat in enumerate(beats):
        assert beat["ident"] == ident
        assert beat["first"] == (n == 0)
        for lane in range(lanes):
            enabled = out_offset <= n*lanes + lane < out_offset + len(data)
            assert (beat["be"] >> lane) & 1 == enabled
            if enabled:
                got.append((beat["dat"] >> (lane_bits*lane)) & (2**lane_bits - 1))
    assert got == data


def no_first_output(packet):
    """The first beat wraps completely, so it produces no output."""
    return packet[1] < packet[0]


def has_flush(packet, lanes):
    in_offset, out_offset, data, _ = packet
    return (out_offset + len(data) - 1) % lanes < (out_offset - in_offset) % lanes


def make_packets(data_width, lane_bits, offsets, lengths, rng):
    packets = []
    for in_offset, out_offset in offsets:
        for length in lengths:
            data = [rng.getrandbits(lane_bits) for _ in range(length)]
            packets.append((in_offset, out_offset, data, len(packets) % 256))
    rng.shuffle(packets)
    return packets


def run(data_width, lane_bits, packets, share):
    rng    = random.Random(2)
    lanes  = data_width//lane_bits
    dut    = Realigner(data_width, lane_bits=lane_bits, param_layout=[("ident", 8)])
    output = Watch(dut.source, name="source")
    beats  = [beat for packet in packets for beat in beats_of(packet, lanes, lane_bits, rng)]

    def until_done():
        while sum(beat["last"] for beat in output.beats) < len(packets):
            yield

    simulate(dut, [
        drive(dut.sink, beats, Stalls(share, 3)),
        forever(accept(dut.source, Stalls(share, 4))),
        forever(output.watch()),
        until_done(),
    ], cycles=10*len(beats) + 100)
    received = output.packets()
    assert len(received) == len(packets)
    for packet, beats_out in zip(packets, received):
        check_output(packet, beats_out, lanes, lane_bits)
    return beats, output

# Tests --------------------------------------------------------------------------------------------

def every_pair(lanes):
    return [(i, o) for i in range(lanes) for o in range(lanes)]


def some_pairs(lanes, count):
    rng   = random.Random(5)
    edges = [(i, o) for i in (0, 1, lanes - 1) for o in (0, 1, lanes - 1)]
    return edges + [(rng.randrange(lanes), rng.randrange(lanes)) for _ in range(count)]


SWEEPS = [
    ( 64,  8, every_pair(8),       [1, 2, 7, 8, 9, 15, 16, 17, 24, 31]),
    (128,  8, some_pairs(16, 100), [1, 15, 16, 17, 33]),
    (256,  8, some_pairs(32,  60), [1, 31, 32, 33, 65]),
    (512,  8, some_pairs(64,  60), [1, 63, 64, 65, 129]),
    ( 64, 32, every_pair(2),       [1, 2, 3, 4, 5, 6, 7]),
    (256, 32, every_pair(8),       [1, 7, 8, 9, 17]),
]


def test_stalls():
    width, lane_bits, offsets, lengths = SWEEPS[0]
    run(width, lane_bits, make_packets(width, lane_bits, offsets, lengths, random.Random(1)), 0.3)


@pytest.mark.parametrize("data_width, lane_bits, offsets, lengths", SWEEPS,
    ids=[f"{s[0]}-{s[1]}" for s in SWEEPS])
def test_sweep_at_full_rate(data_width, lane_bits, offsets, lengths):
    """Exact cycle count: a flush takes an extra cycle unless the next packet's first beat produces no output."""
    packets = make_packets(data_width, lane_bits, offsets, lengths, random.Random(6))
    lanes   = data_width//lane_bits
    beats, output = run(data_width, lane_bits, packets, 0)
    extra   = sum(has_flush(a, lanes) and not no_first_output(b) for a, b in zip(packets, packets[1:]))
    first   = no_first_output(packets[0])
    final   = has_flush(packets[-1], lanes)
    expect  = len(beats) + extra - first + final
    assert output.beats[-1]["cycle"] - output.beats[0]["cycle"] + 1 == expect


@pytest.mark.parametrize("options, message", [
    (dict(data_width=96),               "data_width .* is not supported; choose 64, 128, 256 or 512"),
    (dict(data_width=64, lane_bits=16), "lane_bits 16 is not supported; choose 8 or 32"),
])
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        Realigner(**options)
