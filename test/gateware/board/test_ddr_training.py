#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Bringing up DDR3, against a model of what a PHY's settings do to the bytes of a bus."""

import pytest

from migen import *

from litedram.common import PhySettings
from litedram.modules import MT8JTF12864, MT41K512M16

from test.gateware.common import simulate

from litepcie_soc.board import ddr_commands, ddr_training
from litepcie_soc.board.ddr_commands import ACTIVATE, CAS, CS, GAP, PRECHARGE, RAS, READ, WE, WRITE, initialisation
from litepcie_soc.board.ddr_delays import ResetDelays
from litepcie_soc.board.ddr_training import BEATS, PATTERNS, PAUSE, DRAMTraining

pytestmark = pytest.mark.unit

CLK_FREQ = 1e6  # Short waits: their sum is looked at in microseconds.

LATENCY, WRITE_LATENCY = 9, 2

# Model --------------------------------------------------------------------------------------------


def settings(lanes):
    return PhySettings(phytype="K7DDRPHY", memtype="DDR3", databits=8*lanes, strobes=lanes, dfi_databits=16*lanes,
        nranks=1, nphases=4, rdphase=2, wrphase=3, cl=7, cwl=6, read_latency=LATENCY, write_latency=WRITE_LATENCY)


class Lane:
    """One byte of the bus.

    write : of one row, beats of ``taps`` each, where a write arrives; elsewhere it does not, what was there stays.
    read  : (beat, delays) that read right; others read garbage.
    """
    def __init__(self, taps, write, read):
        self.taps   = taps
        self.write  = write
        self.read   = read
        self.moves  = dict.fromkeys(("write_slip", "write_delay", "read_slip", "read_delay"))
        self.stored = bytes(8)

    def obey(self, name):
        kind, reset = name.removesuffix("_inc").removesuffix("_rst"), name.endswith("_rst")
        self.moves[kind] = 0 if reset else self.moves[kind] + 1
        assert self.moves["write_delay"] is None or self.moves["write_delay"] < self.taps  # DQS has few behind them.

    @property
    def write_position(self):
        """The first slip is seven beats later, each further one a beat earlier: litedram.common.BitSlip."""
        return -self.moves["write_slip"] % BEATS*self.taps + self.moves["write_delay"]

    @property
    def read_position(self):
        return self.moves["read_slip"], self.moves["read_delay"]

    def do_write(self, beats):
        if self.write_position in self.write:
            self.stored = bytes(beats)

    def do_read(self):
        beat, delay = self.read_position
        good        = beat == self.read[0] and delay in self.read[1]
        return self.stored if good else bytes(beat ^ 0x5a for beat in self.stored)


class Chips:
    """Obeys pulses and commands; logs (cycle, phase, control, command, address, bank)."""

    PULSES = ("write_delay_rst", "write_delay_inc", "write_slip_rst", "write_slip", "read_delay_rst",
        "read_delay_inc", "read_slip_rst", "read_slip")

    def __init__(self, dut, lanes):
        self.dut, self.lanes, self.log, self.cycle = dut, lanes, [], 0
        self.reads, self.writes = set(), set()

    def run(self):
        dut      = self.dut
        pulses   = Cat(*[getattr(dut.delays if "delay" in name else dut, name) for name in self.PULSES])
        commands = ~Cat(*[phase.cs_n for phase in dut.dfi.phases]) & 0xf
        valid    = False
        while not (yield dut.done):
            self.cycle += 1
            values = yield pulses
            if values:
                yield from self.obey(values)
            if (yield commands):
                yield from self.take()
            if self.cycle in self.writes:
                yield from self.write()
            if self.cycle in self.reads or valid:
                valid = self.cycle in self.reads
                yield from self.answer(valid)
            yield

    def obey(self, values):
        select = yield self.dut.select
        for n, lane in enumerate(self.lanes):
            for k, name in enumerate(self.PULSES):
                if select >> n & values >> k & 1:
                    lane.obey(name)

    def take(self):
        for n, phase in enumerate(self.dut.dfi.phases):
            if not (yield phase.cs_n):
                command = CS | (WE * (1 - (yield phase.we_n))) | (CAS * (1 - (yield phase.cas_n))) | (
                    RAS * (1 - (yield phase.ras_n)))
                control = (yield phase.odt), (yield phase.cke), (yield phase.reset_n)
                self.log.append((self.cycle, n, control, command, (yield phase.address), (yield phase.bank)))
                if command == WRITE:
                    assert n == 3 and (yield phase.wrdata_en)
                    self.writes.add(self.cycle + WRITE_LATENCY)
                if command == READ:
                    assert n == 2 and (yield phase.rddata_en)
                    self.reads.add(self.cycle + LATENCY)

    def write(self):
        """Of the cycle's data: that of the cycles around it is another's."""
        words = []
        for phase in self.dut.dfi.phases:
            words.append((yield phase.wrdata))
        for k, lane in enumerate(self.lanes):
            lane.do_write([word >> 8*(beat*len(self.lanes) + k) & 0xff for word in words for beat in range(2)])

    def answer(self, valid):
        for n, phase in enumerate(self.dut.dfi.phases):
            yield phase.rddata_valid.eq(valid)
            yield phase.rddata.eq(sum(lane.do_read()[2*n + beat] << 8*(beat*len(self.lanes) + k)
                for k, lane in enumerate(self.lanes) for beat in range(2)))


