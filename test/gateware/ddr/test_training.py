# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""Training of DDR3, with a model of the effect of a PHY's settings on the bytes of the bus.

Those whose phase moves (Artix-7) and whose delays wrap (DDR4) are in test/gateware/ddr/phy, with models of the cells
and the chips.
"""

import pytest

from litedram.modules import MT8JTF12864, MT41K512M16

from test.gateware.ddr.chips import Lane, settings, train

from litepcie_soc.ddr.commands import ACTIVATE, CAS, CS, GAP, PRECHARGE, RAS, READ, WE, WRITE, initialisation
from litepcie_soc.ddr.delays import ResettableDelays
from litepcie_soc.ddr.training import PATTERNS, PAUSE, DRAMTraining


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
