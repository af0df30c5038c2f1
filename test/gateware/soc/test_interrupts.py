#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Interrupts of the user's logic: levels, pulses, storms, resets, vectors."""

import random

import pytest

from migen import Signal, passive

from litex.soc.cores.timer import Timer
from litex.soc.integration.soc_core import SoCMini

from litepcie_soc.common import abi
from litepcie_soc.soc import regs
from litepcie_soc.soc.interrupts import UserInterrupts
from litepcie_soc.soc.reference import ReferenceSoC

from test.gateware.simulation import simulate
from test.gateware.soc.test_user_bus import platform, with_card
from test.gateware.steps import pulse, wait

LEVEL, PULSE, STORM = range(3)
LIMIT = 20   # Cycles within which a message that may be sent is sent.


class Bench:
    """The unit with a level and two pulses, and a taker of messages that is often not ready."""
    def __init__(self, seed=1):
        self.rng      = random.Random(seed)
        self.sources  = [Signal() for _ in range(3)]
        self.dut      = UserInterrupts([("level", self.sources[0], False), ("pulse", self.sources[1], True),
            ("storm", self.sources[2], True)])
        self.messages = []

    def write(self, register, value):
        """As the register bus does: the value is there in the cycle of ``re``."""
        yield register.storage.eq(value)
        yield from pulse(register.re)

    def vectors(self, first, each):
        yield self.dut.vector.fields.first.eq(first)
        yield self.dut.vector.fields.each.eq(int(each))

    def pulse(self, n):
        yield from pulse(self.sources[n])

    def cycles(self, count=LIMIT):
        yield from wait(count)

    def status(self):
        dut = self.dut
        return (yield dut.armed.status), (yield dut.pending.status), (yield dut.fired.status)

    @passive
    def taker(self):
        source = self.dut.source
        while True:
            yield source.ready.eq(int(self.rng.random() < 0.5))
            yield
            if (yield source.valid) and (yield source.ready):
                self.messages.append((yield source.dat))

    def run(self, test):
        def whole():
            yield self.dut.enable.eq(1)
            yield from test()

        simulate(self.dut, [whole(), self.taker()], cycles=10**6)


def test_nothing_fires_that_is_not_armed():
    bench = Bench()

    def test():
        yield bench.sources[LEVEL].eq(1)
        yield from bench.pulse(PULSE)
        yield from bench.cycles()
        assert bench.messages == []
        assert (yield from bench.status()) == (0, 0b011, 0)

    bench.run(test)


def test_a_level_fires_once_for_each_arming():
    bench = Bench()

    def test():
        yield from bench.write(bench.dut.arm, 1 << LEVEL)
        yield from bench.cycles()
        assert bench.messages == [] and (yield from bench.status()) == (1, 0, 0)
        yield bench.sources[LEVEL].eq(1)
        yield from bench.cycles(10*LIMIT)
        assert bench.messages == [0] and (yield from bench.status()) == (0, 1, 1)
        yield from bench.write(bench.dut.arm, 1 << LEVEL)
        yield from bench.cycles(10*LIMIT)
        assert bench.messages == [0, 0] and (yield from bench.status()) == (0, 1, 1)
        yield bench.sources[LEVEL].eq(0)
        yield from bench.cycles(4)
        yield from bench.write(bench.dut.arm, 1 << LEVEL)
        yield from bench.cycles()
        assert bench.messages == [0, 0] and (yield from bench.status()) == (1, 0, 0)

    bench.run(test)


def test_a_pulse_after_the_message_fires_at_the_next_arming():
    bench = Bench()

    def test():
        yield from bench.vectors(4, True)
        yield from bench.write(bench.dut.arm, 1 << PULSE)
        yield from bench.pulse(PULSE)
        yield from bench.cycles()
        assert bench.messages == [5] and (yield from bench.status()) == (0, 0, 2)
        for _ in range(3):
            yield from bench.pulse(PULSE)
        yield from bench.cycles()
        assert bench.messages == [5] and (yield from bench.status()) == (0, 2, 2)
        yield from bench.write(bench.dut.arm, 1 << PULSE)
        yield from bench.cycles()
        assert bench.messages == [5, 5] and (yield from bench.status()) == (0, 0, 2)

    bench.run(test)


def test_disarm_and_forget():
    bench = Bench()

    def test():
        yield from bench.write(bench.dut.arm, 0b111)
        yield from bench.write(bench.dut.disarm, 1 << PULSE)
        yield from bench.pulse(PULSE)
        yield from bench.cycles()
        assert bench.messages == [] and (yield from bench.status()) == (0b101, 2, 0)
        yield from bench.write(bench.dut.forget, 1 << PULSE)
        yield from bench.write(bench.dut.arm, 1 << PULSE)
        yield from bench.cycles()
        assert bench.messages == [] and (yield from bench.status()) == (0b111, 0, 0)

    bench.run(test)


