#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""DDR3 of series 7 boards: connections of clocks, training and PHY.

The PHY consists of vendor blocks, which Migen cannot simulate; these tests inspect the Verilog.
"""

import re

import pytest

from migen import *

from litex.gen import *

from litex.soc.cores.clock import S7MMCM

from litex_boards.platforms import sqrl_acorn, xilinx_kc705

from litedram.modules import MT8JTF12864, MT41K512M16

from litepcie_soc.board.board import Board, Memory
from litepcie_soc.board.link_widths import link_widths
from litepcie_soc.board.series7 import USER_CLOCKS
from litepcie_soc.board.soc import BoardSoC
from litepcie_soc.ddr.ddr3 import DDRClocks

# Verilog ------------------------------------------------------------------------------------------

FAMILIES = {
    "artix7":  (sqrl_acorn.Platform, lambda: S7MMCM(speedgrade=-3), MT41K512M16),
    "kintex7": (xilinx_kc705.Platform, lambda: S7MMCM(speedgrade=-2), MT8JTF12864),
}


class CRG(LiteXModule):
    def __init__(self, platform, pll, sys_clk_freq, with_dqs):
        self.cd_sys = ClockDomain()
        self.pll    = pll
        self.pll.register_clkin(platform.request("clk200"), 200e6)
        self.ddr    = DDRClocks(self.pll, self.cd_sys, sys_clk_freq, with_dqs)


def build(family):
    platform, pll, module = FAMILIES[family]
    board = Board("some_board", "Some Board", family, platform, link_widths(USER_CLOCKS, (1,), {125: 125e6}), (2, 1),
        Memory(1 << 20, 1 << 30, "DDR3"), None)
    soc     = BoardSoC(board, board.platform(), board.configure(with_ddr=True))
    soc.crg = CRG(soc.platform, pll(), soc.sys_clk_freq, family == "artix7")
    soc.add_link(soc.add_ddr3(soc.platform.request("ddram"), module))
    return str(soc.platform.get_verilog(soc))


@pytest.fixture(scope="module")
def artix7():
    return build("artix7")


@pytest.fixture(scope="module")
def kintex7():
    return build("kintex7")


@pytest.fixture(params=["kintex7", pytest.param("artix7", marks=pytest.mark.full)])
def verilog(request):
    return request.getfixturevalue(request.param)


READS = [
    ("rdly_dq_rst_re",         "read_delay_rst"),
    ("rdly_dq_inc_re",         "read_delay_inc"),
    ("rdly_dq_bitslip_rst_re", "read_slip_rst"),
    ("rdly_dq_bitslip_re",     "read_slip"),
    ("wdly_dq_bitslip_rst_re", "write_slip_rst"),
    ("wdly_dq_bitslip_re",     "write_slip"),
    ("dly_sel_storage",        "select"),
]
OUTPUT_DELAYS = [
    ("wdly_dq_rst_re",         "write_delay_rst"),
    ("wdly_dqs_rst_re",        "write_delay_rst"),
    ("wdly_dq_inc_re",         "write_delay_inc"),
    ("wdly_dqs_inc_re",        "write_delay_inc"),
]


def test_training_moves_the_settings_of_the_phy(kintex7):
    """Delays of DQS and of the data move together."""
    for move, of_training in READS + OUTPUT_DELAYS:
        assert re.search(rf"^assign \w+_{move} = \w+_{of_training};$", kintex7, flags=re.MULTILINE), move


def test_the_card_tells_which_bytes_failed_and_the_state_of_its_block(verilog):
    assert re.search(r"^assign \w+_identity_memory_failed = \w+_failed;$", verilog, flags=re.MULTILINE)
    assert re.search(r"^assign \w+_identity_ltssm\d* = \w+_csrfield_ltssm;$", verilog, flags=re.MULTILINE)


def test_no_setting_floats(verilog):
    """The PHY's registers are in no CSR bank: each has another driver."""
    for name in ("rst_storage", "wlevel_en_storage", "rdphase_storage", "wrphase_storage", "wlevel_strobe_re"):
        assert re.search(rf"^assign \w*7ddrphy_{name} = \d'd\d;$", verilog, flags=re.MULTILINE), name


def test_commands_and_clock_are_not_delayed(kintex7):
    for name in ("cdly_rst_re", "cdly_inc_re"):
        assert re.search(rf"^assign \w*k7ddrphy_{name} = 1'd0;$", kintex7, flags=re.MULTILINE), name


def test_phy_runs_while_sys_is_in_reset(verilog):
    assert "assign training_clk = sys_clk;" in verilog
    serdes = re.findall(r"^OSERDESE2 #\(.*?^\);", verilog, flags=re.MULTILINE | re.DOTALL)
    assert len(serdes) > 40
    assert all(".CLKDIV (training_clk)" in block.replace("  ", " ") for block in serdes)
    assert not any("sys_rst" in block for block in serdes)
