# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Training of DDR3, with a model of the effect of a PHY's settings on the bytes of the bus. Those whose phase moves
(Artix-7) and whose delays wrap (DDR4) are in test/gateware/ddr/phy, with models of the cells and the chips."""

import pytest
from migen import *
from litedram.common import PhySettings
from litedram.modules import MT8JTF12864, MT41K512M16

from litepcie_soc.ddr import training
from litepcie_soc.ddr.delays import ResettableDelays
from litepcie_soc.ddr.training import (
    ACTIVATE, BEATS, CAS, CS, GAP, PATTERNS, PAUSE, PRECHARGE, RAS, READ, WE, WRITE, DRAMTraining, initialisation,
)
from test.gateware.simulation import simulate


CLK_FREQ = 1e6  # A slow clock keeps waits short; tests add them up in microseconds.

LATENCY, WRITE_LATENCY = 9, 2


def settings(lanes):
    return PhySettings(phytype="K7DDRPHY", memtype="DDR3", databits=8*lanes, strobes=lanes, dfi_databits=16*lanes,
        nranks=1, nphases=4, rdphase=2, wrphase=3, cl=7, cwl=6, read_latency=LATENCY, write_latency=WRITE_LATENCY)


class Lane:
    """One byte of the bus.

    write : positions, in one row of beats with ``taps`` positions each, at which a write arrives. At others the
        stored data does not change.
    read  : (beat, delays) that read correctly; with others the last beat but one is wrong.
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
        assert self.moves["write_delay"] is None or self.moves["write_delay"] < self.taps  # DQS has no more.

    @property
    def write_position(self):
        """The first slip delays by seven beats, each further one makes it a beat earlier: litedram.common.BitSlip."""
        return -self.moves["write_slip"] % BEATS*self.taps + self.moves["write_delay"]

    @property
    def read_position(self):
        return self.moves["read_slip"], self.moves["read_delay"]

    def writes(self):
        return self.write_position in self.write

    def reads(self):
        beat, delay = self.read_position
        return beat == self.read[0] and delay in self.read[1]

    def do_write(self, beats):
        if self.writes():
            self.stored = bytes(beats)

    def do_read(self):
        return self.stored if self.reads() else bytes(beat ^ 0x10*(n == 6) for n, beat in enumerate(self.stored))


class Chips(Module):
    """Executes pulses and commands, logs (cycle, phase, control, command, address, bank)."""

    SLIPS  = ("write_slip_rst", "write_slip", "read_slip_rst", "read_slip")
    DELAYS = ("write_delay_rst", "write_delay_inc", "read_delay_rst", "read_delay_inc")

    def __init__(self, dut, lanes):
        self.submodules.dut = dut
        self.lanes, self.log, self.cycle, self.failed = lanes, [], 0, None
        self.reads, self.writes = set(), set()
        pulses        = {name: getattr(dut, name) for name in self.SLIPS}
        pulses       |= {name: getattr(dut.delays, name) for name in self.DELAYS if hasattr(dut.delays, name)}
        self.names    = list(pulses)
        self.pulses   = Signal(len(pulses))
        self.commands = Signal(4)
        self.event    = Signal()
        self.comb    += [self.pulses.eq(Cat(*pulses.values())),
            self.commands.eq(~Cat(*[phase.cs_n for phase in dut.dfi.phases])),
            self.event.eq((self.pulses != 0) | (self.commands != 0) | dut.done)]

    def run(self):
        valid = False
        while True:
            self.cycle += 1
            if (yield self.event):
                if (yield self.dut.done):
                    return
                yield from self.obey((yield self.pulses))
                if (yield self.commands):
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
            for k, name in enumerate(self.names):
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
        """Writes the data of this cycle only: the data of the cycles around it belongs to other writes."""
        words = yield [phase.wrdata for phase in self.dut.dfi.phases]
        for k, lane in enumerate(self.lanes):
            lane.do_write([word >> 8*(beat*len(self.lanes) + k) & 0xff for word in words for beat in range(2)])

    def answer(self, valid):
        for n, phase in enumerate(self.dut.dfi.phases):
            yield phase.rddata_valid.eq(valid)
            yield phase.rddata.eq(sum(lane.do_read()[2*n + beat] << 8*(beat*len(self.lanes) + k)
                for k, lane in enumerate(self.lanes) for beat in range(2)))


