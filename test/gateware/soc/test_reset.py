# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The order of steps after a function level reset and a loss of the link."""

import pytest
from migen import passive

from litepcie_soc.soc import reset
from litepcie_soc.soc.reset import FunctionReset
from test.gateware.simulation import simulate
from test.gateware.steps import wait

SETTLE = 40


@pytest.fixture(autouse=True)
def short_settle(monkeypatch):
    monkeypatch.setattr(reset, "SETTLE_CYCLES", SETTLE)


class Card:
    """Engines that need `drain` cycles for a reset. Records the cycles in which the outputs are asserted."""
    def __init__(self, drain=5):
        self.dut   = FunctionReset()
        self.drain = drain
        self.left  = 0
        self.cycle = 0
        self.seen  = {name: [] for name in ("reset", "active", "done", "busy")}

    @passive
    def engines(self):
        dut = self.dut
        while True:
            for name, cycles in self.seen.items():
                if (yield getattr(dut, name)):
                    cycles.append(self.cycle)
            if (yield dut.reset):
                self.left = self.drain
            yield dut.busy.eq(self.left != 0)
            self.left = max(0, self.left - 1)
            self.cycle += 1
            yield

    def run(self, *steps):
        """Each step is (signals and their values, cycles)."""
        def drive():
            yield self.dut.link_up.eq(1)
            yield from wait(200)
            self.began = self.cycle
            for values, cycles in steps:
                for name, value in values.items():
                    yield getattr(self.dut, name).eq(value)
                yield from wait(cycles)
        simulate(self.dut, [self.engines(), drive()])
        return self

    def after(self, name, cycle):
        return [at for at in self.seen[name] if at >= cycle]


@pytest.mark.parametrize("drain", [1, 5, 60])
def test_function_level_reset_ends_after_the_engines_are_reset(drain):
    card = Card(drain).run(({"function_reset": 1}, 200), ({"function_reset": 0}, 200))
    first_reset, first_done = card.after("reset", card.began)[0], card.seen["done"][0]
    assert first_reset - card.began < 5
    assert first_done - card.began >= SETTLE - 1
    assert first_done >= first_reset + drain and first_done not in card.seen["busy"]
    # One more pass after the host is told, then nothing.
    resets = card.after("reset", card.began + 200)
    assert resets and resets[-1] - card.began - 200 <= 2*drain + 10
    assert card.seen["active"][-1] <= resets[-1] + drain + 4


def test_a_loss_of_the_link_resets_until_after_it_is_up_again():
    for down in (1, 2, 3, 7, 50):
        card = Card().run(({"link_up": 0}, down), ({"link_up": 1}, 100))
        assert not card.seen["done"]
        # A whole pass begins after the link is up.
        assert any(at >= card.began + down for at in card.seen["reset"]), (down, card.seen)
        # From the loss of the link to the end of that pass the registers are held.
        active = card.after("active", card.began)
        assert active == [*range(active[0], active[-1] + 1)] and active[0] - card.began < 4
        assert active[-1] - card.began - down < 20


def test_a_function_level_reset_during_a_loss_of_the_link_waits_for_its_own_pass():
    card = Card(drain=30).run(({"link_up": 0}, 5), ({"function_reset": 1}, 300))
    own  = card.after("reset", card.began + 5)[0]
    assert card.seen["done"][0] >= own + 30
