# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""DDR4 of UltraScale and UltraScale+ boards: steps of the training that no model of the chips sees.

The connections of clocks, training and PHY are in the Verilog of the boards: test/targets/checks.py.
"""

import pytest
from litex_boards.platforms import xilinx_alveo_u200, xilinx_kcu105
from litedram.modules import EDY4016A, MTA18ASF2G72PZ

from litepcie_soc.ddr.ddr4 import DDR_CLK_FREQ
from litepcie_soc.ddr.training import MODE, write_recovery
from test.gateware.ddr.phy.bench import UltraScale


class Built:
    """The DDR of a board; `registered`: an RDIMM."""
    def __init__(self, platform, oscillator, module, registered):
        self.registered = registered
        self.ddr        = UltraScale(platform(), oscillator, module, registered, registered=registered).ddr


@pytest.fixture(scope="module", params=[pytest.param(options, id=name, marks=pytest.mark.full) for name, options in {
    "kcu105": (xilinx_kcu105.Platform,     125e6, EDY4016A,       False),
    "u200":   (xilinx_alveo_u200.Platform, 300e6, MTA18ASF2G72PZ, True),
}.items()])
def board(request):
    return Built(*request.param)


def test_only_the_training_is_in_the_map_and_ends_before_a_host_enumerates(board):
    names = [csr.name for csr in board.ddr.get_csrs()]
    assert len(names) == 1 and names[0].endswith("training")
    assert board.ddr.byte_mask == (not board.registered)
    assert board.ddr.trainer.cycles/DDR_CLK_FREQ < 50e-3
    assert sum(step[-1] for step in board.ddr.trainer.steps)/DDR_CLK_FREQ < 2e-3

A_SIDE, B_SIDE = 0, 1
INVERTED = (3, 4, 5, 6, 7, 8, 9, 11, 13)  # Addresses on the B side of an RCD, JESD82-31.


def bits(word, *places):
    """Bits of ``word`` as a number; the first place is the most significant."""
    value = 0
    for place in places:
        value = value << 1 | word >> place & 1
    return value


def mode_registers(board, side):
    """Mode register writes that the chips of one side accept: (register, value, cycles after it), in order."""
    found = []
    for _, command, address, bank, wait in board.ddr.trainer.steps:
        if side == B_SIDE:
            address ^= sum(1 << place for place in INVERTED)
            bank    ^= 15
        if command == MODE and not bank >> 3 and bank < 7:  # BG1 is low on the side the command is for.
            found.append((bank, address, wait))
    return found


def sides(board):
    return [mode_registers(board, side) for side in ((A_SIDE, B_SIDE) if board.registered else (A_SIDE,))]


def test_mode_registers_match_the_pcb(board):
    """What no model of the chips sees, JESD79-4, 3.5: latencies and the like are those of test/gateware/ddr/phy."""
    for registers in sides(board):
        assert [register for register, *_ in registers] == [3, 6, 5, 4, 2, 1, 0, 6, 6, 6]
        mr = {register: value for register, value, _ in registers[:7]}
        assert bits(mr[1], 2, 1) == 0                      # 34 ohm.
        assert bits(mr[1], 10, 9, 8) == 0b011              # RTT_NOM 40 ohm.
        assert bits(mr[2], 11, 10, 9) == 0b001             # RTT_WR 120 ohm.
        assert bits(mr[2], 12) == 0                        # No CRC.
        assert bits(mr[3], 8, 7, 6) == 0                   # Normal refresh rate.


def test_reference_voltage_is_set_in_its_mode(board):
    """JESD79-4, DQ Vref Training: enter, set, leave. 62.6 % of VDDQ is the middle with 40 ohm against 120 ohm."""
    for registers in sides(board):
        vref = [value for register, value, _ in registers[7:]]
        assert [bits(value, 7) for value in vref] == [1, 1, 0]
        for value in vref:
            assert bits(value, 6) == 0 and bits(value, 12, 11, 10) == 0
        percent = 60 + 0.65*(vref[1] & 0x3f)
        assert abs(percent - 100*(1 + 40/160)/2) < 0.65/2


def test_register_of_addresses_is_set_before_the_chips(board):
    """JESD82-31: 4-bit control words are in A3 to A0, their number above; 8-bit control words are in A7 to A0."""
    steps = [(address, wait) for _, command, address, bank, wait in board.ddr.trainer.steps
        if (command, bank) == (MODE, 7)]
    if not board.registered:
        assert not steps
        return
    words = [(address >> 4, address & 15) for address, _ in steps if address < 0x100]
    assert words[0] == (6, 0)                      # RC06: soft reset.
    words = dict(words[1:])
    assert words.pop(0xf) == 4                     # RC0F: no cycle added to commands.
    assert words.pop(0xd) == 4                     # RC0D: RDIMM, direct dual CS, no mirroring.
    assert words.pop(0xa) == 0                     # RC0A: up to 1600 MT/s, with the PLL.
    assert set(words) == {3, 4, 5}                 # Drive strengths.
    assert [address for address, _ in steps if address >= 0x100] == [3 << 8]  # RC3x: 1240 to 1260 MT/s.
    assert all(wait/DDR_CLK_FREQ >= 100e-6 for _, wait in steps)
    order = [(command, bank) == (MODE, 7) for _, command, _, bank, _ in board.ddr.trainer.steps]
    assert order.index(True) == 3 and order[3:3 + len(steps)] == [True]*len(steps)


@pytest.mark.parametrize("frequency, cycles", [(625e6, 10), (667e6, 12), (800e6, 12), (1200e6, 18)])
def test_write_recovery_is_the_least_even_number_of_cycles(frequency, cycles):
    assert write_recovery(frequency) == cycles


def test_controller_gives_a_row_its_time(board):
    """Auto-precharge after a read: the chips start tRP half the write recovery later, LiteDRAM starts it at once.

    LiteDRAM's tRP, and the cycle less a phase that it waits besides, must cover both.
    """
    timing = board.ddr.core.controller.settings.timing
    t_rp   = 14.16e-9 if board.registered else 13.32e-9
    assert 4*timing.tWR >= write_recovery(625e6) >= 15e-9*625e6
    assert 4*(timing.tRP + 1) - 1 >= write_recovery(625e6)/2 + t_rp*625e6
