# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""Supported PHYs, their completion buffers, the ports of the simulated one, and the reset of a hard block."""

import pytest

from migen.genlib.record import Record

from litepcie.phy.c5pciephy import C5PCIEPHY
from litepcie.phy.s7pciephy import S7PCIEPHY
from litepcie.phy.uspciephy import USPCIEPHY
from litepcie.phy.usppciephy import USPPCIEPHY

from litepcie_soc.phy.hard_block import completion_blocks, completion_buffer_bytes, completion_space, own_blocks
from litepcie_soc.phy.retry import LinkRetry
from litepcie_soc.phy.series7 import Series7PHY
from litepcie_soc.phy.shapes import PHYShape
from litepcie_soc.phy.sim import SimPHY, sim_phy_io
from litepcie_soc.phy.ultrascale.phy import UltraScalePHY, UltraScalePlusPHY
from litepcie_soc.tlp.budget import BLOCK_BYTES

from test.gateware.phy.bench import Platform, pads
from test.gateware.simulation import simulate

def make(phy_class, lanes, data_width):
    bar0 = {} if phy_class is C5PCIEPHY else {"bar0_size": 0x200000}
    return phy_class(Platform(), pads(lanes), data_width=data_width, **bar0)


@pytest.mark.parametrize("phy, message", [
    (lambda: make(C5PCIEPHY, 4, 64), "C5PCIEPHY is not supported: it aligns the payload of TLPs to 64 bits"),
    (lambda: make(S7PCIEPHY, 4, 64), "S7PCIEPHY is not supported: it lacks crossing and ordering; use Series7PHY of "),
    (lambda: make(USPCIEPHY, 8, 256), "USPCIEPHY is not supported: .* use UltraScalePHY of litepcie_soc"),
    (lambda: make(USPPCIEPHY, 16, 512), "USPPCIEPHY is not supported: .* use UltraScalePlusPHY of litepcie_soc")])
def test_unsupported_phys(phy, message):
    with pytest.raises(ValueError, match=message):
        PHYShape(phy())


@pytest.mark.parametrize("phy_class, lanes, data_width, blocks", [
    (S7PCIEPHY, 4, 128, (72, 72)), (S7PCIEPHY, 8, 128, (72, 46)), (USPCIEPHY, 8, 256, (64, 64)),
    (USPPCIEPHY, 8, 256, (128, 128))])
def test_blocks_of_the_hard_block(phy_class, lanes, data_width, blocks):
    """Blocks of 64 and of 128 bytes, each a completion of its own, fit in the space for headers and in that for
    data."""
    phy = make(phy_class, lanes, data_width)
    headers, data = completion_space(phy)
    assert own_blocks(phy) == completion_blocks(phy) == blocks
    assert all(count <= headers and count*size <= data for count, size in zip(blocks, (64, 128)))
    with pytest.raises(ValueError, match="source 'best' is not supported; choose one of"):
        completion_space(phy, "best")
    assert completion_buffer_bytes(phy)//BLOCK_BYTES == blocks[0]


@pytest.mark.parametrize("make_phy, lanes, data_width, blocks", [
    (Series7PHY, 4, 128, (72, 72)), (UltraScalePHY, 8, 512, (170, 102)), (UltraScalePHY, 8, 256, (170, 102)),
    (UltraScalePlusPHY, 16, 512, (256, 170)), (UltraScalePlusPHY, 4, 128, (102, 56))])
def test_blocks_of_our_phys(make_phy, lanes, data_width, blocks):
    """PHYs with a stream for completions have the room of the buffer in the fabric."""
    assert completion_blocks(make(make_phy, lanes, data_width)) == blocks


def test_completion_buffer_of_an_unknown_phy():
    assert completion_blocks(SimPHY(64)) == (512, 256)
    assert completion_blocks(SimPHY(64, completion_space=(72, 5920))) == (72, 46)
    assert completion_space(object()) is None
    with pytest.raises(ValueError, match="completion buffer of object is not known; pass completion_buffer_bytes"):
        completion_buffer_bytes(object())


def pads_of(data_width, split=False):
    """Records with the fields of the platform's resources."""
    pads = {}
    for name, _, *subsignals in sim_phy_io(data_width, split):
        pads[name] = Record([(s.name, len(s.constraints[0].identifiers)) for s in subsignals])
    return pads


@pytest.mark.parametrize("split", [False, True])
def test_pads_are_connected_to_streams(split):
    """Each input drives its stream, and each stream its output, in the same cycle."""
    pads = pads_of(64, split)
    phy  = SimPHY(64, pads=pads, split=split)
    beat = ("valid", "first", "last", "dat", "be")
    into = {"tx_req": phy.req_sink, "tx_cmp": phy.cmp_sink} if split else {"tx": phy.sink}
    out  = {"rx_req": phy.req_source, "rx_cmp": phy.cmp_source} if split else {"rx": phy.source}
    pairs = [
        *[(endpoint, pads[name], beat) for name, endpoint in into.items()],
        *[(pads[name], endpoint, ("ready",)) for name, endpoint in into.items()],
        *[(pads[name], endpoint, beat) for name, endpoint in out.items()],
        *[(endpoint, pads[name], ("ready",)) for name, endpoint in out.items()],
        (phy.msi, pads["msi"], ("valid", "dat")), (pads["msi"], phy.msi, ("ready",)),
        (pads["phy"], phy, ("id", "max_payload_size", "max_request_size", "extended_tag", "bus_master_enable",
            "link_up", "msi_enable", "relaxed_ordering_enable", "no_snoop_enable", "rcb_128", "function_reset")),
        (phy, pads["phy"], ("function_reset_done",))]
    def check():
        for begin, end, names in pairs:
            for name in names:
                source, target = getattr(begin, name), getattr(end, name)
                assert len(source) == len(target)
                for value in (2**len(source) - 1, 2**len(source)//3, 0):
                    yield source.eq(value)
                    yield
                    yield
                    assert (yield target) == value, name
    simulate(phy, [check()])


@pytest.mark.parametrize("options, message", [
    (dict(data_width=100),                     "data_width .* is not supported; choose 64, 128, 256 or 512"),
    (dict(data_width=64, endianness="middle"), "endianness 'middle' is not supported; choose 'big' or 'little'")])
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        SimPHY(**options)

HZ = 2000  # A training may take 200 cycles, a reset takes 2.


@pytest.mark.parametrize("training, slot_reset, resets", [
    (0, None, []),                       # The first training succeeds.
    (2, None, [(200, 2), (402, 2)]),
    (1, 150,  [(154, 20), (374, 2)]),    # The slot's reset, in cycles 150 to 169, begins the time again.
])
def test_the_block_is_reset_until_its_link_is_up(training, slot_reset, resets):
    dut  = LinkRetry(HZ)
    seen = []  # (first cycle, length) of each reset of the block.
    def bench():
        trainings, since, low = 0, 0, 0
        for cycle in range(1000):
            in_slot_reset = slot_reset is not None and slot_reset <= cycle < slot_reset + 20
            yield [dut.slot_rst_n.eq(not in_slot_reset), dut.link_up.eq(trainings >= training and since > 60)]
            yield
            if (yield dut.rst_n):
                if low:
                    seen.append((cycle - low, low))
                    trainings, since = trainings + (low == 2), 0
                low, since = 0, since + 1
            else:
                low, since = low + 1, 0
    simulate(dut, [bench()])
    assert [length for _, length in seen] == [length for _, length in resets]
    assert all(abs(at - expected) <= 6 for (at, _), (expected, _) in zip(seen, resets))
