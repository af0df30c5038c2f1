#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The LCRC against recorded packets and against zlib."""

import random

import pytest

from litepcie_soc.phy.soft.lcrc import LCRCAppender, LCRCChecker

from test.gateware.phy.soft.packets import inverted, joined, lcrc, words
from test.gateware.simulation import Stalls, Watch, accept, drive, forever, simulate

# Sequence number, TLP, LCRC: recorded on a link of other implementations.
RECORDED = [(bytes.fromhex(packet), bytes.fromhex(crc)) for packet, crc in [
    ("0019 330000000001000000000000 00000000", "3cfca208"),
    ("001a 740000010001085000000000 00000000 71077345", "dc6c3273"),
    ("0000 040000010000000f01000000", "4fa62aff"),
    ("0014 400000010000000fa0100000 67c66973", "333f60ac"),
]]


def random_packets(count, seed=1):
    """Sequence number with TLPs of all lengths that MPS 512 allows."""
    rng     = random.Random(seed)
    lengths = [12, 16, 20, 528] + [4*rng.randrange(3, 133) for _ in range(count - 4)]
    return [rng.randbytes(2 + length) for length in lengths]


def append(packets, stalls=0.0, pauses=0.0):
    dut   = LCRCAppender()
    watch = Watch(dut.source)
    simulate(dut, [drive(dut.sink, [beat for packet in packets for beat in words(packet)], Stalls(pauses, 2)),
        forever(accept(dut.source, Stalls(stalls, 3))), forever(watch.watch()), drain(packets, watch)])
    return watch


def drain(packets, watch):
    while len(watch.packets()) < len(packets):
        for _ in range(20):
            yield


def test_vectors_are_those_of_zlib():
    assert all(lcrc(packet) == crc for packet, crc in RECORDED)


def test_appends_recorded_lcrc():
    sent = append([packet for packet, _ in RECORDED])
    assert [joined(beats) for beats in sent.packets()] == [packet + crc for packet, crc in RECORDED]


@pytest.mark.parametrize("stalls, pauses", [(0.3, 0.0), (0.3, 0.3)])
def test_appends_what_zlib_computes(stalls, pauses):
    packets = random_packets(25)
    sent    = append(packets, stalls, pauses)
    assert [joined(beats) for beats in sent.packets()] == [packet + lcrc(packet) for packet in packets]


def test_appends_without_a_gap():
    packets = random_packets(12, seed=2)
    sent    = append(packets)
    cycles  = [beat["cycle"] for beat in sent.beats]
    assert cycles == list(range(cycles[0], cycles[0] + sum(len(packet)//2 + 2 for packet in packets)))


def check(packets, gap=1):
    """(good, nullified) of each packet, which ends with its LCRC."""
    dut, results = LCRCChecker(), []

    def send():
        for packet in packets:
            for beat in words(packet):
                yield dut.valid.eq(1)
                yield dut.data.eq(beat["data"])
                yield dut.last.eq(beat["last"])
                yield
            yield dut.valid.eq(0)
            for _ in range(gap):
                yield
        for _ in range(4):
            yield

    def receive():
        while True:
            if (yield dut.done):
                results.append(((yield dut.good), (yield dut.nullified)))
            yield
    simulate(dut, [send(), forever(receive())])
    return results


@pytest.mark.parametrize("gap", [1, 5])
def test_checks_recorded_packets(gap):
    good = [packet + crc for packet, crc in RECORDED]
    null = [packet + inverted(crc) for packet, crc in RECORDED]
    assert null[0].endswith(bytes.fromhex("c3035df7"))
    assert check(good + null + good, gap) == [(1, 0)]*4 + [(0, 1)]*4 + [(1, 0)]*4


def test_finds_wrong_bits():
    rng, packets, expected = random.Random(3), [], []
    for n, packet in enumerate(random_packets(24, seed=4)):
        packet, bad = bytearray(packet + lcrc(packet)), n % 3
        for _ in range(bad):
            packet[rng.randrange(len(packet))] ^= 1 << rng.randrange(8)
        packets.append(bytes(packet))
        expected.append((int(packets[-1][-4:] == lcrc(packets[-1][:-4])), 0))
    assert expected.count((0, 0)) >= 15
    assert check(packets) == expected
