# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The user's logic of the card and a vfio-user client, without a guest: interrupts, the host port, a processor.

What the driver reads and tells of interrupts, and their storms, are in test/guest/test_user_interrupts.py.
"""

import functools
import json
import random
import subprocess

from pathlib import Path

import pytest

from litepcie_soc.common.abi import USER_OFFSET
from litepcie_soc.soc import regs
from litepcie_soc.soc.export import export_headers, export_verilog
from test.conftest import FULL_BOARD
from test.examples.conftest import example
from test.sim.vfio_user_client import BAR0, Client, connected

REGS    = {name.removeprefix("LITEPCIE_"): int(value, 0)
    for name, value in regs.macros(regs.COMMITTED.read_text()).items() if "(" not in name + value}
ROOT    = Path(__file__).resolve().parents[2]
NAMES   = ["level", "pulse", "storm", "timer", "copied"]
LEVEL, PULSE, STORM, TIMER = range(4)
ENGINES = 8                                # Of two memory channels and two streams.
VECTORS = ENGINES + len(NAMES)
COPIED  = 4                                # Number of the copier's interrupt.
LIMIT, PAGE  = 1 << 20, 4096
MEMORY       = 0x10_0000                   # Bus address of the client's memory.
READ, WRITE  = REGS["HOST_SET_READ"], REGS["HOST_SET_WRITE"]
START, AGAIN = 1, 2
ASKED, ANSWERED, COUNT, SUM, DATA = (USER_OFFSET + 4*n for n in range(5))  # Of examples/gateware/riscv.py.


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
        self.put("INTERRUPT_VECTOR", msix and REGS["INTERRUPT_VECTOR_EACH"] | ENGINES)

    def put(self, name, value):
        self.write(BAR0, REGS[name], value)

    def get(self, name):
        return self.read(BAR0, REGS[name])

    def core(self, name, value):
        self.write(BAR0, USER_OFFSET + self.csrs[f"core_{name}"], value)

    def came(self, n):
        return self.wait_interrupt(vector=ENGINES + n)

    def silent(self, *numbers):
        return self.nothing_comes(*(ENGINES + n for n in numbers))

    def give(self, number, address, size, flags=READ | WRITE):
        for name, value in (("BASE_LO", address), ("BASE_HI", 0), ("SIZE", size), ("SET", number | flags)):
            self.put(f"HOST_{name}", value)

    def copier(self, name):
        return self.read(BAR0, USER_OFFSET + self.csrs[f"user_copier_{name}"])

    def copy(self, source, target, words, control=START):
        for name, value in (("source", source), ("target", target), ("words", words), ("control", control)):
            self.write(BAR0, USER_OFFSET + self.csrs[f"user_copier_{name}"], value)

    def mover(self, name, value=None):
        at = USER_OFFSET + self.csrs[f"user_mover_{name}"]
        return self.read(BAR0, at) if value is None else self.write(BAR0, at, value)

    def move(self, address, endpoint, length, write, tag=0):
        """Submits a descriptor of the user core's mover."""
        for name, value in (("address", address), ("endpoint", endpoint), ("length", length),
                ("submit", tag | write << 8)):
            self.mover(name, value)
        while self.mover("busy"):
            pass

    def moved(self, count):
        """Waits until `count` descriptors have ended in all; returns (reason, tag, write) of the last one."""
        while self.mover("ended") < count:
            pass
        last = self.mover("last")
        return last & 0xff, last >> 8 & 0xff, last >> 16

    def stop(self):
        self.write(BAR0, USER_OFFSET + self.csrs["user_copier_control"], 0)
        while self.copier("status"):
            pass


@pytest.fixture
def card(board, tmp_path):
    program = board / "simulator" / "litepcie_simulator"
    with connected(program, tmp_path, functools.partial(Card, board=board)) as card:
        yield card


def test_a_level_and_a_pulse_have_their_vectors(card):
    card.start()
    card.put("INTERRUPT_ARM", 0b1111)
    for n, name in ((PULSE, "pulse"), (LEVEL, "level")):
        card.core(name, 1)
        assert card.came(n) == 1
        assert card.get("INTERRUPT_FIRED") == (0b0010 if n == PULSE else 0b0011)
    assert card.silent(*range(4))
    card.put("INTERRUPT_ARM", 0b0011)         # The level is still high, the pulse is over.
    assert card.came(LEVEL) == 1 and card.silent(PULSE)


def test_a_timer_of_litex_expires_while_the_host_sends_nothing(card):
    """EventManager as a level, after longer than the simulator waits for a card that sends nothing."""
    card.start()
    card.core("timer_ev_enable", 1)
    card.core("timer_load", 50_000)        # IdleRule::kLingerCycles is 4096.
    card.core("timer_ev_pending", 1)           # LiteX's timer has its event pending after the power-on.
    card.put("INTERRUPT_ARM", 1 << TIMER)
    for _ in range(2):
        card.core("timer_en", 0)
        card.core("timer_en", 1)
        assert card.came(TIMER) == 1
        card.core("timer_ev_pending", 1)
        card.put("INTERRUPT_ARM", 1 << TIMER)
        assert card.silent(TIMER)


def test_one_msi_for_all(card):
    card.start(msix=0)
    card.put("INTERRUPT_ARM", 0b1111)
    card.core("pulse", 1)
    assert card.wait_interrupt(vector=0) == 1 and card.get("INTERRUPT_FIRED") == 1 << PULSE
    card.core("level", 1)
    assert card.wait_interrupt(vector=0) == 1 and card.get("INTERRUPT_FIRED") == 0b0011


