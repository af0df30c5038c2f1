# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A host of the simulator (sim/src/lane, sim/src/root) trains, scans and uses a card whose endpoint is gateware."""

import re

import pytest
from migen import *
from litex.gen import *
from litex.soc.interconnect import wishbone

from litepcie_soc.phy.shapes          import REPORTED_ERRORS
from litepcie_soc.tlp.completer_user  import UserBus
from test.gateware.endpoint.verilated import SCAN, Card, compiled, needs_verilator, passes

# The way of the root port, and what it finds.
WAY = ["Detect.Active", "Polling.Active", "Polling.Configuration", "Configuration.Linkwidth.Start",
    "Configuration.Lanenum.Wait", "Configuration.Complete", "Configuration.Idle", "L0"]
FOUND = """\
1204:1ce5, subsystem 1234:1ce0, class 058000, revision 00
BAR0: memory, 32 bit, 2048 KiB at fe000000
[40] capability 01
[48] capability 05
[60] capability 10
[100] extended capability 0001, version 1
link: speed 1, x1; MPS 128 of 256
""".splitlines()

pytestmark = needs_verilator


class ScannedCard(Card):
    """A card whose BAR0 is 4 KiB of memory instead of registers.

    A write to the last dword makes it read 4 bytes of host memory. Accesses to the user's bus fail.
    """
    def __init__(self):
        Card.__init__(self, timeout_us=1000, user_bus=UserBus(0, 4096, 16))
        self.memory = wishbone.SRAM(4096)
        self.add_reader(self.layer.add_read_port("reader", 16, reserve=2), self.memory.bus)
        self.layer.add_write_port("writer")
        self.comb += self.layer.csr_bus.connect(self.memory.bus)
        self.sync += [getattr(self.phy.errors, error).eq(
            Reduce("OR", [self.layer.error_strobes[name] for name in counters]))
            for error, counters in REPORTED_ERRORS.items()]
        self.sync += self.phy.errors.header.eq(self.layer.error_header)

    def add_reader(self, port, bus):
        self.comb += [port.request.address.eq(0x1000), port.request.length.eq(4), port.data.ready.eq(1)]
        self.sync += [If(port.request.ready, port.request.valid.eq(0)),
            If(bus.ack & bus.we & (bus.adr[:10] == 1023), port.request.valid.eq(1))]


@pytest.fixture(scope="session")
def scan():
    """Function (arguments) that returns the lines that the host prints."""
    return passes(compiled(ScannedCard, ("serdes_pins.h", "scan_host.h", "root_port_scan.cpp", "root_port_sleep.cpp",
        "root_port_errors.cpp", *SCAN), ("lane",)))


# Rules: 2.3.1; TXN.2.21#13; TXN.2.21#22; TXN.3.2#3; 7.3.2; 7.5
def test_scan_and_registers(scan):
    """UR for what is not ours, and a second scan that finds the same."""
    *lines, counts = scan(1, 0, 64, 0)
    assert lines == WAY + FOUND
    assert re.fullmatch(r"trained \d+ cycles \d+ requests \d+ injected 0 wrong 0", counts)


@pytest.mark.full
def test_over_damaged_symbols(scan):
    for seed in range(2, 5):
        lines = scan(seed, 2000, 64, 0)
        assert [line for line in lines if line in FOUND] == FOUND and " injected 0 " not in lines[-1]


# Rules: 5.3.2.1; 5.3.3; 6.6.2; 4.2.6.7
@pytest.mark.full
@pytest.mark.parametrize("case", ["enter", "alone", "unasked", "crossing", "crossing-errors", "function-reset",
    "hot-reset", "turn-off", "turn-off-alone"])
def test_the_link_sleeps(scan, case):
    """After D3hot, and after PME_Turn_Off. Nothing that comes in between leaves a request without its answer."""
    assert scan("sleep", 1, case)[-1] == "passed"


# Rules: 6.2; 7.10; TXN.3.3#2
@pytest.mark.parametrize("case", ["requests", *[pytest.param(case, marks=pytest.mark.full) for case in ("poisoned",
    "asleep", "hot-reset", "link", "overflow", "layer")]])
def test_what_errors_set(scan, case):
    """Status, Device Status, AER with its log, and messages, after whatever the card refuses; resets and D3hot."""
    assert scan("errors", 1, case)[-1] == "passed"
