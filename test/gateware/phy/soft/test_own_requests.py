# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""MSI, messages of errors and PME_TO_Ack, byte by byte, and what the host's switches do to them."""

import pytest

from litepcie_soc.phy.soft.own_requests import OwnRequests

from test.gateware                  import steps
from test.gateware.phy.soft.packets import joined
from test.gateware.simulation       import Watch, accept, forever, simulate
from test.gateware.steps            import wait

ID  = 0x0508
LOW = bytes.fromhex("40000001 0508000f fee01234 b2a10000")
HIGH = bytes.fromhex("60000001 0508000f 00000012 fee01234 b2a10000")
ACK = bytes.fromhex("35000000 0508001b 00000000 00000000")
COR, NONFATAL, FATAL = (bytes.fromhex(f"30000000 050800{code} 00000000 00000000") for code in ("30", "31", "33"))


def run(script, address=0xfee01234, enable=1, master=1):
    """TLPs that leave while ``script(dut)`` and 60 more cycles pass."""
    dut   = OwnRequests()
    watch = Watch(dut.source)
    def whole():
        for signal, value in ((dut.id, ID), (dut.address, address), (dut.data, 0xa1b2), (dut.enable, enable),
            (dut.master, master), (dut.awake, 1)):
            yield signal.eq(value)
        yield
        yield from script(dut)
        yield from wait(60)
    simulate(dut, [whole(), forever(watch.watch()), forever(accept(dut.source))])
    return [joined(beats) for beats in watch.packets()]


def pulse(signal, value=1):
    yield from steps.pulse(signal, value)
    yield


@pytest.mark.parametrize("address, tlp", [(0xfee01234, LOW), (0x12_fee01234, HIGH)])
def test_msi(address, tlp):
    def script(dut):
        yield from pulse(dut.msi)
        yield from wait(30)
        yield from pulse(dut.msi)
    assert run(script, address) == [tlp, tlp]


def test_pme_to_ack_needs_no_bus_mastering():
    assert run(lambda dut: pulse(dut.pme), master=0, enable=0) == [ACK]


def test_pme_to_ack_waits_for_the_requests_before_it_and_an_msi_is_named():
    def script(dut):
        yield dut.wait.eq(1)
        yield from pulse(dut.pme)
        for _ in range(50):
            assert not (yield dut.source.valid) and (yield dut.busy) and not (yield dut.inside)
            yield
        yield from pulse(dut.msi)
        while not (yield dut.inside):
            yield
        while (yield dut.inside):
            assert (yield dut.source.valid)
            yield
        yield dut.wait.eq(0)
    assert run(script) == [LOW, ACK]


def test_an_msi_that_comes_while_one_leaves_is_sent():
    def script(dut):
        yield from pulse(dut.msi)
        yield from wait(5)
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
        yield from wait(5)
        yield dut.enable.eq(1)
    assert run(script, enable=0) == []


@pytest.mark.parametrize("kind, tlp", [(0, COR), (1, NONFATAL), (2, FATAL)], ids=("correctable", "non-fatal", "fatal"))
@pytest.mark.parametrize("port", ["errors", "late"])
def test_message_of_an_error(port, kind, tlp):
    """Also without bus mastering; one for each error."""
    def script(dut):
        for _ in range(2):
            yield from pulse(getattr(dut, port), 1 << kind)
            yield from wait(30)
    assert run(script, master=0, enable=0) == [tlp, tlp]


def test_the_worst_error_first_and_one_message_of_those_that_wait():
    def script(dut):
        yield from pulse(dut.msi)
        for _ in range(3):
            yield from pulse(dut.errors, 0b111)
    assert run(script) == [LOW, FATAL, NONFATAL, COR]


def test_an_error_that_comes_while_its_message_leaves_has_one_of_its_own():
    def script(dut):
        yield from pulse(dut.errors, 1)
        yield from wait(3)
        yield from pulse(dut.errors, 1)
    assert run(script) == [COR, COR]


def test_what_no_tlp_caused_waits_for_d0():
    def script(dut):
        yield dut.awake.eq(0)
        yield
        yield from pulse(dut.late, 0b101)
        yield from pulse(dut.errors, 0b010)
        yield from wait(60)
        assert not (yield dut.busy)
        yield dut.awake.eq(1)
    assert run(script) == [NONFATAL, FATAL, COR]


def test_silent():
    """What waits is forgotten, and what comes."""
    def script(dut):
        yield dut.awake.eq(0)
        yield
        yield from pulse(dut.late, 0b111)
        yield dut.silent.eq(1)
        yield
        yield from pulse(dut.errors, 0b111)
        yield from pulse(dut.pme)
        yield [dut.silent.eq(0), dut.awake.eq(1)]
    assert run(script) == [ACK]
