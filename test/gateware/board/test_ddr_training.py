#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Bringing up DDR, against a model of what a PHY's settings do to the bytes of a bus."""

import pytest

from migen import *

from litedram.common import PhySettings
from litedram.modules import EDY4016A, MT8JTF12864, MT41K512M16

from test.gateware.common import simulate

from litepcie_soc.board import ddr_commands, ddr_training
from litepcie_soc.board.ddr_commands import ACTIVATE, CAS, CS, GAP, PRECHARGE, RAS, READ, WE, WRITE, initialisation
from litepcie_soc.board.ddr_delays import TAPS, ResetDelays, RoundDelays
from litepcie_soc.board.ddr_training import BEATS, PATTERNS, PAUSE, DRAMTraining

pytestmark = pytest.mark.unit

CLK_FREQ = 1e6  # Short waits: their sum is looked at in microseconds.

LATENCY, WRITE_LATENCY = 9, 2

# Model --------------------------------------------------------------------------------------------


def settings(lanes, memtype="DDR3"):
    return PhySettings(phytype="K7DDRPHY", memtype=memtype, databits=8*lanes, strobes=lanes, dfi_databits=16*lanes,
        nranks=1, nphases=4, rdphase=2, wrphase=3, cl=7 if memtype == "DDR3" else 10, cwl=6 if memtype == "DDR3" else 9,
        read_latency=LATENCY, write_latency=WRITE_LATENCY)


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

    def writes(self):
        return self.write_position in self.write

    def reads(self):
        beat, delay = self.read_position
        return beat == self.read[0] and delay in self.read[1]

    def do_write(self, beats):
        if self.writes():
            self.stored = bytes(beats)

    def do_read(self):
        return self.stored if self.reads() else bytes(beat ^ 0x5a for beat in self.stored)


class RoundLane(Lane):
    """One byte of the bus behind a PHY of UltraScale, at 1250 MT/s; times in ps.

    Data leaves a beat, a slip or a tap later; DQS half a beat behind it, by its delay; both come round from their last
    tap to their first. The chip's clock rises half a cycle behind a command, and ``skew`` later at this chip.

    tap, align : of a delay: how long; how many in any case, since it was calibrated to 0.
    skew       : of the clock.
    arrival    : of what is read, behind the first beat that can be had.
    eye        : of a beat that is read, what is sure.
    dqss       : how far DQS may be from the clock; JESD79-4: 0.27 of a cycle. None: it is never seen.
    """
    BEAT = 800

    def __init__(self, tap, skew, arrival, align=54, eye=500, dqss=432):
        self.tap, self.skew, self.arrival, self.eye, self.dqss = tap, skew, arrival, eye, dqss
        self.home   = {"read": align, "data": align, "dqs": align + round(self.BEAT/2/tap)}
        self.taps   = dict(self.home)
        self.moves  = dict.fromkeys(("write_slip", "read_slip"))
        self.stored = bytes(8)

    def obey(self, name):
        if name in ("write_delay_inc", "read_delay_inc"):
            for delay in ("data", "dqs") if name == "write_delay_inc" else ("read",):
                self.taps[delay] = (self.taps[delay] + 1)%TAPS
        else:
            kind = name.removesuffix("_rst")
            self.moves[kind] = 0 if name != kind else self.moves[kind] + 1

    def later(self, delay, home):
        """By its taps than one that was calibrated as the other."""
        return (self.taps[delay] - self.home[home])*self.tap

    @property
    def early(self):
        """Of the chip's clock, before DQS, if there were no slips to make it so."""
        return -self.moves["write_slip"]%BEATS*self.BEAT + self.later("dqs", "data") - self.BEAT - self.skew

    @property
    def off_center(self):
        """Of what is read, behind the middle of the beat that is taken."""
        beat = (BEATS - 1 + self.moves["read_slip"])%BEATS
        return self.arrival + self.later("read", "read") - (beat + 0.5)*self.BEAT

    def writes(self):
        center = self.later("dqs", "data") - self.later("data", "data") - self.BEAT/2
        return self.dqss is not None and abs(self.early) <= self.dqss and abs(center) <= 150

    def reads(self):
        return abs(self.off_center) <= self.eye/2


