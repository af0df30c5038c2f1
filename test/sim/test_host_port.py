#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The user core's copier on buffers in the memory of a vfio-user client, without a guest."""

import functools
import random

import pytest

from test.sim.test_interrupts import ENGINES, REGS, USER, VECTORS, board  # noqa: F401 (a fixture)
from test.sim.test_interrupts import Card as UserCard
from test.sim.vfio_user_client import BAR0, CONFIG, connected

COPIED = 4                              # Number of the interrupt.
LIMIT  = 1 << 20
PAGE   = 4096
MEMORY = 0x10_0000                      # Bus address of the client's memory.
READ, WRITE = REGS["HOST_SET_READ"], REGS["HOST_SET_WRITE"]
START, AGAIN = 1, 2


class Card(UserCard):
    """The card, of which the test is the driver and the copier's program."""
    def put(self, name, value):
        self.write(BAR0, REGS[name], value)

    def get(self, name):
        return self.read(BAR0, REGS[name])

    def give(self, number, address, size, flags=READ | WRITE):
        for name, value in (("BASE_LO", address), ("BASE_HI", 0), ("SIZE", size), ("SET", number | flags)):
            self.put(f"HOST_{name}", value)

    def core(self, name):
        return self.read(BAR0, USER + self.csrs[f"user_copier_{name}"])

    def copy(self, source, target, words, control=START):
        for name, value in (("source", source), ("target", target), ("words", words), ("control", control)):
            self.write(BAR0, USER + self.csrs[f"user_copier_{name}"], value)

    def move(self, address, endpoint, length, write, tag=0):
        """Submits a descriptor of the user core's mover."""
        for name, value in (("address", address), ("endpoint", endpoint), ("length", length),
                ("submit", tag | write << 8)):
            self.write(BAR0, USER + self.csrs[f"user_mover_{name}"], value)
        while self.read(BAR0, USER + self.csrs["user_mover_busy"]):
            pass

    def moved(self, count):
        """Waits until `count` descriptors have ended in all; returns (reason, tag, write) of the last one."""
        while self.read(BAR0, USER + self.csrs["user_mover_ended"]) < count:
            pass
        last = self.read(BAR0, USER + self.csrs["user_mover_last"])
        return last & 0xff, last >> 8 & 0xff, last >> 16

    def stop(self):
        self.write(BAR0, USER + self.csrs["user_copier_control"], 0)
        while self.core("status"):
            pass


@pytest.fixture
def card(board, tmp_path):  # noqa: F811
    program = board / "simulator" / "litepcie_simulator"
    with connected(program, tmp_path, functools.partial(Card, board=board)) as card:
        card.set_up(msix=VECTORS)
        card.put("INTERRUPT_VECTOR", REGS["INTERRUPT_VECTOR_EACH"] | ENGINES)
        yield card


@pytest.fixture
def memory(card):
    """The memory of the client, with random bytes; `whole()` is a copy."""
    card.map(MEMORY, len(card.memory))
    card.memory[:] = random.Random(5).randbytes(len(card.memory))
    card.give(0, MEMORY + 0x10000, 4*PAGE, READ)
    card.give(1, MEMORY + 0x40000, 2*PAGE, READ | WRITE)
    return card.memory


def expected(before, source, target, size):
    return before[:target] + before[source:source + size] + before[target + size:]


