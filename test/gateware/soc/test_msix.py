#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""MSI-X: masks, pending bits, messages, resets (PCI Local Bus 3.0 6.8.2)."""

import random

import pytest

from migen import Module, passive

from litex.soc.interconnect import csr_bus

from litepcie_soc.common import abi
from litepcie_soc.soc.msix import ENTRY_DWORDS, VECTOR_DWORD, MSIX
from litepcie_soc.tlp.ports import MemoryWritePort

from test.gateware.simulation import simulate
from test.gateware.steps import pulse, wait

VECTORS = 6
PAGE    = abi.MSIX_TABLE_BASE // abi.CSR_PAGING
LIMIT   = 200  # Cycles within which a message that may be sent is sent.


class DUT(Module):
    def __init__(self):
        self.port = MemoryWritePort(128, "msix")
        self.bus  = csr_bus.Interface(32, 18)
        self.submodules.msix = MSIX(self.port, VECTORS)
        self.submodules.sram = csr_bus.SRAM(self.msix.table, PAGE, bus=self.bus)
        self.msix.watch(self.bus)


class Host:
    """The host's side of the register bus, and the port that takes messages."""
    def __init__(self, seed=1):
        self.dut      = DUT()
        self.rng      = random.Random(seed)
        self.messages = []     # (address, data)
        self.drop     = False

    def dword(self, vector, n):
        return abi.MSIX_TABLE_BASE // 4 + ENTRY_DWORDS*vector + n

    def write(self, vector, n, value):
        bus = self.dut.bus
        yield bus.adr.eq(self.dword(vector, n))
        yield bus.dat_w.eq(value)
        yield from pulse(bus.we)

    def read(self, vector, n):
        bus = self.dut.bus
        yield bus.adr.eq(self.dword(vector, n))
        yield
        yield
        return (yield bus.dat_r)

    def entry(self, vector):
        values = []
        for n in range(ENTRY_DWORDS):
            values.append((yield from self.read(vector, n)))
        return values

    def mask(self, vector, on):
        yield from self.write(vector, VECTOR_DWORD, int(on))

    def program(self, masked=()):
        """The vectors' addresses alternate between below and above 4 GiB."""
        yield from self.cycles()   # Until the table has its values after a reset.
        for vector in range(VECTORS):
            for n, value in enumerate((0xfee00000 + 4*vector, vector % 2, 0x4100 + vector, int(vector in masked))):
                yield from self.write(vector, n, value)
        yield self.dut.msix.can_send.eq(1)
        yield self.dut.msix.enable.eq(1)
        yield

    def request(self, *vectors):
        sink = self.dut.msix.sink
        for vector in vectors:
            yield sink.dat.eq(vector)
            yield sink.valid.eq(1)
            yield
            assert (yield sink.ready)
        yield sink.valid.eq(0)

    def cycles(self, count=LIMIT):
        yield from wait(count)

    def pending(self):
        return (yield self.dut.msix.array.status)

    @passive
    def port(self):
        sink, port = self.dut.port.sink, self.dut.port
        while True:
            yield sink.ready.eq(int(self.rng.random() < 0.5))
            yield
            if not ((yield sink.valid) and (yield sink.ready)):
                continue
            assert (yield sink.first) and (yield sink.last) and (yield sink.length) == 4
            dat = yield sink.dat
            assert dat == (dat & 0xffffffff)*(2**128 - 1)//(2**32 - 1), "the data must be in every lane"
            message = ((yield sink.address), dat & 0xffffffff)
            yield sink.ready.eq(0)
            yield from self.cycles(self.rng.randrange(8))
            yield port.sent.eq(1)
            yield port.dropped.eq(int(self.drop))
            if not self.drop:
                self.messages.append(message)
            yield
            yield port.sent.eq(0)
            yield

    def run(self, test):
        simulate(self.dut, [test, self.port()])


def message(vector):
    return ((vector % 2) << 32 | 0xfee00000 + 4*vector, 0x4100 + vector)


