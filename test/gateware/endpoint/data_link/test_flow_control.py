# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Initialization of flow control, and when credits and acknowledgements are sent."""

import random

import pytest

from litepcie_soc.endpoint.data_link.dllp import COMPLETION, INIT1, INIT2, NONPOSTED, POSTED
from litepcie_soc.endpoint.data_link.flow_control import Advertiser, FlowControlInit
from litepcie_soc.endpoint.data_link.receiver import AckScheduler
from test.gateware.endpoint.bench import Bench, completion, memory_write
from test.gateware.simulation import forever, simulate
from test.gateware.steps import pulse, wait

SETS = [POSTED, NONPOSTED, COMPLETION]


def initialize(script, cycles):
    """[(cycle, kind, credits)] of what was sent in ``cycles`` cycles, of which each DLLP takes four."""
    dut, sent = FlowControlInit(), []
    def send():
        cycle = 0
        while True:
            if (yield dut.request):
                sent.append((cycle, (yield dut.kind), (yield dut.credits)))
                yield from pulse(dut.sent)
                yield
                yield
                cycle += 3
            yield
            cycle += 1
    simulate(dut, [wait(cycles), *map(forever, (send(), script(dut)))])
    return sent


# Rules: 3.3.1
def test_repeats_the_first_initialization_to_a_silent_partner():
    def silent(dut):
        while True:
            assert not (yield dut.accept) and not (yield dut.up)
            yield
    sent = initialize(silent, 6000)
    assert {kind for _, kind, _ in sent} == {INIT1}
    assert [credits for _, _, credits in sent][:9] == 3*SETS
    starts = [cycle for cycle, _, credits in sent if credits == POSTED]
    # 34 us.
    assert len(starts) > 8 and all(after - before <= 34/0.008 for before, after in zip(starts, starts[1:]))


def test_sends_the_second_initialization_whole_before_it_is_up():
    def partner(dut):
        yield from wait(6)
        yield dut.recorded.eq(1)
        yield dut.confirmed.eq(1)   # Before it is time: not counted.
        yield
        yield dut.confirmed.eq(0)
        for _ in range(100):
            assert not (yield dut.up)
            yield
        yield from pulse(dut.confirmed)
        yield from wait(5)
        assert (yield dut.up) and (yield dut.accept)
    sent = initialize(partner, 3000)
    assert [(kind, credits) for _, kind, credits in sent] == [(INIT1, n) for n in SETS] + [(INIT2, n) for n in SETS]


def advertise(script, cycles):
    """[(cycle, type, headers, data)] of the updates sent."""
    dut, sent = Advertiser((16, 64), (8, 8)), []
    def send():
        cycle = 0
        yield dut.up.eq(1)
        while True:
            yield dut.sent.eq(0)
            if (yield dut.due):
                credits = yield dut.credits
                yield dut.chosen.eq(credits)
                yield from wait(3)
                sent.append((cycle, credits, (yield dut.header_fc), (yield dut.data_fc)))
                yield dut.sent.eq(1 << credits)
                yield
                yield dut.sent.eq(0)
                cycle += 4
            yield
            cycle += 1
    simulate(dut, [wait(cycles), *map(forever, (send(), script(dut)))])
    return sent


def test_credits_in_a_row_share_an_update():
    def consumer(dut):
        yield from wait(400)    # Past the updates of the begin.
        for _ in range(40):
            yield [dut.free_ph.eq(1), dut.free_pd.eq(8)]
            yield
            yield [dut.free_ph.eq(0), dut.free_pd.eq(0)]
            yield from wait(9)
    sent  = [update for update in advertise(consumer, 1200) if update[0] > 390]
    first = sent[0]
    # The first one at once, the others with a distance, and the last one has all.
    assert first[0] < 415 and first[1:] == (POSTED, 17, 72)
    assert 5 <= len(sent) <= 400//48 + 2 and sent[-1][1:] == (POSTED, 56, 384)
    assert all(after[0] - before[0] <= 237/2 for before, after in zip(sent, sent[1:]))


# Rules: 2.6.1.2
def test_posted_writes_without_a_pause_leave_updates_to_nonposted_requests():
    def consumer(dut):
        yield from wait(400)
        yield dut.free_ph.eq(1)
        yield from wait(200)
        yield from pulse(dut.free_nph)
    sent = [update for update in advertise(consumer, 900) if update[0] > 600]
    late = next(update for update in sent if update[1] == NONPOSTED)
    # At most one update of posted requests goes before.
    assert late[0] < 600 + 2*60 and late[2:] == (9, 8)
    assert len(sent) - sent.index(late) > 2 and {credits for _, credits, _, _ in sent if credits} == {NONPOSTED}


