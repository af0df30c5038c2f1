# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""Models of DDR chips and the bytes of their bus, and the effect of the PHY's settings on them."""

from migen import *

from litedram.common import PhySettings
from litedram.modules import MT41K512M16

from test.gateware.simulation import simulate

from litepcie_soc.ddr import commands, training
from litepcie_soc.ddr.commands import ACTIVATE, CAS, CS, RAS, READ, WE, WRITE
from litepcie_soc.ddr.training import BEATS, DRAMTraining

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
        self.comb    += [
            self.pulses.eq(Cat(*pulses.values())),
            self.commands.eq(~Cat(*[phase.cs_n for phase in dut.dfi.phases])),
            self.event.eq((self.pulses != 0) | (self.commands != 0) | dut.done)]

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


def train(lanes, monkeypatch, delays):
    """Runs a training with short pauses, to simulate for seconds, not minutes; returns the chips, with ``failed``."""
    monkeypatch.setattr(commands, "GAP", 12)
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