def test_messages():
    host = Host()

    def test():
        yield from host.program()
        for vector in range(VECTORS):
            yield from host.request(vector)
            yield from host.cycles()
            assert host.messages == [message(n) for n in range(vector + 1)]
            assert (yield from host.pending()) == 0

    host.run(test())


def test_the_table_reads_back():
    host = Host()

    def test():
        yield from host.cycles()
        for vector in range(VECTORS):
            assert (yield from host.entry(vector)) == [0, 0, 0, 1]
        yield from host.program(masked=(2,))
        assert (yield from host.entry(2)) == [0xfee00008, 0, 0x4102, 1]
        assert (yield host.dut.msix.masked) == 1 << 2

    host.run(test())


def test_a_masked_vector_pends():
    """Several requests give one message when the mask is gone; the other vectors are not held."""
    host = Host()

    def test():
        yield from host.program(masked=(1,))
        yield from host.request(1, 3, 1, 1)
        yield from host.cycles()
        assert host.messages == [message(3)]
        assert (yield from host.pending()) == 1 << 1
        yield from host.mask(1, False)
        yield from host.cycles()
        assert host.messages == [message(3), message(1)]
        assert (yield from host.pending()) == 0

    host.run(test())


@pytest.mark.parametrize("held", ["function_mask", "can_send"])
def test_the_whole_function_is_held(held):
    host = Host()

    def test():
        yield from host.program()
        yield getattr(host.dut.msix, held).eq(held == "function_mask")
        yield
        yield from host.request(5, 0, 2)
        yield from host.cycles()
        assert host.messages == [] and (yield from host.pending()) == 0b100101
        yield getattr(host.dut.msix, held).eq(held != "function_mask")
        yield from host.cycles()
        assert sorted(host.messages) == sorted(map(message, (0, 2, 5)))

    host.run(test())


def test_nothing_pends_while_msix_is_off():
    host = Host()

    def test():
        yield from host.program()
        yield host.dut.msix.enable.eq(0)
        yield
        yield from host.request(1)
        yield from host.cycles()
        yield host.dut.msix.enable.eq(1)
        yield from host.cycles()
        assert host.messages == [] and (yield from host.pending()) == 0

    host.run(test())


def test_a_dropped_message_is_sent_again():
    host = Host()

    def test():
        yield from host.program()
        host.drop = True
        yield from host.request(4)
        yield from host.cycles()
        host.drop = False
        yield from host.cycles()
        assert host.messages == [message(4)] and (yield from host.pending()) == 0

    host.run(test())


def test_a_reset_masks_all_and_forgets():
    host = Host()

    def test():
        yield from host.program(masked=(0,))
        yield from host.request(0)
        yield from pulse(host.dut.msix.clear)
        yield from host.cycles()
        assert (yield host.dut.msix.masked) == 2**VECTORS - 1 and (yield from host.pending()) == 0
        for vector in range(VECTORS):
            assert (yield from host.entry(vector)) == [0, 0, 0, 1]
        assert host.messages == []

    host.run(test())


def test_no_vector_starves():
    """One vector has a request in each cycle."""
    host = Host()

    def test():
        yield from host.program()
        sink = host.dut.msix.sink
        yield from host.request(5, 3)
        yield sink.dat.eq(2)
        yield sink.valid.eq(1)
        yield from host.cycles(4*LIMIT)
        assert {message(3), message(5)} <= set(host.messages)

    host.run(test())


@pytest.mark.parametrize("after", range(14))
def test_a_mask_at_any_time_loses_nothing(after):
    """The message is either sent or pends, and comes once in all."""
    host = Host(after)

    def test():
        yield from host.program()
        yield from host.request(2)
        yield from host.cycles(after)
        yield from host.mask(2, True)
        yield from host.cycles()
        sent = len(host.messages)
        assert (yield from host.pending()) == (0 if sent else 1 << 2)
        yield from host.mask(2, False)
        yield from host.cycles()
        assert host.messages == [message(2)]

    host.run(test())


@pytest.mark.parametrize("vectors", [0, 33])
def test_number_of_vectors(vectors):
    with pytest.raises(ValueError, match=f"vectors must be 1..32, not {vectors}"):
        MSIX(MemoryWritePort(128), vectors)
