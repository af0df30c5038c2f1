# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""The realigner loses no cycle. That it keeps bytes, with dwords and back-pressure: test/formal/test_packets.py."""

import random

import pytest

from litepcie_soc.tlp.realign import Realigner
from test.gateware.simulation import through


def beats_of(packet, lanes, rng):
    """Input beats of a packet; lanes outside the packet carry random data."""
    in_offset, out_offset, data, ident = packet
    total = -(-(in_offset + len(data))//lanes)
    cells = [rng.getrandbits(8) for _ in range(total*lanes)]
    cells[in_offset:in_offset + len(data)] = data
    for n in range(total):
        word = 0
        for lane in range(lanes):
            word |= cells[n*lanes + lane] << 8*lane
        yield dict(dat=word, first=int(n == 0), last=int(n == total - 1), amount=(out_offset - in_offset) % lanes,
            start=out_offset, end=(out_offset + len(data) - 1) % lanes, ident=ident)


def check_output(packet, beats, lanes):
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
                got.append(beat["dat"] >> 8*lane & 0xff)
    assert got == data


def no_first_output(packet):
    """The first beat wraps completely, so it produces no output."""
    return packet[1] < packet[0]


def has_flush(packet, lanes):
    in_offset, out_offset, data, _ = packet
    return (out_offset + len(data) - 1) % lanes < (out_offset - in_offset) % lanes


def run(data_width, packets):
    rng    = random.Random(2)
    lanes  = data_width//8
    dut    = Realigner(data_width, param_layout=[("ident", 8)])
    beats  = [beat for packet in packets for beat in beats_of(packet, lanes, rng)]
    output = through(dut, beats, len(packets))
    for packet, beats_out in zip(packets, output.packets(), strict=True):
        check_output(packet, beats_out, lanes)
    return beats, output


@pytest.mark.parametrize("width, count, lengths", [(64, 64, [1, 2, 7, 8, 9, 17, 31]), (512, 60, [1, 63, 64, 65, 129])])
def test_full_rate(width, count, lengths):
    """Exact cycle count: a flush takes an extra cycle unless the next packet's first beat produces no output."""
    rng, lanes = random.Random(6), width//8
    pairs      = rng.sample([(i, o) for i in range(lanes) for o in range(lanes)], count)
    packets    = [(*pair, [rng.getrandbits(8) for _ in range(length)], rng.randrange(256))
        for pair in pairs for length in lengths]
    rng.shuffle(packets)
    beats, output = run(width, packets)
    extra   = sum(has_flush(a, lanes) and not no_first_output(b) for a, b in zip(packets, packets[1:]))
    first   = no_first_output(packets[0])
    final   = has_flush(packets[-1], lanes)
    expect  = len(beats) + extra - first + final
    assert output.beats[-1]["cycle"] - output.beats[0]["cycle"] + 1 == expect


@pytest.mark.parametrize("options, message", [
    (dict(data_width=96),               "data_width .* is not supported; choose 64, 128, 256 or 512"),
    (dict(data_width=64, lane_bits=16), "lane_bits 16 is not supported; choose 8 or 32")])
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        Realigner(**options)
