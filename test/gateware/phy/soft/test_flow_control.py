#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Initialization of flow control, and when credits are advertised."""

from litepcie_soc.phy.soft.dllp import COMPLETION, INIT1, INIT2, NONPOSTED, POSTED
from litepcie_soc.phy.soft.flow_control import Advertiser, FlowControlInit

from test.gateware.simulation import forever, simulate

SETS = [POSTED, NONPOSTED, COMPLETION]

# Initialization -----------------------------------------------------------------------------------

def initialize(script, cycles):
    """[(cycle, kind, credits)] of what was sent in ``cycles`` cycles, of which each DLLP takes four."""
    dut, sent = FlowControlInit(), []

    def send():
        cycle = 0
        while True:
            if (yield dut.request):
                sent.append((cycle, (yield dut.kind), (yield dut.credits)))
                yield dut.sent.eq(1)
                yield
                yield dut.sent.eq(0)
                yield
                yield
                cycle += 3
            yield
            cycle += 1

    def wait():
        for _ in range(cycles):
            yield
    simulate(dut, [wait(), *map(forever, (send(), script(dut)))])
    return sent


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
        for _ in range(6):
            yield
        yield dut.recorded.eq(1)
        yield dut.confirmed.eq(1)   # Before it is time: not counted.
        yield
        yield dut.confirmed.eq(0)
        for _ in range(100):
            assert not (yield dut.up)
            yield
        yield dut.confirmed.eq(1)
        yield
        yield dut.confirmed.eq(0)
        for _ in range(5):
            yield
        assert (yield dut.up) and (yield dut.accept)
    sent = initialize(partner, 3000)
    assert [(kind, credits) for _, kind, credits in sent] == [(INIT1, n) for n in SETS] + [(INIT2, n) for n in SETS]

# Credits ------------------------------------------------------------------------------------------

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
                for _ in range(3):
                    yield
                sent.append((cycle, credits, (yield dut.header_fc), (yield dut.data_fc)))
                yield dut.sent.eq(1 << credits)
                yield
                yield dut.sent.eq(0)
                cycle += 4
            yield
            cycle += 1

    def wait():
        for _ in range(cycles):
            yield
    simulate(dut, [wait(), *map(forever, (send(), script(dut)))])
    return sent


def test_credits_in_a_row_share_an_update():
    def consumer(dut):
        for _ in range(400):    # Past the updates of the begin.
            yield
        for _ in range(40):
            yield dut.free_ph.eq(1)
            yield dut.free_pd.eq(8)
            yield
            yield dut.free_ph.eq(0)
            yield dut.free_pd.eq(0)
            for _ in range(9):
                yield
    sent  = [update for update in advertise(consumer, 1200) if update[0] > 390]
    first = sent[0]
    # The first one at once, the others with a distance, and the last one has all.
    assert first[0] < 415 and first[1:] == (POSTED, 17, 72)
    assert 5 <= len(sent) <= 400//48 + 2 and sent[-1][1:] == (POSTED, 56, 384)
    assert all(after[0] - before[0] <= 237/2 for before, after in zip(sent, sent[1:]))


def test_counts_wrap():
    def consumer(dut):
        yield dut.free_ph.eq(1)
        yield dut.free_nph.eq(1)
        yield dut.free_npd.eq(1)
        yield dut.free_pd.eq(33)
        for _ in range(1000):
            yield
        yield dut.free_ph.eq(0)
        yield dut.free_nph.eq(0)
        yield dut.free_npd.eq(0)
        yield dut.free_pd.eq(0)
    sent = advertise(consumer, 1400)
    last = {credits: (headers, data) for _, credits, headers, data in sent}
    assert last == {POSTED: ((16 + 1000) % 256, (64 + 33000) % 4096), NONPOSTED: ((8 + 1000) % 256, 1008)}


def test_no_credit_is_forgotten_while_an_update_leaves():
    # Freed at every distance from updates.
    for offset in range(12):
        def consumer(dut):
            for _ in range(400):
                yield
            yield dut.free_nph.eq(1)
            yield
            yield dut.free_nph.eq(0)
            for _ in range(offset):
                yield
            yield dut.free_nph.eq(1)
            yield
            yield dut.free_nph.eq(0)
        assert advertise(consumer, 700)[-1][1:] == (NONPOSTED, 10, 8)