def test_counts_wrap():
    def consumer(dut):
        yield [dut.free_ph.eq(1), dut.free_nph.eq(1), dut.free_npd.eq(1), dut.free_pd.eq(33)]
        yield from wait(1000)
        yield [dut.free_ph.eq(0), dut.free_nph.eq(0), dut.free_npd.eq(0), dut.free_pd.eq(0)]
    sent = advertise(consumer, 1400)
    last = {credits: (headers, data) for _, credits, headers, data in sent}
    assert last == {POSTED: ((16 + 1000) % 256, (64 + 33000) % 4096), NONPOSTED: ((8 + 1000) % 256, 1008)}


def test_no_credit_is_forgotten_while_an_update_leaves():
    # Freed at every distance from updates.
    for offset in range(12):
        def consumer(dut):
            yield from wait(400)
            yield from pulse(dut.free_nph)
            yield from wait(offset)
            yield from pulse(dut.free_nph)
        assert advertise(consumer, 700)[-1][1:] == (NONPOSTED, 10, 8)


# Symbols from the end of a TLP to the begin of its ACK (PCIe 2.1 table 3-5).
LIMITS = {128: 237, 256: 416}


def latencies(mps, theirs, gap):
    """(symbols until its ACK) of each TLP of the partner; ``gap`` cycles are between two of them."""
    rng   = random.Random(mps)
    ends  = []
    bench = Bench([memory_write(rng, mps//4) for _ in range(30)], mps_128=mps == 128)
    def fault(frame, outward):
        if not outward and not frame.dllp:
            ends.append(bench.wire.cycle + len(frame.data)//2)
            bench.inward.extend([None]*gap)
        return [frame]
    bench.fault = fault
    give = bench.give
    def paced():
        return give() if not bench.inward or bench.inward[0] else bench.inward.popleft()
    bench.wire.give = paced
    bench.partner.tlps.extend(theirs(rng) for _ in range(25))
    bench.run()
    # The number of each ACK, and when its first word left: it has three words, and a cycle after them.
    acks = [(cycle - 3, int.from_bytes(frame.data[2:4], "big")) for cycle, frame in bench.frames
        if frame.dllp and frame.data[0] == 0]
    assert [number for _, number in acks] == sorted({number for _, number in acks})
    first = [next(cycle for cycle, newest in acks if newest >= number) for number in range(len(ends))]
    return [2*(cycle - end) for cycle, end in zip(first, ends)], acks


# Rules: 3.5.3.1, ACK
@pytest.mark.parametrize("mps", [128, pytest.param(256, marks=pytest.mark.full)])
@pytest.mark.parametrize("dwords, gap", [(32, 0), pytest.param(1, 20, marks=pytest.mark.full)])
def test_acknowledges_before_the_limit(mps, dwords, gap):
    symbols, acks = latencies(mps, lambda rng: completion(rng, dwords), gap)
    assert max(symbols) <= LIMITS[mps]
    assert len(acks) < len(symbols)


def schedule(steps):
    """A step is a pulse of the scheduler, cycles, or values that it must have."""
    dut = AckScheduler()
    def script():
        for step in steps:
            if isinstance(step, dict):
                for name, value in step.items():
                    assert (yield getattr(dut, name)) == value, name
            elif isinstance(step, int):
                yield from wait(step)
            else:
                yield [getattr(dut, name).eq(1) for name in step.split()]
                yield
                yield [getattr(dut, name).eq(0) for name in step.split()]
    simulate(dut, [script()])


@pytest.mark.parametrize("steps, due", [(["accepted ack_sent"], 1), (["accepted", "ack_sent"], 1),
    (["accepted", 1, "ack_sent"], 0)])
def test_acknowledges_a_tlp_that_comes_while_an_ack_leaves(steps, due):
    """The ACK that leaves now, or in the next cycle, was composed without the TLP."""
    schedule(["accepted", 60, {"ack_due": 1}, *steps, 60, {"ack_due": due}])


def test_acknowledges_a_duplicate_at_once():
    # The event of the cycle before counts again, as it may be newer than the ACK.
    schedule(["duplicate", 1, {"ack_due": 1}, "ack_sent", 70, {"nak_due": 0}])


def test_a_good_tlp_cancels_a_nak():
    schedule(["rejected", 1, {"nak_due": 1}, "accepted", 1, {"nak_due": 0}, "rejected", 1, {"nak_due": 1}])
