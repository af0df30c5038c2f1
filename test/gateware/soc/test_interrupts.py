# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""MSIs of engines. Those of the user's logic: test/formal/test_user.py, test/guest/src/interrupt.c."""

import random

import pytest
from migen import Signal, passive
from litex.soc.cores.timer import Timer
from litex.soc.integration.soc_core import SoCMini
from litex.soc.interconnect import stream

from litepcie_soc.build.regs import ReferenceSoC
from litepcie_soc.common import abi
from litepcie_soc.soc import regs
from litepcie_soc.soc.msi import MSIX, MSIMerger, msi_layout
from litepcie_soc.tlp.ports import MemoryWritePort
from test.gateware.simulation import simulate
from test.gateware.soc.test_user_bus import platform, with_card
from test.gateware.steps import wait


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


@pytest.mark.parametrize("name, bits, text", [
    ("Timer", 1, "interrupt name 'Timer' is not supported; give a lower-case letter, then up to 14 of a-z, 0-9 and _"),
    ("sixteen_of_these", 1, "interrupt name 'sixteen_of_these' is not supported"),
    ("taken", 1, "interrupt name 'taken' is taken; give another one"),
    ("wide", 2, "interrupt wide has a source of 2 bits; give one bit")])
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


def run(engines, messages, enable=1, stall=0.0, held=0):
    """Vectors that reach the PHY when every engine sends ``messages`` of its own vector.

    Bus mastering is off for ``held`` cycles.
    """
    rng     = random.Random(engines)
    sources = [stream.Endpoint(msi_layout()) for _ in range(engines)]
    dut     = MSIMerger(sources)
    seen    = []
    def engine(source, vector):
        yield [source.dat.eq(vector), source.valid.eq(1)]
        for _ in range(messages):
            yield
            while not (yield source.ready):
                yield
        yield source.valid.eq(0)
        yield from wait(100)  # Values that are still in the registers.
    @passive
    def phy():
        yield dut.enable.eq(enable)
        for _ in range(held):
            assert not (yield dut.source.valid)
            yield
        yield dut.master.eq(1)
        offered = None
        while True:
            yield dut.source.ready.eq(int(rng.random() >= stall))
            yield
            valid, ready = (yield dut.source.valid), (yield dut.source.ready)
            if offered is not None:
                assert valid and (yield dut.source.dat) == offered, "taken back or changed"
            offered = (yield dut.source.dat) if valid and not ready else None
            if valid and ready:
                seen.append((yield dut.source.dat))
    simulate(dut, [engine(source, n) for n, source in enumerate(sources)] + [phy()])
    return seen


@pytest.mark.parametrize("engines, stall", [(1, 0), (4, 0.7)])
def test_every_message_once(engines, stall):
    seen = run(engines, 20, stall=stall)
    assert sorted(seen) == sorted(n for n in range(engines) for _ in range(20))


def test_no_engine_waits_behind_another_twice():
    seen = run(3, 20)
    for at in range(0, 54, 3):
        assert set(seen[at:at + 3]) == {0, 1, 2}


def test_dropped_while_disabled_and_engines_go_on():
    assert run(2, 20, enable=0, stall=1) == []


def test_messages_wait_while_bus_mastering_is_off():
    assert sorted(run(3, 1, held=50)) == [0, 1, 2]


@pytest.mark.parametrize("vectors", [0, 33])
def test_number_of_vectors_of_msix(vectors):
    """What MSI-X does: test/formal/test_user.py, test/sim/test_msix.py."""
    with pytest.raises(ValueError, match=f"vectors must be 1..32, not {vectors}"):
        MSIX(MemoryWritePort(128), vectors)
