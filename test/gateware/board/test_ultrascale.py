#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Boards with UltraScale and UltraScale+: their links and their flash."""

from types import SimpleNamespace

import pytest

from litepcie_soc.board import ultrascale
from litepcie_soc.board.link_widths import link_widths
from litepcie_soc.common.link_rates import data_path_rate, link_rate
from litepcie_soc.phy.ultrascale.phy import USER_CLOCKS

# Links --------------------------------------------------------------------------------------------


def test_links_widest_first():
    found = link_widths(ultrascale.USER_CLOCKS, (4, 8, 16), {125: 125e6, 250: 200e6})
    assert {link: list(widths.items()) for link, widths in found.items()} == {
        (3, 4):  [(256, 125e6), (128, 200e6)],
        (3, 8):  [(256, 200e6)],
        (3, 16): [(512, 200e6)],
    }


def test_every_user_clock_carries_its_link():
    for (lanes, width), mhz in USER_CLOCKS.items():
        assert data_path_rate(width, mhz*1e6) >= link_rate(3, lanes)

# Flash --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mbytes, start, address", [(32, 0, "0x00000000"), (128, 0x1002000, "0x01002000")])
def test_flash_image_starts_where_the_fpga_looks(mbytes, start, address):
    platform = SimpleNamespace(toolchain=SimpleNamespace(bitstream_commands=[], additional_commands=[]))
    ultrascale.add_flash_image(platform, "mcs", mbytes, start)
    command, = platform.toolchain.additional_commands
    assert command.format(build_name="name") == (f"write_cfgmem -force -format mcs -interface spix4 -size {mbytes} "
        f'-loadbit "up {address} name.bit" -file name.mcs')
    assert any("SPI_32BIT_ADDR" in command for command in platform.toolchain.bitstream_commands)
