# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""When the link is asked to sleep, and when it sleeps."""

import pytest

from litepcie_soc.phy.soft.dllp  import ENTER_L1, ENTER_L23, NOP, REQUEST_ACK
from litepcie_soc.phy.soft.power import DRAIN_CYCLES, SETTLE_CYCLES, TO_L1, TO_L2, PowerManagement

from test.gateware.simulation import simulate


class Bench:
    """`PowerManagement` of a function in D3hot that has nothing to send, on a link in L0."""

    def __init__(self, script):
        self.dut = PowerManagement()
        simulate(self.dut, [self.run(script)], cycles=5000)

    def run(self, script):
        yield from self.set(low_power=1, credits=1, active=1)
        yield from script(self)

    def set(self, **values):
        for name, value in values.items():
            yield getattr(self.dut, name).eq(value)
        yield

    def seen(self, cycles):
        """What is wanted meanwhile: DLLP types, and values of ``hold``, ``sleep`` and ``wake``."""
        types, holds, sleeps, wakes = set(), set(), set(), set()
        for _ in range(cycles):
            if (yield self.dut.dllp.valid):
                types.add((yield self.dut.dllp.dword) >> 24)
            holds.add((yield self.dut.hold))
            sleeps.add((yield self.dut.sleep))
            wakes.add((yield self.dut.wake))
            yield
        return types, holds, sleeps, wakes

    def receive(self, kind):
        yield from self.set(received=1, dword=kind << 24)
        yield from self.set(received=0)

    def fall_asleep(self):
        yield from self.seen(2*SETTLE_CYCLES)
        yield from self.receive(REQUEST_ACK)
        yield from self.seen(DRAIN_CYCLES + 8)
        yield from self.set(active=0, asleep=1)
        yield
        yield
        yield


AWAKE = set(), {0}, {0}, {0}


def test_it_asks_until_the_partner_agrees():
    def script(bench):
        found = yield from bench.seen(SETTLE_CYCLES)
        assert found == AWAKE
        found = yield from bench.seen(1000)
        assert found == ({ENTER_L1}, {0}, {0}, {0})
        yield from bench.receive(NOP)
        found = yield from bench.seen(100)
        assert found == ({ENTER_L1}, {0}, {0}, {0})
        yield from bench.receive(REQUEST_ACK)
        yield
        yield
        # What was begun is sent to its end; nothing begins.
        found = yield from bench.seen(DRAIN_CYCLES)
        assert found == (set(), {1}, {0}, {0})
        yield
        found = yield from bench.seen(20)
        assert found == (set(), {1}, {1 << TO_L1}, {0})
        yield from bench.set(active=0, asleep=1)
        yield
        yield
        found = yield from bench.seen(100)
        assert found == AWAKE
    Bench(script)


@pytest.mark.parametrize("missing", [dict(busy=1), dict(credits=0), dict(active=0), dict(low_power=0)])
def test_it_does_not_ask(missing):
    """With a TLP to send, without credits for the longest one, outside L0, in D0."""
    def script(bench):
        yield from bench.set(**missing)
        found = yield from bench.seen(500)
        assert found == AWAKE
    Bench(script)


def test_a_tlp_pauses_it_but_the_partner_is_not_left_alone():
    """The partner sends no TLP any more, so that the entry goes on even if the function is back in D0."""
    def script(bench):
        yield from bench.seen(2*SETTLE_CYCLES)
        yield from bench.set(busy=1, low_power=0)
        yield
        found = yield from bench.seen(300)
        assert found == AWAKE
        yield from bench.receive(REQUEST_ACK)  # Sent before our TLP arrived.
        found = yield from bench.seen(100)
        assert found == AWAKE
        yield from bench.set(busy=0)
        yield from bench.seen(2*SETTLE_CYCLES)
        found = yield from bench.seen(100)
        assert found == ({ENTER_L1}, {0}, {0}, {0})
        yield from bench.fall_asleep()
        found = yield from bench.seen(100)
        assert found == (set(), {0}, {0}, {1})
    Bench(script)


def test_recovery_ends_it():
    """In D0 it does not begin again."""
    def script(bench):
        yield from bench.seen(2*SETTLE_CYCLES)
        yield from bench.set(active=0, low_power=0)
        yield from bench.seen(10)
        yield from bench.set(active=1)
        found = yield from bench.seen(500)
        assert found == AWAKE
        # Between the agreement and L1.
        yield from bench.set(low_power=1)
        yield from bench.seen(2*SETTLE_CYCLES)
        yield from bench.receive(REQUEST_ACK)
        yield from bench.seen(DRAIN_CYCLES + 8)
        yield from bench.set(active=0)
        yield
        yield
        found = yield from bench.seen(100)
        assert found == AWAKE
    Bench(script)


def test_an_agreement_that_nobody_asked_for():
    def script(bench):
        yield from bench.set(low_power=0)
        for _ in range(20):
            yield from bench.receive(REQUEST_ACK)
        found = yield from bench.seen(100)
        assert found == AWAKE
    Bench(script)


@pytest.mark.parametrize("reason", [dict(busy=1), dict(low_power=0)])
def test_it_wakes_the_link(reason):
    def script(bench):
        yield from bench.fall_asleep()
        yield from bench.set(**reason)
        yield
        found = yield from bench.seen(100)
        assert found == (set(), {0}, {0}, {1})
        yield from bench.set(asleep=0)
        yield
        yield
        found = yield from bench.seen(100)
        assert found == AWAKE
    Bench(script)


def test_pme_turn_off():
    """Its answer goes first. Nothing wakes the link."""
    def script(bench):
        yield from bench.set(low_power=0, turn_off=1, busy=1)
        yield from bench.set(turn_off=0)
        found = yield from bench.seen(300)
        assert found == AWAKE and (yield bench.dut.off)
        yield from bench.set(busy=0)
        yield from bench.seen(SETTLE_CYCLES + 4)
        found = yield from bench.seen(300)
        assert found == ({ENTER_L23}, {0}, {0}, {0})
        yield from bench.receive(REQUEST_ACK)
        yield from bench.seen(DRAIN_CYCLES + 4)
        found = yield from bench.seen(20)
        assert found == (set(), {1}, {1 << TO_L2}, {0})
        yield from bench.set(active=0, asleep=1, busy=1)
        yield
        yield
        found = yield from bench.seen(100)
        assert found == AWAKE
    Bench(script)