def train(lanes, monkeypatch, delays):
    """Runs a training with short pauses, to simulate for seconds, not minutes; returns the chips, with ``failed``."""
    monkeypatch.setattr(training, "GAP", 12)
    monkeypatch.setattr(training, "PAUSE", 10)
    module = MT41K512M16(100e6, "1:4")
    dut    = DRAMTraining(settings(len(lanes)), module.timing_settings, 16, 3, CLK_FREQ, delays)
    chips  = Chips(dut, lanes)
    def bench():
        yield from chips.run()
        chips.failed = yield dut.failed
    simulate(chips, [bench()], cycles=800000)
    first = next(cycle for cycle, *_, command, _, _ in chips.log if command == ACTIVATE)
    assert chips.cycle - first <= dut.cycles
    return chips


def test_each_byte_gets_the_middle_of_its_widest_run(monkeypatch):
    lanes = [Lane(1, [6], (5, range(1, 6))), Lane(1, [2], (0, [0, 3, 4])), Lane(1, [0], (7, [*range(3), 5, 6, 7]))]
    chips = train(lanes, monkeypatch, ResettableDelays(8, 1))
    assert chips.failed == 0
    assert [lane.write_position for lane in lanes] == [6, 2, 0]
    assert [lane.read_position for lane in lanes] == [(5, 3), (0, 3), (7, 1)]
    check_initialisation(chips.log)


def check_initialisation(log):
    """Mode registers 2, 3, 1, 0 and ZQ calibration, then CKE and RESET#, with the waits of JESD79-3."""
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


def test_each_byte_is_written_in_the_middle_of_its_widest_run(monkeypatch):
    """The clock reaches each byte later than the one before: by a third of a beat, past a beat's end, by two beats."""
    lanes = [
        Lane(5, range(6),                   (2, range(1, 6))),  # Earlier settings do not exist: the run is cut.
        Lane(5, range(2, 11),               (2, range(2, 7))),
        Lane(5, [*range(3), *range(9, 20)], (3, range(3))),
        Lane(5, range(31, 40),              (3, range(4, 8))),
        Lane(5, [],                         (3, range(4, 8)))]
    assert train(lanes, monkeypatch, ResettableDelays(8, 5)).failed == 0b10000
    assert [lane.write_position for lane in lanes[:4]] == [2, 6, 14, 35]
    assert [lane.read_position for lane in lanes[:4]] == [(2, 3), (2, 4), (3, 1), (3, 5)]


def test_gap_covers_the_longest_time_of_the_chips():
    assert 4*GAP >= 1024  # DDR4's tZQinit.


@pytest.mark.parametrize("module", [MT41K512M16, MT8JTF12864])
@pytest.mark.parametrize("clk_freq", [76e6, 100e6, 125e6, 133e6, 150e6])
def test_mode_register_0_has_the_write_recovery(module, clk_freq):
    """Mode register 0, bits 11:9: write recovery in chip cycles, at least 15 ns, at most the controller's wait."""
    timings   = module(clk_freq, "1:4").timing_settings
    steps     = initialisation(settings(8), timings, clk_freq)
    (address,) = [address for _, command, address, bank, _ in steps if (command, bank) == (RAS | CAS | WE | CS, 0)]
    recovery  = (16, 5, 6, 7, 8, 10, 12, 14)[address >> 9 & 7]
    assert 15e-9*4*clk_freq <= recovery <= 4*timings.tWR


def test_pause_covers_the_times_of_a_trial():
    """The pause covers tRC, and a write: five cycles until its data, four cycles of data, 15 ns of recovery."""
    assert PAUSE/200e6 >= 50e-9
    assert PAUSE > 16  # Return of read data.


def test_training_is_short():
    for taps, seconds in ((13, 12e-3), (1, 6e-3)):
        assert DRAMTraining(settings(8), MT41K512M16(125e6, "1:4").timing_settings, 16, 3, 125e6,
            ResettableDelays(32, taps)).cycles/125e6 < seconds


def test_patterns_differ_at_every_shift():
    for shift in range(8):
        for one, other in ((0, 1), (0, 0), (1, 1)):
            shifted = PATTERNS[other][shift:] + PATTERNS[other][:shift]
            same    = sum(a == b for a, b in zip(PATTERNS[one], shifted))
            assert same == (8 if one == other and shift == 0 else 0)
