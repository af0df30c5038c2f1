#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""DDR3 of the boards with an Artix-7: that training and PHY are put together as they are meant to be.

The PHY is made of vendor blocks and cannot be simulated: the Verilog is looked at.
"""

import re

import pytest

from migen import *

from litex.gen import *

from litex.soc.cores.clock import S7PLL

from litex_boards.platforms import sqrl_acorn

from litedram.modules import MT41K512M16

from litepcie_soc.board.board import Board, Memory
from litepcie_soc.board.ddr import DDRClocks
from litepcie_soc.board.series7 import links
from litepcie_soc.board.soc import BoardSoC

pytestmark = pytest.mark.unit


class CRG(LiteXModule):
    def __init__(self, platform, sys_clk_freq):
        self.cd_sys = ClockDomain()
        self.pll    = S7PLL(speedgrade=-3)
        self.pll.register_clkin(platform.request("clk200"), 200e6)
        self.ddr    = DDRClocks(self.pll, self.cd_sys, sys_clk_freq)


@pytest.fixture(scope="module")
def verilog():
    board = Board("some_board", "Some Board", "artix7", sqrl_acorn.Platform, links((1,), {125: 125e6}), (2, 1),
        Memory(1 << 20, 1 << 30), None)
    soc     = BoardSoC(board, board.platform(), board.configure(with_ddr=True))
    soc.crg = CRG(soc.platform, soc.sys_clk_freq)
    soc.add_link(soc.add_ddr3(soc.platform.request("ddram"), MT41K512M16))
    return str(soc.platform.get_verilog(soc))


@pytest.mark.parametrize("pulse, of_training", [
    ("rdly_dq_rst",         "read_delay_rst"),
    ("rdly_dq_inc",         "read_delay_inc"),
    ("rdly_dq_bitslip_rst", "read_slip_rst"),
    ("rdly_dq_bitslip",     "read_slip"),
    ("wdly_dq_bitslip_rst", "write_slip_rst"),
    ("wdly_dq_bitslip",     "write_slip"),
    ("dly_sel_storage",     "select"),
])
def test_training_moves_the_phys_settings(verilog, pulse, of_training):
    assert re.search(rf"^assign \w+_{pulse} = \w+_{of_training};$", verilog, flags=re.MULTILINE)


def test_no_setting_floats(verilog):
    """Registers of the PHY are in no bank: each has a driver."""
    for name in ("rst_storage", "wlevel_en_storage", "rdphase_storage", "wrphase_storage", "wlevel_strobe"):
        assert re.search(rf"^assign \w*a7ddrphy_{name} = \d'd\d;$", verilog, flags=re.MULTILINE), name


def test_phy_runs_while_all_else_waits(verilog):
    assert "assign training_clk = sys_clk;" in verilog
    serdes = re.findall(r"^OSERDESE2 #\(.*?^\);", verilog, flags=re.MULTILINE | re.DOTALL)
    assert len(serdes) > 40
    assert all(".CLKDIV (training_clk)" in block.replace("  ", " ") for block in serdes)
    assert not any("sys_rst" in block for block in serdes)
