#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Targets of litex-boards get the card by the lines of docs/contracts/user-bus.md; no compiler runs."""

from importlib import import_module

import pytest

from litepcie_soc.board.board import Configuration
from litepcie_soc.board.constraints import add_link_constraints
from litepcie_soc.board.identity import identify
from litepcie_soc.board.series7 import series7_phy
from litepcie_soc.soc import regs
from litepcie_soc.soc.soc import add_litepcie


def add_card(soc, family, lanes, width):
    """The five lines."""
    pads = soc.platform.request(f"pcie_x{lanes}")
    soc.pcie_phy = series7_phy(soc.platform, pads, Configuration(2, lanes, width, soc.sys_clk_freq, tags=32))
    add_litepcie(soc, soc.pcie_phy, target="mine", gen=2, lanes=lanes, memory_size=0x10000,
        pci_id=identify(soc.pcie_phy, family), user_bus=True)
    add_link_constraints(soc.platform, pads, [soc.crg.cd_sys], soc.pcie_phy)


@pytest.mark.parametrize("name, family, lanes, width", [
    ("sqrl_acorn", "artix7", 4, 128), ("numato_aller", "artix7", 4, 128), ("numato_tagus", "artix7", 1, 64),
])
def test_a_target_of_litex_boards(name, family, lanes, width):
    soc = import_module(f"litex_boards.targets.{name}").BaseSoC(sys_clk_freq=125e6, cpu_type="None", with_uart=False)
    add_card(soc, family, lanes, width)
    soc.finalize()
    assert regs.moved(soc) == []
    assert "sdram" in soc.csr.regions and "pcie" in soc.bus.masters
    assert soc.constants["CONFIG_PCIE_SUBSYSTEM_DEVICE_ID"] == 0x1ce0
    assert "add_litepcie" not in vars(type(soc))
    assert f"module {name} (" in soc.platform.get_verilog(soc, name=name).main_source