def test_copies_are_in_memory_when_the_interrupt_comes(card, memory):
    """Many short copies, each compared at once; nothing else in the memory changes."""
    rng = random.Random(1)
    for _ in range(15):
        words  = rng.randrange(1, 40)
        source = 4*rng.randrange(PAGE - words)
        target = 4*rng.randrange(PAGE // 2 - words)
        before = memory[:]
        card.put("INTERRUPT_ARM", 1 << COPIED)
        card.copy(source, LIMIT + target, words)
        assert card.wait_interrupt(vector=ENGINES + COPIED) == 1
        assert memory[:] == expected(before, 0x10000 + source, 0x40000 + target, 4*words)
    assert card.core("errors") == card.get("HOST_ERRORS") == 0


def test_descriptors_of_the_logic_move_through_the_endpoint_memory(card, memory):
    """Any length and place, four at once; when an end says so, the bytes are in memory, and no others changed."""
    rng   = random.Random(2)
    ended = 0
    for _ in range(10):
        places = [(rng.randrange(4*PAGE - length), n*0x8000 + rng.randrange(64), rng.randrange(PAGE // 2 - length)
            + n*PAGE // 2, length) for n, length in enumerate(rng.randrange(1, PAGE // 4) for _ in range(4))]
        before = memory[:]
        for n, (source, endpoint, _, length) in enumerate(places):
            card.move(source, endpoint, length, 0, n)
        assert card.moved(ended + 4) == (0, 3, 0)
        for n, (_, endpoint, target, length) in enumerate(places):
            card.move(LIMIT + target, endpoint, length, 1, n)
        ended += 8
        assert card.moved(ended) == (0, 3, 1)
        for source, _, target, length in places:
            before = expected(before, 0x10000 + source, 0x40000 + target, length)
        assert memory[:] == before
    card.move(LIMIT + 2*PAGE - 3, 0, 4, 1, 9)
    assert card.moved(ended + 1) == (REGS["REASON_MEMORY_RANGE"], 9, 1)
    card.move(0, 0, 4, 1, 10)
    assert card.moved(ended + 2) == (REGS["HOST_REASON_DENIED"], 10, 1)
    assert memory[:] == before and card.get("HOST_ERRORS") == 2


def test_descriptors_end_when_the_function_is_reset(card, memory):
    """Each ends once. The card may be done before the reset comes, so the test is repeated until one was too late."""
    for ended in range(0, 250, 5):
        for n in range(4):
            card.move(0, 0, 4*PAGE, 0, n)
        card.write(CONFIG, 0x68, 1 << 15, 2, posted=False)
        card.write(CONFIG, 0x10, 0xe0000000, posted=False)
        card.write(CONFIG, 0x04, 6, 2, posted=False)
        reason, _, _ = card.moved(ended + 4)
        assert card.get("HOST_VALID") == card.get("HOST_BUSY") == 0
        card.give(0, MEMORY + 0x10000, 4*PAGE, READ)
        card.move(0, 0, 4*PAGE, 0, 4)
        assert card.moved(ended + 5) == (0, 4, 0)
        if reason == REGS["REASON_BUS_MASTER"]:
            return
        assert reason == 0
    raise AssertionError("no reset came while a descriptor was executed")


def test_out_of_range_is_refused_and_counted(card, memory):
    before = memory[:]
    card.copy(3*PAGE, LIMIT + 2*PAGE - 64, 32)     # The last 16 do not fit.
    card.stop()
    assert memory[:] == expected(before, 0x10000 + 3*PAGE, 0x40000 + 2*PAGE - 64, 64)
    assert (card.core("errors"), card.core("copied"), card.get("HOST_ERRORS")) == (16, 16, 16)
    assert card.get("HOST_ERROR") == REGS["REASON_MEMORY_RANGE"] | 1 << 8 | REGS["HOST_ERROR_WRITE"]
    before = memory[:]
    for source, target, reason in ((LIMIT, 0, REGS["HOST_REASON_DENIED"] | REGS["HOST_ERROR_WRITE"]),
            (2*LIMIT, LIMIT, REGS["HOST_REASON_NO_BUFFER"] | 2 << 8), (0xffff_fffc, LIMIT, 3 << 8 | 16)):
        card.copy(source, target, 1)
        card.stop()
        assert (card.core("errors"), card.core("copied"), card.get("HOST_ERROR")) == (1, 0, reason)
    assert memory[:] == before and card.get("HOST_ERRORS") == 19


def test_memory_that_was_taken_from_the_card_stays(card, memory):
    """A copy that runs again and again, while the driver takes its target and later gives other memory."""
    for place in (0x40000, 0x60000, 0x50000):
        card.give(1, MEMORY + place, 2*PAGE)
        card.copy(0, LIMIT, 64, START | AGAIN)
        while card.core("copied") < 200:
            pass
        assert memory[place:place + 256] == memory[0x10000:0x10000 + 256]
        card.put("HOST_CLEAR", 0b10)
        while card.get("HOST_BUSY") & 0b10:
            pass
        memory[place:place + 2*PAGE] = bytes(2*PAGE)
        before = memory[:]
        for _ in range(100):
            card.get("HOST_BUSY")
        assert memory[:] == before and card.core("errors") > 0
        card.stop()


def test_a_reset_of_the_function_and_bus_mastering_end_it(card, memory):
    card.copy(0, LIMIT, 64, START | AGAIN)
    while card.core("copied") < 100:
        pass
    card.write(CONFIG, 0x04, 2, 2, posted=False)            # Bus mastering off.
    while card.get("HOST_ERROR") & 0xff != REGS["REASON_BUS_MASTER"]:
        pass
    assert card.get("HOST_VALID") == 0b11
    card.write(CONFIG, 0x04, 6, 2, posted=False)
    copied = card.core("copied")
    while card.core("copied") == copied:
        pass
    card.write(CONFIG, 0x68, 1 << 15, 2, posted=False)
    card.write(CONFIG, 0x10, 0xe0000000, posted=False)
    card.write(CONFIG, 0x04, 6, 2, posted=False)
    before = memory[:]
    assert [card.get(f"HOST_{name}") for name in ("VALID", "BASE_LO", "SIZE")] == [0]*3
    errors = card.get("HOST_ERRORS")
    while card.get("HOST_ERRORS") == errors:
        pass
    card.stop()
    assert memory[:] == before
