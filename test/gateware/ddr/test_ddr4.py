#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""DDR4 of UltraScale and UltraScale+ boards: connections of clocks, training and PHY, and the chips' initialisation.

The PHY consists of vendor blocks, which Migen cannot simulate; these tests inspect the Verilog.
"""

import re

import pytest

from migen import *

from litex.gen import *

from litex.build.io import DifferentialInput
from litex.soc.cores.clock import USMMCM, USPMMCM

from litex_boards.platforms import xilinx_alveo_u200, xilinx_kcu105

from litedram.modules import EDY4016A, MTA18ASF2G72PZ

from litepcie_soc.board import ultrascale
from litepcie_soc.board.board import Board, Memory
from litepcie_soc.board.link_widths import link_widths
from litepcie_soc.board.soc import BoardSoC
from litepcie_soc.common.link_rates import CLOCK_MARGIN
from litepcie_soc.ddr.commands import MODE, write_recovery
from litepcie_soc.ddr.ddr4 import DDR_CLK_FREQ, UltraScaleDDRClocks

# Boards -------------------------------------------------------------------------------------------

# Family, platform, oscillator, its Hz, chips, RDIMM or not, strobes.
BOARDS = {
    "kcu105":  ("ultrascale",      xilinx_kcu105.Platform,     "clk125", 125e6, EDY4016A,       False, 8),
    "u200":    ("ultrascale_plus", xilinx_alveo_u200.Platform, "clk300", 300e6, MTA18ASF2G72PZ, True,  16),
}


class CRG(LiteXModule):
    def __init__(self, platform, sys_clk_freq, oscillator, frequency, plus):
        self.cd_sys = ClockDomain()
        pads, clk   = platform.request(oscillator, 0), Signal()
        self.specials += DifferentialInput(pads.p, pads.n, clk)
        self.pll    = (USPMMCM if plus else USMMCM)(speedgrade=-2)
        self.pll.register_clkin(clk, frequency)
        self.pll.create_clkout(self.cd_sys, sys_clk_freq, margin=CLOCK_MARGIN)
        self.ddr    = UltraScaleDDRClocks(clk, frequency, plus)


class Built:
    """A board's Verilog, and the vendor blocks in it as (parameters, ports)."""
    def __init__(self, name):
        self.name = name
        family, platform, oscillator, self.frequency, module, self.registered, self.strobes = BOARDS[name]
        self.plus = family == "ultrascale_plus"
        links     = link_widths(ultrascale.USER_CLOCKS, (4, 8), {125: 125e6, 250: 250e6})
        memory    = Memory(1 << 20, 1 << 30, "DDR4", 10e9)
        board     = Board("some_board", "Some Board", family, platform, links, (3, 4), memory, None)
        soc       = BoardSoC(board, board.platform(), board.configure(with_ddr=True))
        soc.crg   = CRG(soc.platform, soc.sys_clk_freq, oscillator, self.frequency, self.plus)
        memory    = soc.add_ddr4(soc.platform.request("ddram", 0), module, registered=self.registered)
        soc.add_link(memory)
        self.soc, self.memory, self.ddr = soc, memory, soc.ddr
        self.verilog = str(soc.platform.get_verilog(soc))

    def blocks(self, kind):
        found = re.findall(rf"^{kind} (?:#\((.*?)^\) )?\w+ ?\((.*?)^\);", self.verilog, flags=re.MULTILINE | re.DOTALL)
        return [tuple(dict(re.findall(r"\.(\w+)\s*\(([^)]*)\)", part)) for part in block) for block in found]


built = {}


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.full) for name in BOARDS])
def board(request):
    if request.param not in built:
        built[request.param] = Built(request.param)
    return built[request.param]


def number(text):
    return float(re.sub(r".*'d", "", text))

# Clocks -------------------------------------------------------------------------------------------