class Chips(Module):
    """Obeys pulses and commands; logs (cycle, phase, control, command, address, bank)."""

    SLIPS  = ("write_slip_rst", "write_slip", "read_slip_rst", "read_slip")
    DELAYS = ("write_delay_rst", "write_delay_inc", "read_delay_rst", "read_delay_inc")

    def __init__(self, dut, lanes, latency):
        self.submodules.dut = dut
        self.latency, self.failed, self.trials = latency, None, []
        self.lanes, self.log, self.cycle, self.moves = lanes, [], 0, []
        self.reads, self.writes = set(), set()
        pulses        = {name: getattr(dut, name) for name in self.SLIPS}
        pulses       |= {name: getattr(dut.delays, name) for name in self.DELAYS if hasattr(dut.delays, name)}
        self.names    = list(pulses)
        self.delay_mask = sum(1 << n for n, name in enumerate(pulses) if name.endswith("delay_inc"))
        self.pulses   = Signal(len(pulses))
        self.commands = Signal(4)
        self.event    = Signal()
        self.comb    += [
            self.pulses.eq(Cat(*pulses.values())),
            self.commands.eq(~Cat(*[phase.cs_n for phase in dut.dfi.phases])),
            self.event.eq((self.pulses != 0) | (self.commands != 0) | dut.done),
        ]

    def run(self):
        valid = False
        while True:
            self.cycle += 1
            if (yield self.event):
                if (yield self.dut.done):
                    return
                values = yield self.pulses
                if values:
                    yield from self.obey(values)
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
        if values & self.delay_mask:
            self.moves.append((self.cycle, (yield self.dut.moving)))
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
                if command == ACTIVATE:
                    self.trials.append((yield self.dut.moving))
                if command == WRITE:
                    assert n == 3 and (yield phase.wrdata_en)
                    self.writes.add(self.cycle + WRITE_LATENCY)
                if command == READ:
                    assert n == 2 and (yield phase.rddata_en)
                    self.reads.add(self.cycle + self.latency)

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


def train(lanes, monkeypatch, delays, pause=10, latency=LATENCY, memtype="DDR3"):
    """Chips, with what ``failed``; short pauses: a simulation of seconds, not of minutes."""
    monkeypatch.setattr(ddr_commands, "GAP", 12)
    monkeypatch.setattr(ddr_training, "PAUSE", pause)
    module = MT41K512M16(100e6, "1:4") if memtype == "DDR3" else EDY4016A(156.25e6, "1:4")
    dut    = DRAMTraining(settings(len(lanes), memtype), module.timing_settings, 16, 3, CLK_FREQ, delays)
    chips  = Chips(dut, lanes, latency)

    def bench():
        if isinstance(delays, RoundDelays):
            yield delays.clock_taps.eq(lanes[0].home["data"])
            yield delays.dqs_taps.eq(lanes[0].home["dqs"])
        yield from chips.run()
        chips.failed = yield dut.failed
    simulate(chips, [bench()], cycles=800000)
    first = next(cycle for cycle, *_, command, _, _ in chips.log if command == ACTIVATE)
    assert chips.cycle - first <= dut.cycles
    return chips

# Without output delays ----------------------------------------------------------------------------


