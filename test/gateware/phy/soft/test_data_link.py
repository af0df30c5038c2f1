# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""The data link layer against a partner in Python: TLPs of all types both ways, speed, order, credits, resets."""

import random

import pytest

from cocotbext.pcie.core.dllp import Dllp, DllpType

from litepcie_soc.phy.soft.data_link import DataLink

from test.gateware.phy.soft.bench import Bench, completion, memory_read, memory_write, of_kind, random_tlps
from test.gateware.phy.soft.partner import NP, Frame, P, Partner
from test.gateware.steps import wait


def test_moves_tlps_of_all_types_both_ways():
    rng   = random.Random(1)
    bench = Bench(random_tlps(rng, 60), stalls=0.2)
    bench.partner.tlps.extend(random_tlps(rng, 60))
    bench.run()
    assert not any(bench.counts.values())
    kinds = [dllp.type for _, dllp in bench.partner.log]
    order = [DllpType.INIT_FC1_P, DllpType.INIT_FC1_NP, DllpType.INIT_FC1_CPL]
    assert kinds[:6] == order + [kind | 0x80 for kind in order]
    limits = [(dllp.hdr_fc, dllp.data_fc) for _, dllp in bench.partner.log[:6]]
    assert limits == 2*[(16, 64), (8, 8), (0, 0)]
    assert {DllpType.UPDATE_FC_CPL} & set(kinds) == set()


def test_a_read_without_credit_holds_back_nothing_else():
    rng     = random.Random(6)
    partner = Partner(credits=((32, 128), (1, 1), (0, 0)), drain=None)
    sent    = [memory_read(rng) for _ in range(3)] + [memory_write(rng, 4) for _ in range(8)] + \
        [completion(rng, 4) for _ in range(8)]
    bench   = Bench(sent, partner)
    def script():
        yield from wait(1500)
        assert [len(of_kind(partner.received, kind)) for kind in range(3)] == [8, 1, 8]
        for _ in range(2):
            partner.free(NP, 1, 1)
            yield from wait(200)
        assert of_kind(partner.received, NP) == of_kind(sent, NP)
    bench.run(script())


@pytest.mark.parametrize("at", [300, *[pytest.param(at, marks=pytest.mark.full) for at in (307, 325)]])
def test_recovery_in_the_middle_of_packets_loses_nothing(at):
    rng   = random.Random(at)
    bench = Bench(random_tlps(rng, 30))
    bench.partner.tlps.extend(random_tlps(rng, 30))
    def recover():
        yield from wait(at)
        for length in (60, 1, 700):
            yield from bench.recovery(length)
            yield from wait(150 + rng.randrange(40))
    bench.recover = recover
    bench.run()
    assert not bench.counts["protocol_error"] and not bench.counts["retrain"]


@pytest.mark.full
def test_the_link_begins_anew_after_it_was_down():
    rng   = random.Random(9)
    bench = Bench(random_tlps(rng, 40))
    bench.partner.tlps.extend(random_tlps(rng, 40))
    first = list(bench.partner.tlps)
    def script():
        dut, partner = bench.dut, bench.partner
        while len(partner.received) < 15:
            yield
        assert (yield dut.dl_up)
        bench.wire.cut()
        bench.wire.down = True
        yield dut.link_up.eq(0)
        yield from wait(4000)   # The producers' TLPs are taken and dropped.
        assert not (yield dut.dl_up)
        partner.reset()
        partner.received.clear()
        partner.tlps.clear()
        bench.got.clear()
        bench.inward.clear()
        bench.wire.down = False
        yield dut.link_up.eq(1)
        yield from wait(5)
        bench.wire.up = True
        partner.tlps.extend(first)
        bench.sent = of_kind(random_tlps(rng, 30), P)
        yield from bench.produce(P)
        while len(bench.got) < len(first) or len(partner.received) < len(bench.sent):
            yield
        assert bench.got == first and partner.received == bench.sent
    bench.run(script())


def test_power_management_goes_behind_tlps_and_is_received():
    rng   = random.Random(10)
    bench = Bench([memory_write(rng, 8) for _ in range(6)])
    def script():
        dut = bench.dut
        while not (yield dut.dl_up):
            yield
        bench.inward.append(Frame(pm_ack().pack_crc(), dllp=True))
        seen = 0
        while not bench.wire.starts:
            seen += yield dut.power_seen
            yield
        yield [dut.power.valid.eq(1), dut.power.dword.eq(DllpType.PM_ENTER_L23 << 24)]
        while not (yield dut.power.ready):
            seen += yield dut.power_seen
            yield
        yield dut.power.valid.eq(0)
        for _ in range(300):
            seen += yield dut.power_seen
            yield
        assert seen == 1
    bench.run(script())
    kinds = [frame.data[0] if frame.dllp else "TLP" for _, frame in bench.frames]
    assert kinds.count(DllpType.PM_ENTER_L23) == 1 and kinds.count("TLP") == 6
    assert kinds.index(DllpType.PM_ENTER_L23) > max(n for n, kind in enumerate(kinds) if kind == "TLP")


def pm_ack():
    dllp = Dllp()
    dllp.type = DllpType.PM_REQ_ACK
    return dllp


@pytest.mark.parametrize("options, message", [
    (dict(max_payload=1024),     "max_payload is 128, 256 or 512, not 1024"),
    (dict(posted=(16, 15)),      "credits for posted data are at least 16, not 15"),
    (dict(posted=(128, 16)),     "credits for posted headers are 1 to 127, not 128"),
    (dict(nonposted=(8, 0)),     "credits for nonposted data are 1 to 2047, not 0"),
    (dict(receive_words=1024),   "receive_words is at least 1280 with these credits, not 1024")])
def test_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        DataLink(**options)
