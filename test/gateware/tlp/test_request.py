# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""Rates and long TLPs; short ones at every width and endianness: test/formal/test_request.py."""

import random

import pytest

from litepcie_soc.common.pcie import first_byte_lane
from litepcie_soc.tlp.request import RequestBuilder
from test.gateware.simulation import TLP, byte_enables, through, written_bytes

REQUESTER = 0x0308


def write_beats(address, data, data_width, port=0, attributes=0):
    """A write packet in the lanes of the TLP; header lanes are zero, as docs/contracts/transaction-layer.md says."""
    lane  = first_byte_lane(16 if address >> 32 else 12, address, data_width)
    step  = data_width//8
    bytes_ = bytes(lane) + data
    count = -(-len(bytes_)//step)
    for n in range(count):
        yield dict(dat=int.from_bytes(bytes_[n*step:(n + 1)*step], "little"), first=int(n == 0),
            last=int(n == count - 1), address=address, length=len(data), read=0, tag=0, port=port,
            attributes=attributes)


def read_beats(address, length, tag, attributes=0):
    return [dict(dat=0, first=1, last=1, address=address, length=length, read=1, tag=tag, port=0,
        attributes=attributes)]


def requests(rng, lengths):
    """(address, data or length, None or tag) of writes or reads at every byte alignment, below and above 4 GiB."""
    made = []
    for base in (0x0000_1000, 0xffff_f000, 0x1_0000_0000, 0x89ab_cdef_0000_2000):
        for offset in range(4):
            for length in lengths:
                made.append((base + offset, bytes(rng.randrange(256) for _ in range(length)), None))
                made.append((base + offset, length, rng.randrange(256)))
    rng.shuffle(made)
    return made


def check(request, tlp):
    address, what, tag = request
    length = what if tag is not None else len(what)
    first_be, last_be, dwords = byte_enables(address, length)
    assert tlp.type == 0
    assert tlp.fmt == (0 if tag is not None else 2) | (1 if address >> 32 else 0)
    assert (tlp.first_be, tlp.last_be, tlp.length) == (first_be, last_be, dwords)
    assert (tlp.address, tlp.requester) == (address & ~3, REQUESTER)
    assert (tlp.tc, tlp.ep, tlp.td) == (0, 0, 0)
    if tag is not None:
        assert tlp.tag == tag
    else:
        assert written_bytes(tlp) == {address + n: byte for n, byte in enumerate(what)}


def run(data_width, endianness, made, share, allowed=3, **options):
    dut    = RequestBuilder(data_width, endianness)
    sent   = []
    beats  = []
    for n, (address, what, tag) in enumerate(made):
        beats += read_beats(address, what, tag, **options) if tag is not None else \
            write_beats(address, what, data_width, port=n % 16, **options)
    def watch_sent():
        yield [dut.requester.eq(REQUESTER), dut.enable.eq(1), dut.link_up.eq(1), dut.allowed.eq(allowed)]
        cycle = 0
        while True:
            value = (yield dut.sent)
            if value:
                assert not (yield dut.dropped)
                sent.append((cycle, value.bit_length() - 1))
            cycle += 1
            yield
    packets = through(dut, beats, len(made), share, [watch_sent()]).packets()
    tlps    = [TLP.from_beats(packet, data_width, endianness) for packet in packets]
    for request, tlp in zip(made, tlps, strict=True):
        check(request, tlp)
    assert sent == [(packet[-1]["cycle"] + 1, n % 16) for n, packet in enumerate(packets) if made[n][2] is None]
    return packets, tlps


def test_round_trip_with_stalls():
    longest = [(0x1000, bytes(range(256))*16, None), (0x2000, 4096, 3)]
    run(128, "little", requests(random.Random(1), (1, 2, 3, 4, 5, 8, 33)) + longest, 0.3)


@pytest.mark.parametrize("data_width", [64, 128, 512])
def test_no_idle_beat_between_tlps(data_width):
    packets, _ = run(data_width, "big", requests(random.Random(2), (1, 4, 9, 64, 129)), 0)
    beats = [beat["cycle"] for packet in packets for beat in packet]
    assert beats == list(range(beats[0], beats[0] + len(beats)))


@pytest.mark.parametrize("attributes, allowed", [(3, 1), (3, 2), (1, 3)])
def test_attributes(attributes, allowed):
    made = [(0x1000, b"abc", None), (0x1000, 3, 1)]
    _, tlps = run(64, "big", made, 0, allowed=allowed, attributes=attributes)
    assert [tlp.attr for tlp in tlps] == [attributes & allowed]*2