def test_each_byte_gets_the_middle_of_its_widest_run(monkeypatch):
    lanes = [Lane(1, [6], (5, range(1, 6))), Lane(1, [2], (0, [0, 3, 4])), Lane(1, [0], (7, [*range(3), 5, 6, 7]))]
    chips = train(lanes, monkeypatch, ResetDelays(8, 1))
    assert chips.failed == 0
    assert [lane.write_position for lane in lanes] == [6, 2, 0]
    assert [lane.read_position for lane in lanes] == [(5, 3), (0, 3), (7, 1)]
    check_initialisation(chips.log)


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
    assert train(lanes, monkeypatch, ResetDelays(8, 1)).failed == 0b10
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
    assert train(lanes, monkeypatch, ResetDelays(8, 5)).failed == 0b10000
    assert [lane.write_position for lane in lanes[:4]] == [2, 6, 14, 35]
    assert [lane.read_position for lane in lanes[:4]] == [(2, 3), (2, 4), (3, 1), (3, 5)]

# With delays that go round ------------------------------------------------------------------------

# Taps between two reads, and bytes: all corners of what a tap's length can be; the clock comes later to each, by up to
# five beats; what is read arrives anywhere. Delays of one FPGA have taps of about the same length.
ROUND = {
    "short": (16, [RoundLane(2.5, skew, at) for skew, at in ((0, 0), (500, 1900), (1700, 2650))]),
    "usual": (16, [RoundLane(tap, skew, at, align, dqss=dqss) for tap, skew, at, align, dqss in (
        (5, 300, 4700, 54, 432), (5.2, 2400, 100, 50, 300), (4.8, 3900, 3333, 60, 432))]),
    "long":  (8, [RoundLane(15, skew, at) for skew, at in ((200, 1000), (950, 2000), (2700, 3950))]),
}


@pytest.mark.parametrize("taps", ROUND)
def test_each_byte_is_written_at_its_clock_and_read_in_its_middle(taps, monkeypatch):
    """Within a position, which is 50 ps of a write, and what is cut off at a row's end."""
    step, lanes = ROUND[taps]
    chips       = train(lanes, monkeypatch, RoundDelays(step), pause=2, latency=1, memtype="DDR4")
    assert chips.failed == 0
    for lane in lanes:
        assert abs(lane.early) <= 75 + lane.tap, [lane.early for lane in lanes]
        assert abs(lane.off_center) <= step*lane.tap + 70, [lane.off_center for lane in lanes]
        assert lane.taps["dqs"] - lane.taps["data"] == lane.home["dqs"] - lane.home["data"]
    check_moves(chips)


def check_moves(chips):
    """Delays are moved while they do not follow the temperature, and the last trial, of two, is with those that do."""
    assert len(chips.moves) > 1000 and all(moving for _, moving in chips.moves)
    assert chips.trials[-2:] == [0, 0] and all(chips.trials[:-2])
    first = next(cycle for cycle, *_, command, _, _ in chips.log if command == ACTIVATE)
    assert chips.moves[0][0] - first > 10  # UG571.


def test_a_byte_that_never_passes_is_told_and_the_others_are_not_worse(monkeypatch):
    lanes = [RoundLane(5, 400, 1300), RoundLane(5, 400, 1300, dqss=None), RoundLane(5, 400, 1300, eye=0)]
    chips = train(lanes, monkeypatch, RoundDelays(32, 4), pause=2, latency=1, memtype="DDR4")
    assert chips.failed == 0b110
    assert abs(lanes[0].early) <= 210 and abs(lanes[0].off_center) <= 250

# Constants ----------------------------------------------------------------------------------------


def test_gap_keeps_the_longest_time_of_the_chips():
    assert 4*GAP >= 1024  # DDR4's tZQinit.


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
    for taps, seconds in ((13, 12e-3), (1, 6e-3)):
        assert DRAMTraining(settings(8), MT41K512M16(125e6, "1:4").timing_settings, 16, 3, 125e6,
            ResetDelays(32, taps)).cycles/125e6 < seconds


def test_patterns_differ_at_every_shift():
    for shift in range(8):
        for one, other in ((0, 1), (0, 0), (1, 1)):
            shifted = PATTERNS[other][shift:] + PATTERNS[other][:shift]
            same    = sum(a == b for a, b in zip(PATTERNS[one], shifted))
            assert same == (8 if one == other and shift == 0 else 0)
