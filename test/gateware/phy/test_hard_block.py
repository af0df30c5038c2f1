# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Supported PHYs, their completion buffers, the ports of the simulated one, the reset of a hard block, shapes of
streams, and the gate that holds MSIs. test/formal/test_gates.py proves the gate of TLPs."""

import pytest
from migen.genlib.record import Record
from litepcie.phy.c5pciephy import C5PCIEPHY
from litepcie.phy.s7pciephy import S7PCIEPHY
from litepcie.phy.uspciephy import USPCIEPHY
from litepcie.phy.usppciephy import USPPCIEPHY

from litepcie_soc.phy.gate import LinkRetry, MSIGate
from litepcie_soc.phy.hard_block import completion_blocks, completion_buffer_bytes, completion_space, own_blocks
from litepcie_soc.phy.series7 import Series7PHY
from litepcie_soc.phy.shapes import PHYShape
from litepcie_soc.phy.sim import SimPHY, sim_phy_io
from litepcie_soc.phy.ultrascale.phy import UltraScalePHY, UltraScalePlusPHY
from litepcie_soc.tlp.budget import BLOCK_BYTES
from litepcie_soc.tlp.layer import TransactionLayer
from test.gateware.phy.bench import Platform, pads
from test.gateware.simulation import TLP, Stalls, Watch, accept, drive, forever, memory_read, memory_write, simulate


def make(phy_class, lanes, data_width):
    bar0 = {} if phy_class is C5PCIEPHY else {"bar0_size": 0x200000}
    return phy_class(Platform(), pads(lanes), data_width=data_width, **bar0)


@pytest.mark.parametrize("phy, message", [
    (lambda: make(C5PCIEPHY, 4, 64), "C5PCIEPHY is not supported: it aligns the payload of TLPs to 64 bits"),
    (lambda: make(S7PCIEPHY, 4, 64), "S7PCIEPHY is not supported: it lacks crossing and ordering; use Series7PHY of "),
    (lambda: make(USPCIEPHY, 8, 256), "USPCIEPHY is not supported: .* use UltraScalePHY of litepcie_soc"),
    (lambda: make(USPPCIEPHY, 16, 512), "USPPCIEPHY is not supported: .* use UltraScalePlusPHY of litepcie_soc"),
    (object, "is not a PHY: it must have sink and source, or req_sink")])
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
    pairs = [*[(endpoint, pads[name], beat) for name, endpoint in into.items()],
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


def test_an_msi_waits_for_bus_mastering_and_is_dropped_while_msi_is_disabled():
    dut  = MSIGate()
    seen = []
    def check():
        yield dut.sink.valid.eq(1)
        for enable, master, ready in [(e, m, r) for e in (0, 1) for m in (0, 1) for r in (0, 1)]:
            yield [dut.enable.eq(enable), dut.master.eq(master), dut.source.ready.eq(ready)]
            yield
            yield
            seen.append((enable, master, ready, (yield dut.source.valid), (yield dut.sink.ready)))
    simulate(dut, [check()])
    for enable, master, ready, valid, taken in seen:
        assert valid == (enable and master)
        assert taken == (ready if valid else not enable)


class Shared(PHYShape):
    """A `PHYShape` with its PHY inside, for the simulator; the link is up unless a test changes that."""
    def __init__(self, data_width=64):
        phy = SimPHY(data_width)
        phy.link_up.reset = 1
        PHYShape.__init__(self, phy)
        self.submodules.phy = phy


def beats(tlps, data_width=64):
    return [beat for tlp in tlps for beat in tlp.beats(data_width, "big")]


def decode(watch, data_width=64):
    return [TLP.from_beats(packet, data_width, "big") for packet in watch.packets()]


@pytest.mark.parametrize("data_width", [64, 512])
def test_completions_are_separated_from_requests(data_width):
    dut      = Shared(data_width)
    def completion(n, kind):
        return TLP(fmt=2, type=kind, length=3, byte_count=12, tag=n, data=bytes(12))
    sent     = []
    for n in range(12):
        sent += [memory_write(64*n, bytes(20)), completion(n, 0b01010 + n % 2), memory_read(64*n, 8)]
    requests = Watch(dut.req_source)
    answers  = Watch(dut.cmp_source)
    simulate(dut, [drive(dut.phy.source, beats(sent, data_width), Stalls(0.3, 1)),
        forever(accept(dut.req_source, Stalls(0.3, 2))), forever(accept(dut.cmp_source, Stalls(0.3, 3))),
        forever(requests.watch()), forever(answers.watch())])
    assert decode(answers, data_width) == [tlp for tlp in sent if tlp.is_completion]
    assert decode(requests, data_width) == [tlp for tlp in sent if not tlp.is_completion]


def test_requests_and_completions_share_one_stream():
    dut      = Shared()
    requests = [memory_write(64*n, bytes(40)) for n in range(20)]
    answers  = [TLP(fmt=2, type=0b01010, length=2, byte_count=8, tag=n, data=bytes(8)) for n in range(20)]
    output   = Watch(dut.phy.sink)
    def both_sent():
        yield dut.phy.link_up.eq(1)
        while len(output.packets()) < 40:
            yield
    simulate(dut, [
        drive(dut.req_sink, beats(requests), Stalls(0.2, 1)), drive(dut.cmp_sink, beats(answers), Stalls(0.2, 2)),
        forever(accept(dut.phy.sink, Stalls(0.3, 3))), forever(output.watch()), both_sent()])
    sent = decode(output)
    assert [tlp for tlp in sent if tlp.is_completion] == answers
    assert [tlp for tlp in sent if not tlp.is_completion] == requests


def test_link_lost_in_a_request_does_not_block_completions():
    dut    = Shared()
    answer = TLP(fmt=2, type=0b01010, length=2, byte_count=8, tag=1, data=bytes(8))
    output = Watch(dut.phy.sink, framed=False)
    def lose():
        yield [dut.phy.link_up.eq(1), dut.phy.sink.ready.eq(1)]
        yield from drive(dut.req_sink, beats([memory_write(0, bytes(40))])[:3])
        yield dut.phy.link_up.eq(0)
        yield
        yield
        yield dut.phy.link_up.eq(1)
        yield from drive(dut.cmp_sink, beats([answer]))
    simulate(dut, [lose(), forever(output.watch())], cycles=100)
    assert TLP.from_beats(output.beats[3:], 64, "big") == answer


def test_data_width_must_match_the_phy():
    with pytest.raises(ValueError, match="data_width 128 does not match the PHY; give 64"):
        TransactionLayer(SimPHY(64), 128, 125e6)