def test_a_reset_of_the_function_disarms(card):
    card.start()
    card.put("INTERRUPT_ARM", 0b1111)
    assert card.get("INTERRUPT_ARMED") == 0b1111
    card.reset_function()
    assert [card.get(f"INTERRUPT_{name}") for name in ("VECTOR", "ARMED", "PENDING", "FIRED")] == [0]*4
    card.core("level", 1)
    assert card.get("INTERRUPT_PENDING") == 1 and card.silent(*range(4))


@pytest.fixture
def memory(card):
    """The memory of the client, with random bytes; `whole()` is a copy."""
    card.start()
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
    assert card.copier("errors") == card.get("HOST_ERRORS") == 0


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
        card.reset_function()
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
    assert (card.copier("errors"), card.copier("copied"), card.get("HOST_ERRORS")) == (16, 16, 16)
    assert card.get("HOST_ERROR") == REGS["REASON_MEMORY_RANGE"] | 1 << 8 | REGS["HOST_ERROR_WRITE"]
    before = memory[:]
    for source, target, reason in ((LIMIT, 0, REGS["HOST_REASON_DENIED"] | REGS["HOST_ERROR_WRITE"]),
            (2*LIMIT, LIMIT, REGS["HOST_REASON_NO_BUFFER"] | 2 << 8), (0xffff_fffc, LIMIT, 3 << 8 | 16)):
        card.copy(source, target, 1)
        card.stop()
        assert (card.copier("errors"), card.copier("copied"), card.get("HOST_ERROR")) == (1, 0, reason)
    assert memory[:] == before and card.get("HOST_ERRORS") == 19


def test_memory_that_was_taken_from_the_card_stays(card, memory):
    """A copy that runs again and again, while the driver takes its target and later gives other memory."""
    for place in (0x40000, 0x60000, 0x50000):
        card.give(1, MEMORY + place, 2*PAGE)
        card.copy(0, LIMIT, 64, START | AGAIN)
        while card.copier("copied") < 200:
            pass
        assert memory[place:place + 256] == memory[0x10000:0x10000 + 256]
        card.put("HOST_CLEAR", 0b10)
        while card.get("HOST_BUSY") & 0b10:
            pass
        memory[place:place + 2*PAGE] = bytes(2*PAGE)
        before = memory[:]
        for _ in range(100):
            card.get("HOST_BUSY")
        assert memory[:] == before and card.copier("errors") > 0
        card.stop()


def test_a_reset_of_the_function_and_bus_mastering_end_it(card, memory):
    card.copy(0, LIMIT, 64, START | AGAIN)
    while card.copier("copied") < 100:
        pass
    card.enable(2)            # Bus mastering off.
    while card.get("HOST_ERROR") & 0xff != REGS["REASON_BUS_MASTER"]:
        pass
    assert card.get("HOST_VALID") == 0b11
    card.enable()
    copied = card.copier("copied")
    while card.copier("copied") == copied:
        pass
    card.reset_function()
    before = memory[:]
    assert [card.get(f"HOST_{name}") for name in ("VALID", "BASE_LO", "SIZE")] == [0]*3
    errors = card.get("HOST_ERRORS")
    while card.get("HOST_ERRORS") == errors:
        pass
    card.stop()
    assert memory[:] == before


def test_a_cpu_beside_the_card_elaborates():
    soc = example("riscv").SoC()
    soc.finalize()
    assert regs.moved(soc) == []
    assert {"pcie", "cpu_bus0", "cpu_bus1"} == set(soc.bus.masters)
    assert soc.mem_regions["sram"].origin == 0x1000_0000 and soc.csr.regions["mailbox"].origin == 0xf000_4000
    assert soc.bus.timeout == 1e6     # A processor may have slower slaves than the host waits for.


@pytest.mark.full
@pytest.mark.timeout(900)  # Compiles a model of its own.
def test_the_cpu_and_the_host_share_a_ram(tmp_path):
    """The processor answers what the host asks, interrupts it once for each arming, and never stops for it."""
    soc = example("riscv").SoC()
    soc.finalize()
    board = ROOT / "build" / "test" / "cpu"
    export_headers(soc, board / "software" / "include" / "generated")
    export_verilog(soc, soc.platform, board / "gateware", "litepcie_soc_sim")
    subprocess.run(["make", "--no-print-directory", "-C", ROOT / "sim", f"BOARD={board}"], check=True)
    with connected(board / "simulator" / "litepcie_simulator", tmp_path) as card:
        def ask(number, words):
            for n, word in enumerate(words):
                card.write(BAR0, DATA + 4*n, word)
            card.write(BAR0, COUNT, len(words))
            card.write(BAR0, ASKED, number)

        engines = 2
        card.set_up(msix=engines + 1)
        card.write(BAR0, REGS["INTERRUPT_VECTOR"], REGS["INTERRUPT_VECTOR_EACH"] | engines)
        for number, words in enumerate(([41, 1], [0xffffffff, 7, 3], []), start=1):
            card.write(BAR0, REGS["INTERRUPT_ARM"], 1)
            ask(number, words)
            assert card.wait_interrupt(vector=engines) == 1
            assert card.read(BAR0, ANSWERED) == number and card.read(BAR0, SUM) == sum(words) % 2**32
        # Answers that nobody waits for interrupt nobody.
        ask(4, [1])
        assert card.wait_interrupt(0.2, vector=engines) == 0 and card.read(BAR0, ANSWERED) == 4
        assert card.read(BAR0, 0) == REGS["MAGIC_VALUE"]
