#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Interrupts of the user's logic, from its registers to the events of a vfio-user client, without a guest."""

import functools
import json

import pytest

from litepcie_soc.soc import regs

from test.conftest import FULL_BOARD
from test.sim.vfio_user_client import BAR0, CONFIG, Client, connected

REGS    = {name.removeprefix("LITEPCIE_"): int(value, 0)
    for name, value in regs.macros(regs.COMMITTED.read_text()).items() if "(" not in name + value}
USER    = 0x80000                          # In BAR0.
NAMES   = ["level", "pulse", "storm", "timer", "copied"]
LEVEL, PULSE, STORM, TIMER = range(4)
ENGINES = 8                                # Of two memory channels and two streams.
VECTORS = ENGINES + len(NAMES)


@pytest.fixture(scope="module")
def board(build_board):
    return build_board(**FULL_BOARD)


class Card(Client):
    """The card of a board, with the registers of its user."""
    def __init__(self, path, board):
        Client.__init__(self, path)
        text      = (board / "software" / "include" / "generated" / "csr.json").read_text()
        self.csrs = {name: csr["addr"] for name, csr in json.loads(text)["csr_registers"].items()}

    def start(self, msix=VECTORS):
        self.set_up(msix=msix)
        self.put("VECTOR", msix and REGS["INTERRUPT_VECTOR_EACH"] | ENGINES)

    def put(self, name, value):
        self.write(BAR0, REGS[f"INTERRUPT_{name}"], value)

    def get(self, name):
        return self.read(BAR0, REGS[f"INTERRUPT_{name}"])

    def core(self, name, value):
        self.write(BAR0, USER + self.csrs[f"core_{name}"], value)

    def came(self, n):
        return self.wait_interrupt(vector=ENGINES + n)

    def silent(self, *numbers):
        return self.nothing_comes(*(ENGINES + n for n in numbers))


@pytest.fixture
def card(board, tmp_path):
    program = board / "simulator" / "litepcie_simulator"
    with connected(program, tmp_path, functools.partial(Card, board=board)) as card:
        yield card


def test_what_the_card_says(card, board):
    card.start()
    assert card.irq_count(2) == VECTORS
    assert card.read(BAR0, REGS["CAPABILITIES"]) & REGS["CAPABILITY_INTERRUPT"]
    assert (card.get("COUNT"), card.get("PULSE")) == (5, 0b10110)
    first = card.csrs["interrupts_name0_0"]
    words = [card.read(BAR0, first + 4*n) for n in range(4*len(NAMES))]
    text  = b"".join(word.to_bytes(4, "little") for word in words)
    assert [text[n:n + 16].rstrip(b"\0").decode() for n in range(0, 16*len(NAMES), 16)] == NAMES
    constants = json.loads((board / "software" / "include" / "generated" / "csr.json").read_text())["constants"]
    assert [constants[f"config_pcie_interrupt_{name}"] for name in NAMES] == [0, 1, 2, 3, 4]


def test_a_level_and_a_pulse_have_their_vectors(card):
    card.start()
    card.put("ARM", 0b1111)
    for n, name in ((PULSE, "pulse"), (LEVEL, "level")):
        card.core(name, 1)
        assert card.came(n) == 1
        assert card.get("FIRED") == (0b0010 if n == PULSE else 0b0011)
    assert card.silent(*range(4))
    card.put("ARM", 0b0011)                    # The level is still high, the pulse is over.
    assert card.came(LEVEL) == 1 and card.silent(PULSE)


def test_a_storm_comes_once_for_each_arming(card):
    card.start()
    card.core("storm", 1)
    for _ in range(3):
        card.put("ARM", 1 << STORM)
        assert card.came(STORM) == 1
        assert card.silent(STORM)
        assert card.read(BAR0, 0) == REGS["MAGIC_VALUE"]


def test_a_timer_of_litex_expires_while_the_host_sends_nothing(card):
    """EventManager as a level, after longer than the simulator waits for a card that sends nothing."""
    card.start()
    card.core("timer_ev_enable", 1)
    card.core("timer_load", 50_000)        # IdleRule::kLingerCycles is 4096.
    card.core("timer_ev_pending", 1)           # LiteX's timer has its event pending after the power-on.
    card.put("ARM", 1 << TIMER)
    for _ in range(2):
        card.core("timer_en", 0)
        card.core("timer_en", 1)
        assert card.came(TIMER) == 1
        card.core("timer_ev_pending", 1)
        card.put("ARM", 1 << TIMER)
        assert card.silent(TIMER)


def test_one_msi_for_all(card):
    card.start(msix=0)
    card.put("ARM", 0b1111)
    card.core("pulse", 1)
    assert card.wait_interrupt(vector=0) == 1 and card.get("FIRED") == 1 << PULSE
    card.core("level", 1)
    assert card.wait_interrupt(vector=0) == 1 and card.get("FIRED") == 0b0011


def test_a_reset_of_the_function_disarms(card):
    card.start()
    card.put("ARM", 0b1111)
    assert card.get("ARMED") == 0b1111
    card.write(CONFIG, 0x68, 1 << 15, 2, posted=False)
    card.write(CONFIG, 0x10, 0xe0000000, posted=False)
    card.write(CONFIG, 0x04, 6, 2, posted=False)
    assert [card.get(name) for name in ("VECTOR", "ARMED", "PENDING", "FIRED")] == [0]*4
    card.core("level", 1)
    assert card.get("PENDING") == 1 and card.silent(*range(4))
