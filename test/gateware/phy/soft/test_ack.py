#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""How late TLPs are acknowledged, while our own TLPs fill the link."""

import random

import pytest

from litepcie_soc.phy.soft.ack import AckScheduler

from test.gateware.phy.soft.bench import Bench, completion, memory_write
from test.gateware.simulation import simulate

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


@pytest.mark.parametrize("mps", [128, pytest.param(256, marks=pytest.mark.full)])
@pytest.mark.parametrize("dwords, gap", [(32, 0), pytest.param(1, 20, marks=pytest.mark.full)])
def test_acknowledges_before_the_limit(mps, dwords, gap):
    symbols, acks = latencies(mps, lambda rng: completion(rng, dwords), gap)
    assert max(symbols) <= LIMITS[mps]
    assert len(acks) < len(symbols)


def schedule(script):
    """Runs ``script`` (a generator function of the scheduler)."""
    dut = AckScheduler()
    simulate(dut, [script(dut)])


def pulse(signal):
    yield signal.eq(1)
    yield
    yield signal.eq(0)


def test_acknowledges_a_tlp_that_comes_while_an_ack_leaves():
    def script(dut):
        for behind in range(3):
            yield from pulse(dut.accepted)
            for _ in range(60):
                yield
            assert (yield dut.ack_due)
            # The ACK that leaves now, or in the next cycle, was composed without the TLP.
            yield dut.accepted.eq(1)
            yield dut.ack_sent.eq(behind == 0)
            yield
            yield dut.accepted.eq(0)
            yield dut.ack_sent.eq(behind == 1)
            yield
            yield dut.ack_sent.eq(behind == 2)
            yield
            yield dut.ack_sent.eq(0)
            for _ in range(60):
                yield
            assert (yield dut.ack_due) == (behind < 2)
            yield from pulse(dut.ack_sent)
            yield
    schedule(script)


def test_acknowledges_a_duplicate_at_once():
    def script(dut):
        yield from pulse(dut.duplicate)
        yield
        assert (yield dut.ack_due)
        yield from pulse(dut.ack_sent)
        for _ in range(70):
            yield
        # The event of the cycle before counts again, as it may be newer than the ACK.
        assert not (yield dut.nak_due)
    schedule(script)


def test_a_good_tlp_cancels_a_nak():
    def script(dut):
        yield from pulse(dut.rejected)
        yield
        assert (yield dut.nak_due)
        yield from pulse(dut.accepted)
        yield
        assert not (yield dut.nak_due)
        yield from pulse(dut.rejected)
        yield
        assert (yield dut.nak_due)
    schedule(script)
