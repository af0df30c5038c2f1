#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Interrupts of the user's logic in a SoC. What they do: test/formal/test_user.py, test/sim/test_interrupts.py."""

import pytest

from migen import Signal

from litex.soc.cores.timer import Timer
from litex.soc.integration.soc_core import SoCMini

from litepcie_soc.common import abi
from litepcie_soc.soc import regs
from litepcie_soc.soc.reference import ReferenceSoC

from test.gateware.soc.test_user_bus import platform, with_card

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
