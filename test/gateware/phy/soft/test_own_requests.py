#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""MSI and PME_TO_Ack, byte by byte, and what the host's switches do to them."""

import pytest

from litepcie_soc.phy.soft.own_requests import OwnRequests

from test.gateware.phy.soft.packets import joined
from test.gateware.simulation       import Watch, accept, forever, simulate

ID  = 0x0508
LOW = bytes.fromhex("40000001 0508000f fee01234 b2a10000")
HIGH = bytes.fromhex("60000001 0508000f 00000012 fee01234 b2a10000")
ACK = bytes.fromhex("35000000 0508001b 00000000 00000000")


def run(script, address=0xfee01234, enable=1, master=1):
    """TLPs that leave while ``script(dut)`` and 60 more cycles pass."""
    dut   = OwnRequests()
    watch = Watch(dut.source)

    def whole():
        for signal, value in ((dut.id, ID), (dut.address, address), (dut.data, 0xa1b2), (dut.enable, enable),
            (dut.master, master)):
            yield signal.eq(value)
        yield
        yield from script(dut)
        for _ in range(60):
            yield
    simulate(dut, [whole(), forever(watch.watch()), forever(accept(dut.source))])
    return [joined(beats) for beats in watch.packets()]


def pulse(signal):
    yield signal.eq(1)
    yield
    yield signal.eq(0)
    yield


@pytest.mark.parametrize("address, tlp", [(0xfee01234, LOW), (0x12_fee01234, HIGH)])
def test_msi(address, tlp):
    def script(dut):
        yield from pulse(dut.msi)
        for _ in range(30):
            yield
        yield from pulse(dut.msi)
    assert run(script, address) == [tlp, tlp]


def test_pme_to_ack_needs_no_bus_mastering():
    assert run(lambda dut: pulse(dut.pme), master=0, enable=0) == [ACK]


def test_an_msi_that_comes_while_one_leaves_is_sent():
    def script(dut):
        yield from pulse(dut.msi)
        for _ in range(5):
            yield
        yield from pulse(dut.msi)
        yield from pulse(dut.pme)
    assert run(script) == [LOW, ACK, LOW]


def test_waits_for_bus_mastering_and_is_sent_once():
    def script(dut):
        yield from pulse(dut.msi)
        yield from pulse(dut.msi)
        for _ in range(50):
            assert not (yield dut.source.valid)
            yield
        yield dut.master.eq(1)
    assert run(script, master=0) == [LOW]


def test_forgets_it_without_msi_enable():
    def script(dut):
        yield from pulse(dut.msi)
        for _ in range(5):
            yield
        yield dut.enable.eq(1)
    assert run(script, enable=0) == []