def test_mmcm_makes_the_clocks_without_a_fraction_of_the_fast_one(board):
    mmcms = board.blocks("MMCME4_ADV" if board.plus else "MMCME2_ADV")
    assert len(mmcms) == 2  # The second one makes ``sys``.
    (parameters, _), = [mmcm for mmcm in mmcms if "CLKOUT1" in mmcm[1]]
    vco = board.frequency*number(parameters["CLKFBOUT_MULT_F"])/number(parameters["DIVCLK_DIVIDE"])
    assert (800e6 if board.plus else 600e6) <= vco <= 1440e6
    assert vco/number(parameters["CLKOUT0_DIVIDE_F"]) == 312.5e6
    assert number(parameters["CLKOUT1_DIVIDE"]) == vco/625e6


def test_serializers_see_a_clock_and_a_quarter_of_it_from_one_output(board):
    (_, fast), = board.blocks("BUFGCE")
    (divided, slow), = board.blocks("BUFGCE_DIV")
    assert fast["I"] == slow["I"] == "ddr_pll_clk"
    assert number(divided["BUFGCE_DIVIDE"]) == 4
    assert (fast["O"], slow["O"]) == ("ddr4x_clk", "ddr_clk")
    assert "assign training_clk = ddr_clk;" in board.verilog
    serdes = board.blocks("OSERDESE3") + board.blocks("ISERDESE3")
    assert len(serdes) > 160
    assert {(ports["CLK"], ports["CLKDIV"]) for _, ports in serdes} == {("ddr4x_clk", "training_clk")}


def test_clocks_of_the_serializers_are_routed_alike(board):
    alike = [signals["clk"] for command, signals in board.soc.platform.constraint_manager.platform_commands
        if "CLOCK_DELAY_GROUP ddr " in command]
    assert alike == [board.soc.crg.ddr.cd_ddr.clk, board.soc.crg.ddr.cd_ddr4x.clk]
    for name in ("ddr", "ddr4x"):
        assert re.search(rf'dont_touch = "true" \*\)\s+wire +{name}_clk;', board.verilog)


def test_delays_are_calibrated_before_anything_runs(board):
    (_, ports), = board.blocks("IDELAYCTRL")
    assert ports["REFCLK"] == "idelay_clk"
    delays = board.blocks("IDELAYE3") + board.blocks("ODELAYE3")
    assert {number(parameters["REFCLK_FREQUENCY"]) for parameters, _ in delays} == {312.5}
    assert {ports["CLK"] for _, ports in delays} == {"training_clk"}
    assert re.search(r"reg +training_rst = 1'd1;", board.verilog)
    assert re.search(r"assign \w+_trained = \w+_trainer_done;", board.verilog)

# Training -----------------------------------------------------------------------------------------


def test_no_register_floats_and_none_is_in_the_map(board):
    held = ("rst_storage", "wlevel_en_storage", "wlevel_strobe_re", "rdphase_storage", "wrphase_storage", "cdly_rst_re",
        "cdly_inc_re", "rdly_dq_rst_re", "wdly_dq_rst_re", "wdly_dqs_rst_re")
    for name in held:
        assert re.search(rf"^assign \w+phy_{name} = \d'd\d;$", board.verilog, flags=re.MULTILINE), name
    assert re.search(r"^assign \w+_core_storage = 4'd1;$", board.verilog, flags=re.MULTILINE)  # The controller's.
    assert len(re.findall(r"^assign \w+phaseinjector\d_command_issue_re = 1'd0;$", board.verilog, re.MULTILINE)) == 4
    names = [csr.name for csr in board.ddr.get_csrs()]
    assert len(names) == 1 and names[0].endswith("training")


def test_the_memory_is_of_the_ddr_clock_and_has_masks_where_the_chips_have(board):
    assert board.memory.clock_domain == "ddr"
    assert board.memory.byte_mask == board.ddr.byte_mask == (not board.registered)
    assert board.memory.native_write.data_width == 512


def test_training_ends_before_a_host_enumerates(board):
    assert board.ddr.trainer.cycles/DDR_CLK_FREQ < 50e-3
    assert sum(step[-1] for step in board.ddr.trainer.steps)/DDR_CLK_FREQ < 2e-3

# Initialisation of the chips ----------------------------------------------------------------------

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
