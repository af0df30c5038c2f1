# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""The completion buffer in the fabric: its room. ultrascale/test_streams.py has its order and its rate."""

import random

import pytest

from litepcie_soc.common.link_rates import link_rate
from litepcie_soc.common.pcie import phy_layout
from litepcie_soc.phy.completion_buffer import DEPTH, CompletionBuffer, beats_of, blocks_of, keeps_up
from litepcie_soc.phy.sim import SimPHY
from test.gateware.simulation import TLP, Watch, forever, simulate


def completion(payload):
    return TLP(fmt=2, type=0b01010, length=-(-len(payload)//4), byte_count=len(payload), data=payload)


def beats(tlps, data_width):
    return [beat for tlp in tlps for beat in tlp.beats(data_width, "little")]


@pytest.mark.parametrize("data_width", [64, 128, 256, 512])
@pytest.mark.parametrize("rcb", [64, 128])
def test_no_split_needs_more_beats_than_its_blocks(data_width, rcb):
    """Every request of 4 to 512 bytes at every dword of a block, in random legal splits."""
    rng = random.Random(data_width + rcb)
    for _ in range(500):
        first  = rng.randrange(0, rcb, 4)
        last   = first + rng.choice([4, 8, 64, 512, rng.randrange(4, 516, 4)])
        edges  = [edge for edge in range(rcb, last, rcb) if rng.random() < rng.choice([0, 0.5, 1])]
        pieces = [end - begin for begin, end in zip([first, *edges], [*edges, last])]
        blocks = -(-last//rcb)
        assert sum(beats_of(piece, data_width) for piece in pieces) <= blocks*beats_of(rcb, data_width)


@pytest.mark.parametrize("data_width, blocks", [(128, (102, 56)), (256, (170, 102)), (512, (256, 170))])
def test_blocks(data_width, blocks):
    """A completion of 64 bytes takes 5, 3 or 2 beats, one of 128 bytes 9, 5 or 3."""
    assert blocks_of(512, data_width) == blocks


@pytest.mark.parametrize("lanes, data_width, clk_freq, plain, straddled", [
    (4, 128, 250e6, True, True), (4, 256, 125e6, False, True), (8, 256, 250e6, False, True),
    (16, 512, 250e6, False, True)])
def test_interfaces_that_keep_up_with_the_link(lanes, data_width, clk_freq, plain, straddled):
    """Without straddle, completions of 64 bytes waste 20 of 96 bytes at 256 bits, and 52 of 128 at 512 bits."""
    found = [keeps_up(link_rate(3, lanes), data_width, clk_freq, straddle) for straddle in (False, True)]
    assert found == [plain, straddled]


@pytest.mark.parametrize("data_width, rcb", [(128, 1), (512, 0)])
def test_ready_never_falls(data_width, rcb):
    """All blocks come in the smallest completions while nothing leaves."""
    dut   = CompletionBuffer(phy_layout(data_width))
    count = blocks_of(DEPTH, data_width)[rcb]
    sent  = [completion(bytes([n % 256])*(64 << rcb)) for n in range(count)]
    full  = beats(sent, data_width)
    output = Watch(dut.source, name="source")
    def fill():
        for beat in full:
            yield dut.sink.valid.eq(1)
            yield [getattr(dut.sink, name).eq(value) for name, value in beat.items()]
            yield
            assert (yield dut.sink.ready)
        yield [dut.sink.valid.eq(0), dut.source.ready.eq(1)]
        while len(output.beats) < len(full):
            yield
    simulate(dut, [fill(), forever(output.watch())], cycles=3000)
    assert [TLP.from_beats(packet, data_width, "little") for packet in output.packets()] == sent


@pytest.mark.parametrize("depth", [100, 1])
def test_bad_depth(depth):
    with pytest.raises(ValueError, match=f"depth {depth} is not supported; choose a power of two"):
        CompletionBuffer(phy_layout(128), depth=depth)


def test_sim_phy():
    assert SimPHY(256).fabric_blocks is None
    phy = SimPHY(512, split=True, fabric_width=256)
    assert (phy.fabric_blocks, phy.fabric_width, phy.fabric_beats) == ((170, 102), 256, 512)
    with pytest.raises(ValueError, match="fabric_width is not supported with one stream .*; choose split"):
        SimPHY(256, fabric_width=256)