def train(lanes, monkeypatch, write_taps=1):
    """(log, failed); 8 delays of reads and short pauses: a simulation of seconds, not of minutes."""
    monkeypatch.setattr(ddr_commands, "GAP", 12)
    monkeypatch.setattr(ddr_training, "PAUSE", 10)
    dut    = DRAMTraining(settings(len(lanes)), MT41K512M16(100e6, "1:4").timing_settings, 16, 3, CLK_FREQ,
        ResetDelays(8, write_taps))
    chips  = Chips(dut, lanes)
    failed = []

    def bench():
        yield from chips.run()
        failed.append((yield dut.failed))
    simulate(dut, [bench()], cycles=300000)
    first = next(cycle for cycle, *_, command, _, _ in chips.log if command == ACTIVATE)
    assert chips.cycle - first <= dut.cycles
    return chips.log, failed[0]

# Without output delays ----------------------------------------------------------------------------


def test_each_byte_gets_the_middle_of_its_widest_run(monkeypatch):
    lanes = [Lane(1, [6], (5, range(1, 6))), Lane(1, [2], (0, [0, 3, 4])), Lane(1, [0], (7, [*range(3), 5, 6, 7]))]
    log, failed = train(lanes, monkeypatch)
    assert failed == 0
    assert [lane.write_position for lane in lanes] == [6, 2, 0]
    assert [lane.read_position for lane in lanes] == [(5, 3), (0, 3), (7, 1)]
    check_initialisation(log)


def check_initialisation(log):
    """Mode registers 2, 3, 1, 0 and ZQ calibration, CKE and RESET# high, as long behind power as JESD79-3 says."""
    first = log[:5]
    mode  = RAS | CAS | WE | CS
    assert [(command, bank) for _, _, _, command, _, bank in first] == [
        (mode, 2), (mode, 3), (mode, 1), (mode, 0), (WE | CS, 0)]
    assert {(phase, control) for _, phase, control, *_ in first} == {(0, (0, 1, 1))}
    assert first[0][0] >= 700
    assert [command for *_, command, _, _ in log[5:9]] == [ACTIVATE, WRITE, READ, PRECHARGE]
    cycles = [cycle for cycle, *_ in log]
    assert min(after - before for before, after in zip(cycles, cycles[1:])) >= 10
    assert min(after - before for before, after in zip(cycles[:5], cycles[1:6])) >= 12


def test_a_byte_that_never_passes_is_told(monkeypatch):
    lanes = [Lane(1, [0], (2, range(8))), Lane(1, [2], (1, []))]
    _, failed = train(lanes, monkeypatch)
    assert failed == 0b10
    assert lanes[0].read_position == (2, 3)

# With output delays -------------------------------------------------------------------------------


def test_each_byte_is_written_in_the_middle_of_its_widest_run(monkeypatch):
    """The clock reaches each byte later than the one before: by a third of a beat, over an end of beats, by two."""
    lanes = [
        Lane(5, range(6),                   (2, range(1, 6))),  # The earliest are not to be had: the run is cut.
        Lane(5, range(2, 11),               (2, range(2, 7))),
        Lane(5, [*range(3), *range(9, 20)], (3, range(3))),
        Lane(5, range(31, 40),              (3, range(4, 8))),
        Lane(5, [],                         (3, range(4, 8))),
    ]
    _, failed = train(lanes, monkeypatch, write_taps=5)
    assert failed == 0b10000
    assert [lane.write_position for lane in lanes[:4]] == [2, 6, 14, 35]
    assert [lane.read_position for lane in lanes[:4]] == [(2, 3), (2, 4), (3, 1), (3, 5)]

# Constants ----------------------------------------------------------------------------------------


def test_gap_keeps_the_longest_time_of_the_chips():
    assert 4*GAP >= 512


@pytest.mark.parametrize("module", [MT41K512M16, MT8JTF12864])
@pytest.mark.parametrize("clk_freq", [76e6, 100e6, 125e6, 133e6, 150e6])
def test_chips_know_how_long_a_write_needs(module, clk_freq):
    """Mode register 0, bits 11:9, in cycles of the chips: 15 ns, and no more than the controller waits."""
    timings   = module(clk_freq, "1:4").timing_settings
    steps     = initialisation(settings(8), timings, clk_freq)
    (address,) = [address for _, command, address, bank, _ in steps if (command, bank) == (RAS | CAS | WE | CS, 0)]
    recovery  = (16, 5, 6, 7, 8, 10, 12, 14)[address >> 9 & 7]
    assert 15e-9*4*clk_freq <= recovery <= 4*timings.tWR


def test_pause_keeps_what_a_trial_needs():
    """tRC, and a write's: five cycles until it is there, four and its recovery, 15 ns."""
    assert PAUSE/200e6 >= 50e-9
    assert PAUSE > 16  # A read's way back.


def test_training_is_short():
    for taps, seconds in ((13, 12e-3), (1, 3.2e-3)):
        assert DRAMTraining(settings(8), MT41K512M16(125e6, "1:4").timing_settings, 16, 3, 125e6,
            ResetDelays(32, taps)).cycles/125e6 < seconds


def test_patterns_differ_at_every_shift():
    for shift in range(8):
        for one, other in ((0, 1), (0, 0), (1, 1)):
            shifted = PATTERNS[other][shift:] + PATTERNS[other][:shift]
            same    = sum(a == b for a, b in zip(PATTERNS[one], shifted))
            assert same == (8 if one == other and shift == 0 else 0)
