# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Delays of a byte: the positions that the pulses move them to."""

import pytest
from migen import *

from test.gateware.simulation import simulate
from test.gateware.steps import pulse, wait
from litepcie_soc.ddr.delays import SKEW_TAPS, STEP_CYCLES, TAPS, PhaseDelays, WrappingDelays

BEAT_PS = 800


class Pins:
    """Delays of UltraScale, calibrated in TIME format: a delay of 0 has ``align`` taps (AR 64743)."""
    def __init__(self, tap_ps, align):
        self.clock = align
        self.home  = {"read": align, "data": align, "dqs": align + round(BEAT_PS/2/tap_ps)}
        self.taps  = dict(self.home)
        self.most  = dict(self.home)  # Most taps of each so far.

    def obey(self, read, write):
        for name, inc in (("read", read), ("data", write), ("dqs", write)):
            self.taps[name] = (self.taps[name] + inc)%TAPS
            self.most[name] = max(self.most[name], self.taps[name])

    def moved(self, name):
        return (self.taps[name] - self.home[name])%TAPS


def go(dut, pins, read=0, write=0, writing=0, choosing=0):
    """Moves the delays to a position; returns the cycles it took."""
    yield [dut.read_position.eq(read), dut.write_position.eq(write), dut.writing.eq(writing), dut.choosing.eq(choosing)]
    yield from pulse(dut.start)
    cycles = 0
    while True:
        yield
        if (yield dut.done):
            return cycles
        pins.obey((yield dut.read_delay_inc), (yield dut.write_delay_inc))
        cycles += 1


def run(pins, bench):
    """Runs ``bench(dut)``. The delays give their calibration at first, and later their present taps."""
    dut = WrappingDelays()
    def main():
        yield [dut.clock_taps.eq(pins.clock), dut.dqs_taps.eq(pins.home["dqs"])]
        yield from wait(10)
        yield from bench(dut)
    simulate(dut, [main()], cycles=100000)
    return dut


def test_phase_moves_in_steps_that_the_mmcm_can_take():
    dut   = PhaseDelays(4, 5, 3)
    moves = []  # (cycle, step)
    seen  = []
    def bench():
        cycle = 0
        for position, choosing in ((0, 0), (4, 0), (1, 0), (3, 1)):
            yield [dut.write_position.eq(position), dut.choosing.eq(choosing)]
            yield from pulse(dut.start)
            for _ in range(dut.cycles):
                yield
                cycle += 1
                if (yield dut.phase_move):
                    moves.append((cycle, 1 if (yield dut.phase_later) else -1))
                if (yield dut.done):
                    break
            seen.append(sum(step for _, step in moves))
    simulate(dut, [bench()])
    assert seen == [-6, 6, -3, 0]  # Chosen, it is in the middle.
    cycles = [cycle for cycle, _ in moves]
    assert min(after - before for before, after in zip(cycles, cycles[1:])) == STEP_CYCLES > 12


@pytest.mark.parametrize("tap_ps", [2.5, 5, 15])
def test_positions_of_writes_are_spread_over_a_beat(tap_ps):
    pins   = Pins(tap_ps, 54)
    placed = []
    def bench(dut):
        for _beat in range(2):
            for position in range(16):
                cycles = yield from go(dut, pins, write=position, writing=1)
                assert cycles <= dut.cycles
                assert pins.moved("dqs") == pins.moved("data")
                placed.append(pins.moved("data")*tap_ps)
    run(pins, bench)
    assert placed[:16] == placed[16:]
    assert placed[0] == 0
    steps = [after - before for before, after in zip(placed, [*placed[1:16], BEAT_PS])]
    short = tap_ps == 2.5  # With these, DQS would pass its last tap.
    assert all(abs(step - BEAT_PS/16) <= 2*tap_ps for step in steps[:15]) or short
    assert abs(steps[15] - BEAT_PS/16) <= (BEAT_PS/8 if short else 2*tap_ps)


@pytest.mark.parametrize("tap_ps", [2.5, 15])
@pytest.mark.parametrize("align", [0, 200])
def test_dqs_stays_after_the_data(tap_ps, align):
    """DQS wraps only when all delays return to their start, after the last position of a beat."""
    pins = Pins(tap_ps, align)
    def bench(dut):
        for position in range(16):
            yield from go(dut, pins, write=position, writing=1)
            assert pins.taps["dqs"] - pins.taps["data"] == pins.home["dqs"] - pins.home["data"]
    run(pins, bench)
    assert pins.most["dqs"] <= TAPS - SKEW_TAPS


def test_reads_cover_all_taps_and_wrap():
    pins = Pins(5, 54)
    def bench(dut):
        for _ in range(2):
            for position in range(dut.read_positions):
                yield from go(dut, pins, read=position)
                assert pins.moved("read") == 8*position
    dut = run(pins, bench)
    assert dut.read_positions*8 == TAPS


def test_chosen_bytes_start_from_position_0():
    """Bytes are chosen one after the other, and each starts from position 0."""
    pins = [Pins(5, 54) for _ in range(3)]
    def bench(dut):
        yield from go(dut, pins[0], read=63, write=8)
        yield from go(dut, pins[0], choosing=1)
        assert (pins[0].moved("read"), pins[0].moved("data")) == (0, 0)
        for byte, position in zip(pins, (5, 17, 40)):
            yield from go(dut, byte, read=position, choosing=1)
            assert byte.moved("read") == 8*position
        for byte, position in zip(pins, (2, 7, 15)):
            yield from go(dut, byte, write=position, writing=1, choosing=1)
            assert byte.moved("data") == position*160 >> 4
    run(pins[0], bench)


@pytest.mark.parametrize("clock, dqs", [(80, 20), (0, TAPS - 1), (TAPS - 1, TAPS - 1)])
def test_impossible_calibration_moves_no_data_and_ends(clock, dqs):
    pins             = Pins(5, clock)
    pins.home["dqs"] = dqs
    def bench(dut):
        for position in range(16):
            assert (yield from go(dut, pins, write=position, writing=1)) <= dut.cycles
        assert pins.moved("data") == 0
    run(pins, bench)