@pytest.mark.parametrize("each, vectors", [(True, [3, 4, 5]), (False, [3, 3, 3])], ids=["each", "shared"])
def test_vectors(each, vectors):
    bench = Bench()

    def test():
        yield from bench.vectors(3, each)
        for n in range(3):
            yield from bench.write(bench.dut.arm, 1 << n)
            yield from bench.pulse(n)
            yield from bench.cycles()
            assert (yield from bench.status())[2] == (2 << n) - 1
        assert bench.messages == vectors

    bench.run(test)


def test_a_storm_starves_no_other_and_fires_once_for_each_arming():
    """A pulse in each cycle, armed again as soon as it fired, beside single pulses."""
    bench = Bench()

    def test():
        armed = 0
        yield from bench.vectors(0, True)
        yield bench.sources[STORM].eq(1)
        for n in range(300):
            if not (yield from bench.status())[0] >> STORM & 1:
                armed += 1
                yield from bench.write(bench.dut.arm, 1 << STORM)
            if n % 100 == 0:
                yield from bench.write(bench.dut.arm, 1 << PULSE)
                yield from bench.pulse(PULSE)
            yield
        yield from bench.cycles()
        assert bench.messages.count(STORM) == armed and armed > 30
        assert bench.messages.count(PULSE) == 3

    bench.run(test)


@pytest.mark.parametrize("seed", range(4))
def test_no_pulse_is_lost_at_any_time(seed):
    """The host arms again some time after each message; after the last pulse comes a message."""
    bench = Bench(seed)

    def test():
        yield from bench.write(bench.dut.arm, 1 << PULSE)
        for _ in range(60):
            seen = len(bench.messages)
            yield from bench.cycles(bench.rng.randrange(5))
            yield from bench.pulse(PULSE)
            while len(bench.messages) == seen:
                yield
            yield from bench.cycles(bench.rng.randrange(5))
            if bench.rng.random() < 0.5:
                before = len(bench.messages)
                yield from bench.pulse(PULSE)
                yield from bench.write(bench.dut.arm, 1 << PULSE)
                yield from bench.cycles(LIMIT)
                assert len(bench.messages) == before + 1
            yield from bench.write(bench.dut.arm, 1 << PULSE)

    bench.run(test)


def test_a_reset_disarms_and_forgets():
    bench = Bench()

    def test():
        yield from bench.pulse(STORM)
        yield from bench.write(bench.dut.arm, 1 << PULSE)
        yield bench.dut.enable.eq(0)
        yield from bench.pulse(PULSE)
        yield from bench.cycles()
        assert bench.messages == []
        yield from pulse(bench.dut.reset)
        yield bench.dut.enable.eq(1)
        yield from bench.cycles()
        assert bench.messages == [] and (yield from bench.status()) == (0, 0, 0)

    bench.run(test)

# In the SoC ---------------------------------------------------------------------------------------


def test_what_software_reads():
    soc = SoCMini(platform(), 100e6)
    soc.timer0 = Timer()
    with_card(soc, add=lambda card: card.add_interrupt("timer", soc.timer0.ev.irq))
    assert regs.moved(soc) == []
    assert soc.constants["CONFIG_PCIE_INTERRUPT_TIMER"] == 0
    assert soc.litepcie.banks.regions["interrupts"].origin == abi.INTERRUPTS_BASE


def test_a_card_without_interrupts_has_no_bank():
    soc = with_card(SoCMini(platform(), 100e6))
    assert "interrupts" not in soc.litepcie.banks.regions and not hasattr(soc.litepcie, "interrupts")
    assert not [name for name in soc.constants if "INTERRUPT_" in name]

# What cannot be -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name, bits, text", [
    ("Timer", 1, "interrupt name 'Timer' is not supported; give a lower-case letter, then up to 14 of a-z, 0-9 and _"),
    ("sixteen_of_these", 1, "interrupt name 'sixteen_of_these' is not supported"),
    ("taken", 1, "interrupt name 'taken' is taken; give another one"),
    ("wide", 2, "interrupt wide has a source of 2 bits; give one bit"),
])
def test_what_cannot_be(name, bits, text):
    card = ReferenceSoC().litepcie
    card.add_interrupt("taken", Signal())
    with pytest.raises(ValueError, match=text):
        card.add_interrupt(name, Signal(bits))


def test_too_many_or_too_late():
    soc = ReferenceSoC()
    for n in range(16):
        soc.litepcie.add_interrupt(f"n{n}", Signal())
    with pytest.raises(ValueError, match="17 interrupts are not supported; give 1 to 16"):
        soc.litepcie.add_interrupt("n16", Signal())
    soc.finalize()
    with pytest.raises(ValueError, match="interrupt late comes too late; add it before the SoC is finalised"):
        soc.litepcie.add_interrupt("late", Signal())
