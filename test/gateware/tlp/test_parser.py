# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

import random
from dataclasses import replace

import pytest

from litepcie_soc.tlp.parser import Parser
from test.gateware.simulation import (TLP, WIDTHS, Watch, accept, drive, forever, memory_read, memory_write,
    pattern, read_completions, simulate, through)


def tlps(rng):
    made = []
    for base in (0x12345000, 0x7_12345000):
        for offset in range(4):
            for length in (0, 1, 3, 4, 5, 8, 15, 16, 17, 31, 33, 64, 129):
                data = bytes(rng.randrange(256) for _ in range(length))
                made.append(memory_write(base + offset, data, tag=len(made) % 256) if length else
                    memory_read(base + offset, length, tag=len(made) % 256))
                made.append(memory_read(base + offset, length, requester=0x0100, tag=len(made) % 256))
    for length in (1, 4, 6, 64, 70, 1024):
        made += read_completions(memory_read(0x1003, length, tag=length % 256), pattern, split=64)
    made.append(TLP(fmt=0b000, type=0b01010, status=1, byte_count=4, tag=9))                # Cpl, UR
    made.append(TLP(fmt=0b001, type=0b10100, requester=0x0100, first_be=0x9, last_be=0x1))  # Msg
    made.append(memory_write(0x4000, bytes(4096)))                                          # length field 0
    # With a digest, which is dropped, even if it takes an extra beat.
    made += [replace(tlp, td=1) for tlp in made[:100]]
    rng.shuffle(made)
    return made


def check(tlp, beats, data_width):
    header = tlp.dwords("little")[:tlp.header_bytes//4]
    for beat in beats:
        assert [beat[f"dw{n}"] for n in range(len(header))] == header
    lanes = data_width//8
    if not tlp.data:
        assert len(beats) == 1
        return
    got  = b"".join(beat["dat"].to_bytes(lanes, "little") for beat in beats)
    lane = tlp.header_bytes % lanes
    assert got[lane:lane + len(tlp.data)] == tlp.data
    assert len(beats) == -(-(lane + len(tlp.data))//lanes)


def run(data_width, endianness, sent, share):
    dut    = Parser(data_width, endianness)
    beats  = [beat for tlp in sent for beat in tlp.beats(data_width, endianness)]
    output = through(dut, beats, len(sent), share)
    for tlp, packet in zip(sent, output.packets(), strict=True):
        check(tlp, packet, data_width)
    return beats, output


@pytest.mark.parametrize("data_width, endianness", [(64, "big"), (512, "little")])
def test_round_trip_with_stalls(data_width, endianness):
    run(data_width, endianness, tlps(random.Random(1)), 0.3)


@pytest.mark.parametrize("data_width", WIDTHS)
def test_no_idle_cycle_on_input(data_width):
    sent = tlps(random.Random(2))
    beats, output = run(data_width, "big", sent, 0)
    assert output.beats[-1]["cycle"] <= len(beats) + 2


def test_beats_without_a_start_are_dropped():
    """After a reset in the middle of a TLP, the rest of that TLP is not taken for a new one."""
    dut    = Parser(64, "big")
    output = Watch(dut.source)
    tail   = [dict(dat=0x0a0a0a0a0a0a0a0a, be=0xff, first=0, last=n == 2) for n in range(3)]
    whole  = memory_write(0x1000, b"good")
    simulate(dut, [
        drive(dut.sink, tail + list(whole.beats(64, "big")) + [dict(dat=0, first=0, last=1)]),
        forever(accept(dut.source)), forever(output.watch())])
    assert len(output.packets()) == 1
    check(whole, output.packets()[0], 64)


@pytest.mark.parametrize("data_width", [96, None])
def test_bad_width(data_width):
    with pytest.raises(ValueError, match="data_width .* is not supported; choose 64, 128, 256 or 512"):
        Parser(data_width, "big")
