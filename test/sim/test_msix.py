# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Vectors of the card from its engines to the events of a vfio-user client, without a guest."""

import struct

import pytest

from test.gateware.dma.bench import REGS
from test.sim.vfio_user_client import BAR0, CONFIG, Client, Simulator, connected

MSIX                 = 0xa0                # In configuration space.
CONTROL              = MSIX + 2
ENABLE, MASK         = 1 << 15, 1 << 14
TABLE, PENDING       = 0x40000, 0x50000    # In BAR0.
READER, WRITER       = 0x1000, 0x1800
RAM                  = 0x100000            # Of the guest; ring, status block and data follow one another.
RING, STATUS, DATA   = RAM, RAM + 0x1000, RAM + 0x2000


@pytest.fixture
def simulator(board):
    return board / "simulator" / "litepcie_simulator"


class Card(Client):
    """The card with one engine of channel 0 that has done `count` descriptors."""
    def start(self, engine, vector, msix=2, msi=0):
        self.set_up(vectors=max(msi, 1), msix=msix)
        self.map(RAM, 0x10000)
        self.start_engine(engine, vector)

    def start_engine(self, engine, vector):
        self.engine, self.count = engine, 0
        for name, value in (("RING_LO", RING), ("RING_LOG2", 8), ("STATUS_ADDRESS_LO", STATUS),
            ("INTERRUPT", vector), ("CONTROL", REGS["ENGINE_CONTROL_ENABLE"])):
            self.register(name, value)

    def register(self, name, value):
        self.write(BAR0, self.engine + REGS[f"ENGINE_{name}"], value)

    def transfer(self):
        """One descriptor of 64 bytes with INTERRUPT."""
        at = 16*self.count
        self.memory[at:at + 16] = struct.pack("<IIQ", REGS["DESCRIPTOR_INTERRUPT"] | 64, 0, DATA)
        self.count += 1
        self.register("DOORBELL", self.count)

    def completed(self):
        """What the status block says; reading a register pushes it (PCIe 4.0 2.4.1)."""
        self.read(BAR0, 0)
        return struct.unpack_from("<I", self.memory, STATUS - RAM)[0]

    def finish(self):
        while self.completed() != self.count:
            pass
        self.read(BAR0, 0)

    def pending(self):
        return self.read(BAR0, PENDING)

    def mask(self, vector, on):
        self.write(BAR0, TABLE + 16*vector + 12, int(on), posted=False)


@pytest.fixture
def card(simulator, tmp_path):
    with connected(simulator, tmp_path, Card) as card:
        yield card


def test_capability(card):
    card.set_up()
    assert card.read(CONFIG, MSIX, 1) == 0x11
    assert card.read(CONFIG, CONTROL, 2) == 1                 # Two entries.
    assert card.read(CONFIG, MSIX + 4) == TABLE and card.read(CONFIG, MSIX + 8) == PENDING
    assert card.irq_count(2) == 2 and card.irq_count(1) == 16
    assert card.read(BAR0, REGS["CAPABILITIES"]) & REGS["CAPABILITY_MSIX"]


# Rules: 6.1.4
@pytest.mark.parametrize("whole", [False, True], ids=["vector", "function"])
def test_a_mask_holds_the_interrupt(card, whole):
    def mask(on):
        if whole:
            card.write(CONFIG, CONTROL, ENABLE | MASK*on, 2, posted=False)
        else:
            card.mask(1, on)

    card.start(WRITER, 1)
    mask(True)
    for _ in range(3):
        card.transfer()
        card.finish()
    assert card.nothing_comes(1)
    assert card.pending() == 1 << 1
    mask(False)
    assert card.wait_interrupt(vector=1) == 1
    assert card.pending() == 0 and card.nothing_comes(1)


def test_a_reset_of_the_function_masks_all(card):
    """The client enables MSI-X again, and the simulator writes the table again, as VFIO does."""
    card.start(WRITER, 1)
    assert [card.read(BAR0, TABLE + 16 + 4*n) for n in range(4)] == [0xfee00000, 0, 1, 0]
    card.reset_function()
    assert [card.read(BAR0, TABLE + 16 + 4*n) for n in range(4)] == [0, 0, 0, 1]
    card.write(CONFIG, CONTROL, ENABLE, 2, posted=False)
    card.start_engine(WRITER, 1)
    card.transfer()
    assert card.wait_interrupt(vector=1) == 1


def test_several_msi(card):
    card.start(READER, 5, msix=0, msi=8)
    card.transfer()
    assert card.wait_interrupt(vector=5) == 1
    assert not any(card.wait_interrupt(0, vector=n) for n in range(8) if n != 5)


def test_a_vector_that_was_not_granted_ends_the_run(simulator, tmp_path):
    with Simulator(simulator, tmp_path / "card.sock") as server, Card(tmp_path / "card.sock") as card:
        card.start(READER, 3, msix=0, msi=2)
        card.transfer()
        status, errors = server.end()
        assert status == 3 and "MSI vector 3, but the host granted 2" in errors


def test_without_msix(simulator, tmp_path):
    with Simulator(simulator, tmp_path / "card.sock", "--msix", "off") as server, Card(tmp_path / "card.sock") as card:
        card.set_up()
        assert card.irq_count(2) == 0 and card.read(CONFIG, 0x61, 1) == 0
        card.close()
        assert server.end() == (0, "")
