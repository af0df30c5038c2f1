#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Bringing up DDR3, against a model of what a PHY's settings do to the bytes of a bus."""

import pytest

from migen import *

from litedram.common import PhySettings
from litedram.modules import MT41K512M16

from test.gateware.common import simulate

from litepcie_soc.board import ddr_training
from litepcie_soc.board.ddr_training import (
    ACTIVATE,
    CAS,
    CS,
    GAP,
    PATTERNS,
    PRECHARGE,
    RAS,
    READ,
    WE,
    WRITE,
    DRAMTraining,
)

pytestmark = pytest.mark.unit

CLK_FREQ = 1e6  # Short waits: their sum is looked at in microseconds.
LATENCY  = 9


def settings(lanes):
    return PhySettings(phytype="A7DDRPHY", memtype="DDR3", databits=8*lanes, strobes=lanes, dfi_databits=16*lanes,
        nranks=1, nphases=4, rdphase=2, wrphase=3, cl=7, cwl=5, read_latency=LATENCY, write_latency=1)


class Lane:
    """One byte of the bus: right at ``wslip`` (of two), ``rslip`` and the delays of ``window``; else it is garbage."""
    def __init__(self, wslip, rslip, window):
        self.right        = (2*wslip, rslip)
        self.window       = window
        self.now          = [None, None, None]  # Write bitslips, read bitslips, delay.
        self.stored       = bytes(8)

    def obey(self, pulses):
        for k in range(3):
            if pulses >> 2*k & 1:
                self.now[k] = 0
            elif pulses >> (2*k + 1) & 1:
                self.now[k] += 1

    def write(self, beats):
        if self.now[0] == self.right[0]:
            self.stored = bytes(beats)  # Else it does not arrive, and what was there stays.

    def read(self):
        good = tuple(self.now[:2]) == self.right and self.now[2] in self.window
        return self.stored if good else bytes(beat ^ 0x5a for beat in self.stored)


def model(dut, lanes, log):
    """Obeys pulses and commands; logs (cycle, phase, control, command, address, bank)."""
    pending, cycle = set(), 0
    pulses   = Cat(dut.write_slip_rst, dut.write_slip, dut.read_slip_rst, dut.read_slip, dut.read_delay_rst,
        dut.read_delay_inc)
    commands = ~Cat(*[phase.cs_n for phase in dut.dfi.phases]) & 0xf
    while not (yield dut.done):
        cycle += 1
        if (yield pulses):
            values = yield pulses
            select = yield dut.select
            for n, lane in enumerate(lanes):
                if select >> n & 1:
                    lane.obey(values)
        if not (yield commands) and cycle not in pending:
            yield from valid(dut, 0)
            yield
            continue
        for n, phase in enumerate(dut.dfi.phases):
            if not (yield phase.cs_n):
                command = CS | (WE * (1 - (yield phase.we_n))) | (CAS * (1 - (yield phase.cas_n))) | (
                    RAS * (1 - (yield phase.ras_n)))
                control = (yield phase.odt), (yield phase.cke), (yield phase.reset_n)
                log.append((cycle, n, control, command, (yield phase.address), (yield phase.bank)))
                if command == WRITE:
                    assert n == 3 and (yield phase.wrdata_en)
                    words = []
                    for other in dut.dfi.phases:
                        words.append((yield other.wrdata))
                    for k, lane in enumerate(lanes):
                        lane.write([word >> 8*(beat*len(lanes) + k) & 0xff for word in words for beat in range(2)])
                if command == READ:
                    assert n == 2 and (yield phase.rddata_en)
                    pending.add(cycle + LATENCY)
        if cycle in pending:
            for n, phase in enumerate(dut.dfi.phases):
                yield phase.rddata.eq(sum(lane.read()[2*n + beat] << 8*(beat*len(lanes) + k)
                    for k, lane in enumerate(lanes) for beat in range(2)))
        yield from valid(dut, cycle in pending)
        yield


def valid(dut, value):
    for phase in dut.dfi.phases:
        yield phase.rddata_valid.eq(value)


def train(lanes, monkeypatch):
    monkeypatch.setattr(ddr_training, "GAP", 12)  # 32768 commands: a simulation of seconds, not of minutes.
    monkeypatch.setattr(ddr_training, "DELAYS", 8)
    dut = DRAMTraining(settings(len(lanes)), MT41K512M16(100e6, "1:4").timing_settings, 16, 3, CLK_FREQ)
    log, failed = [], []

    def bench():
        yield from model(dut, lanes, log)
        failed.append((yield dut.failed))
    simulate(dut, [bench()], cycles=100000)
    return log, failed[0]


def test_each_byte_gets_the_middle_of_its_widest_run(monkeypatch):
    lanes = [Lane(1, 5, range(1, 6)), Lane(3, 0, [0, 3, 4]), Lane(0, 7, [*range(3), 5, 6, 7])]
    log, failed = train(lanes, monkeypatch)
    assert failed == 0
    assert [lane.now for lane in lanes] == [[2, 5, 3], [6, 0, 3], [0, 7, 1]]
    check_initialisation(log)


def check_initialisation(log):
    """Mode registers 2, 3, 1, 0 and ZQ calibration, CKE and RESET# high, as long behind power as JESD79-3 says."""
    first = log[:5]
    mode  = RAS | CAS | WE | CS
    assert [(command, bank) for _, _, _, command, _, bank in first] == [
        (mode, 2), (mode, 3), (mode, 1), (mode, 0), (WE | CS, 0)]
    assert {(phase, control) for _, phase, control, *_ in first} == {(0, (1, 1, 1))}
    assert first[0][0] >= 700
    assert [command for *_, command, _, _ in log[5:9]] == [ACTIVATE, WRITE, READ, PRECHARGE]
    cycles = [cycle for cycle, *_ in log]
    assert min(after - before for before, after in zip(cycles, cycles[1:])) >= 12


def test_a_byte_that_never_passes_is_told(monkeypatch):
    lanes = [Lane(0, 2, range(8)), Lane(1, 1, [])]
    _, failed = train(lanes, monkeypatch)
    assert failed == 0b10
    assert lanes[0].now == [0, 2, 3]


def test_gap_keeps_the_longest_time_of_the_chips():
    assert 4*GAP >= 512


def test_patterns_differ_at_every_shift():
    for shift in range(8):
        for one, other in ((0, 1), (0, 0), (1, 1)):
            shifted = PATTERNS[other][shift:] + PATTERNS[other][:shift]
            same    = sum(a == b for a, b in zip(PATTERNS[one], shifted))
            assert same == (8 if one == other and shift == 0 else 0)
