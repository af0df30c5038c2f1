#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

import random

from dataclasses import replace

import pytest

from litepcie_soc.phy.headers import FourDwordHeaders

from test.gateware.simulation import Stalls, Watch, accept, drive, forever, memory_read, memory_write, simulate

# Model --------------------------------------------------------------------------------------------

def requests(rng):
    made = []
    for base in (0x1000, 0x7_0000_1000):
        for length in (*range(1, 70), 128, 256):
            made += [memory_write(base + rng.randrange(4), rng.randbytes(length)), memory_read(base, length)]
    rng.shuffle(made)
    return made


def dwords(beats, data_width):
    """The enabled dwords of a packet, which must not have gaps."""
    enabled = [beat["dat"] >> 32*n & 0xffffffff if beat["be"] >> 4*n & 15 == 15 else None
        for beat in beats for n in range(data_width//32)]
    assert all(beat["be"] == 2**(data_width//8) - 1 for beat in beats[:-1])
    count = enabled.index(None) if None in enabled else len(enabled)
    assert enabled[count:] == [None]*(len(enabled) - count)
    return enabled[:count]


def run(data_width, sent, share):
    dut     = FourDwordHeaders(data_width)
    output  = Watch(dut.source, name="source")
    taken   = Watch(dut.sink, name="sink")
    beats   = [beat for tlp in sent for beat in tlp.beats(data_width, "little")]
    simulate(dut, [
        drive(dut.sink, beats, Stalls(share, 1)), forever(accept(dut.source, Stalls(share, 2))),
        forever(output.watch()), forever(taken.watch()),
    ], cycles=40000)
    packets = output.packets()
    wanted  = [replace(tlp, fmt=tlp.fmt | 1).dwords("little") for tlp in sent]
    assert [dwords(packet, data_width) for packet in packets] == wanted
    # The sink accepts the last beat of a TLP together with the last beat at the source.
    assert [packet[-1]["cycle"] for packet in taken.packets()] == [packet[-1]["cycle"] for packet in packets]
    return output

# Tests --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("data_width", [128, 256, 512])
def test_every_length_with_stalls(data_width):
    run(data_width, requests(random.Random(data_width)), 0.3)


@pytest.mark.parametrize("data_width", [256])
def test_a_beat_per_cycle(data_width):
    output = run(data_width, requests(random.Random(1)), 0)
    cycles = [beat["cycle"] for beat in output.beats]
    assert cycles == list(range(cycles[0], cycles[0] + len(cycles)))


def test_too_narrow():
    with pytest.raises(ValueError, match="data_width 64 is not supported here; choose 128, 256 or 512"):
        FourDwordHeaders(64)
