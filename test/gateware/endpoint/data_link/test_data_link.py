# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The data link layer against a partner in Python: TLPs of all types both ways, order, credits, resets; and on a link
with faults: every TLP arrives once, and every fault is counted."""

import random
from dataclasses import replace

import pytest
from cocotbext.pcie.core.dllp import Dllp, DllpType

from litepcie_soc.endpoint.data_link.layer import DataLink
from test.gateware.endpoint.bench import Bench, completion, memory_read, memory_write, of_kind, random_tlps
from test.gateware.endpoint.packets import framed, inverted, lcrc
from test.gateware.endpoint.partner import NP, Frame, P, Partner, damaged, units_of
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


# Rules: 3.2.1
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


@pytest.mark.parametrize("options, message", [(dict(max_payload=1024),     "max_payload is 128, 256 or 512, not 1024"),
    (dict(posted=(16, 15)),      "credits for posted data are at least 16, not 15"),
    (dict(posted=(128, 16)),     "credits for posted headers are 1 to 127, not 128"),
    (dict(nonposted=(8, 0)),     "credits for nonposted data are 1 to 2047, not 0"),
    (dict(receive_words=1024),   "receive_words is at least 1280 with these credits, not 1024")])
def test_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        DataLink(**options)


def is_ack(frame):
    return frame.dllp and frame.data[0] in (0x00, 0x10)


def is_update(frame):
    return frame.dllp and frame.data[0] >> 6 == 2


def is_tlp(frame):
    return not frame.dllp


def nullified(frame):
    return replace(frame, data=frame.data[:-4] + inverted(lcrc(frame.data[:-4])), edb=True)


UNKNOWN = [Frame(framed(bytes.fromhex(dword)), dllp=True) for dword in ("02800001", "31000000")]

# What becomes of a frame: name: (of which frames, function (frame, random) to frames, counter of the receiver).
FAULTS = {
    "ack_lost":       (is_ack,    lambda frame, rng: [], None),
    "ack_doubled":    (is_ack,    lambda frame, rng: [frame, frame], None),
    "ack_damaged":    (is_ack,    lambda frame, rng: [damaged(frame, rng)], "dllp_error"),
    "ack_bad_symbol": (is_ack,    lambda frame, rng: [replace(frame, bad=True)], "dllp_error"),
    "update_lost":    (is_update, lambda frame, rng: [], None),
    "tlp_lost":       (is_tlp,    lambda frame, rng: [], None),
    "tlp_doubled":    (is_tlp,    lambda frame, rng: [frame, frame], None),
    "tlp_damaged":    (is_tlp,    lambda frame, rng: [damaged(frame, rng)], "lcrc_error"),
    "tlp_bad_symbol": (is_tlp,    lambda frame, rng: [replace(frame, bad=True)], "lcrc_error"),
    "tlp_edb":        (is_tlp,    lambda frame, rng: [replace(frame, edb=True)], "lcrc_error"),
    "tlp_inverted":   (is_tlp,    lambda frame, rng: [replace(nullified(frame), edb=False)], "lcrc_error"),
    "tlp_nullified":  (is_tlp,    lambda frame, rng: [nullified(frame)], None),
    "nullified_more": (is_tlp,    lambda frame, rng: [nullified(frame), frame], None),
    "tlp_short":      (is_tlp,    lambda frame, rng: [replace(frame, data=frame.data[:2*rng.randint(1, 6)])],
        "lcrc_error"),
    "unknown_dllp":   (is_tlp,    lambda frame, rng: [rng.choice(UNKNOWN), frame], None)}


class Injector:
    """Applies faults to a share of the frames, and counts those that the data link receives."""
    def __init__(self, names, share, seed):
        self.names, self.share, self.random = names, share, random.Random(seed)
        self.inward = dict.fromkeys(FAULTS, 0)

    def __call__(self, frame, outward):
        name = self.random.choice(self.names)
        applies, change, _ = FAULTS[name]
        if self.random.random() > self.share or not applies(frame):
            return [frame]
        self.inward[name] += not outward
        return change(frame, self.random)

    def counted(self, counter):
        return sum(count for name, count in self.inward.items() if FAULTS[name][2] == counter)


# Rules: 3.5.2.1, order; 3.5.3.1, accept
@pytest.mark.parametrize("seed, count, share", [(1, 50, 0.6),
    *[pytest.param(seed, 100, share, marks=pytest.mark.full) for seed, share in ((101, 0.6), (103, 0.4), (100, 0.1))],
    *[pytest.param(seed, 100, seed % 6/10 + 0.05, marks=pytest.mark.search) for seed in range(106, 160)]])
def test_many_faults(seed, count, share):
    """Every kind of fault; MPS and the speed of the consumer are random."""
    rng      = random.Random(seed)
    injector = Injector(list(FAULTS), share, seed)
    bench    = Bench(random_tlps(rng, count), fault=injector, stalls=rng.choice([0, 0.3, 0.6]),
        mps_128=rng.random() < 0.5)
    bench.partner.tlps.extend(random_tlps(rng, count))
    bench.run(cycles=4000*count)
    assert sum(map(bool, injector.inward.values())) >= 8 or share < 0.5
    # A packet that is cut when the link is retrained is an error too.
    assert bench.counts["dllp_error"] == injector.counted("dllp_error") + bench.wire.cuts["dllp"]
    assert bench.counts["lcrc_error"] == injector.counted("lcrc_error") + bench.wire.cuts["tlp"]


# Rules: 3.5.2.2
@pytest.mark.parametrize("create", [Dllp.create_ack, pytest.param(Dllp.create_nak, marks=pytest.mark.full)])
def test_numbers_out_of_the_window_have_no_effect(create):
    rng   = random.Random(2)
    bench = Bench([memory_write(rng, 4) for _ in range(12)])
    def script():
        partner = bench.partner
        while len(partner.received) < 6:
            yield
        for ahead in (40, 2047, 2048, 2049, 4000):
            bench.inward.append(Frame(create((partner.expected + ahead) % 4096).pack_crc(), dllp=True))
        while len(partner.received) < 12 or bench.inward:
            yield
        yield from wait(200)
    bench.run(script())
    assert bench.counts["protocol_error"] == 5
    assert not bench.counts["replay"] and not bench.counts["nak_received"] and not bench.counts["timeout"]
    assert bench.partner.received == bench.sent


# Rules: 3.5.2.1, timer; 3.5.2.1, retrain
@pytest.mark.parametrize("mps_128, symbols", [(True, (711, 2*711)),
    pytest.param(False, (1677, 2*1248), marks=pytest.mark.full)])
def test_the_timer_replays_and_the_fourth_time_retrains(mps_128, symbols):
    rng   = random.Random(3)
    times, retrained = [], []
    bench = Bench([memory_write(rng, 4) for _ in range(3)], mps_128=mps_128,
        fault=lambda frame, outward: [] if is_ack(frame) and bench.wire.cycle < 6500 else [frame])
    def watch():
        while bench.partner.flying or len(bench.partner.received) < 3 or bench.wire.cycle < 7500:
            if (yield bench.dut.replay):
                times.append(bench.wire.cycle)
            if (yield bench.dut.retrain) and not retrained:
                retrained.append(len(times))
            yield
    bench.run(watch())
    gaps = [2*(after - before) for before, after in zip(times, times[1:])]
    # The replay of three TLPs of 36 symbols, of which the last one is sent after the timer started again.
    assert len(gaps) >= 3 and all(symbols[0] <= gap <= symbols[1] + 120 for gap in gaps[:3])
    assert retrained == [4] and bench.counts["timeout"] == len(times)
    assert bench.partner.received == bench.sent and bench.partner.counts["duplicate"] >= 9


# Rules: 3.5.2.1, timer
@pytest.mark.full
def test_the_timer_stands_still_in_recovery():
    rng   = random.Random(4)
    bench = Bench([memory_write(rng, 4)], partner=Partner(ack=120))
    def script():
        while not bench.partner.received:
            yield
        yield from bench.recovery(3000)
        yield from wait(300)
    bench.run(script())
    assert not bench.partner.flying and not bench.counts["timeout"] and not bench.counts["replay"]


# Rules: 3.5.3.1, NAK
def test_there_is_one_nak_until_a_good_tlp_came():
    rng   = random.Random(7)
    bench = Bench()
    bench.partner.tlps.extend(memory_write(rng, 4) for _ in range(12))
    # The first one is lost four times, and so are all that follow it.
    lost  = []
    def fault(frame, outward):
        if outward or frame.dllp or len(lost) >= 30:
            return [frame]
        lost.append(frame)
        return [damaged(frame, rng)]
    bench.fault = fault
    bench.run()
    assert bench.counts["nak_sent"] == 1 and bench.counts["lcrc_error"] == 30


@pytest.mark.full
def test_a_partner_that_ignores_credits_loses_nothing():
    rng     = random.Random(5)
    bench   = Bench(stalls=1.0)
    partner = bench.partner
    partner.allowed = lambda tlp: len(partner.flying) < 60
    partner.tlps.extend(memory_write(rng, 32) for _ in range(45))
    expected = list(partner.tlps)
    def script():
        while not bench.counts["protocol_error"]:
            yield
        bench.stalls.share = 0.2
        while len(bench.got) < len(expected):
            yield
        assert bench.got == expected and sum(map(units_of, expected)) > 256
    bench.run(script(), cycles=60000)


# Rules: 3.3.1
@pytest.mark.full
def test_flow_control_is_initialized_whatever_is_lost():
    for seed in range(2):
        rng   = random.Random(seed)
        bench = Bench([memory_read(rng)], fault=lambda frame, outward:
            [] if rng.random() < 0.5 and bench.wire.cycle < 1500 else [frame])
        bench.partner.tlps.append(memory_read(rng))
        bench.run(cycles=8000)


@pytest.mark.full
def test_updates_and_tlps_before_the_initialization_are_ignored():
    rng   = random.Random(6)
    bench = Bench([memory_write(rng, 4)])
    update = Dllp()
    update.type, update.hdr_fc, update.data_fc = DllpType.UPDATE_FC_P, 0, 0
    def fault(frame, outward):
        if outward or bench.wire.cycle > 40:
            return [frame]
        return [Frame(update.pack_crc(), dllp=True), Frame(bytes(20) + lcrc(bytes(20))), frame]
    bench.fault = fault
    bench.run()
    assert not bench.got and not bench.counts["nak_sent"]
