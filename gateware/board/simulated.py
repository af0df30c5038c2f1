#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What ``targets/sim.py`` must be to be like a real board: the same link, data path, clock and hard block."""

from litepcie_soc.board import series7, ultrascale
from litepcie_soc.common.abi import WINDOW_MAX
from litepcie_soc.phy.hard_block import space_of_family

# Family of the hard block (`GUIDE` of hard_block.py) by family of the FPGA.
HARD_BLOCKS = {"artix7": "7-series", "kintex7": "7-series", "ultrascale": "UltraScale",
    "ultrascale_plus": "UltraScale+"}


def block_setting(family, configuration):
    """Returns bits and user clock in Hz of the hard block of an FPGA family for a ``Configuration``."""
    gen, lanes, width = configuration.gen, configuration.lanes, configuration.data_width
    clocks = series7.USER_CLOCKS if HARD_BLOCKS[family] == "7-series" else ultrascale.PCIE4C_USER_CLOCKS
    bits   = width if (gen, lanes, width) in clocks else width//2
    return bits, clocks[gen, lanes, bits]*1000000


def simulated(board, configuration=None):
    """Returns the parameters of ``SimSoC`` that make it like a ``Board``.

    configuration : ``Configuration`` of the board. None: the default one.

    The endpoint memory is at least as large as the window, and always block RAM.
    """
    c     = configuration or board.configure()
    found = {"gen": c.gen, "lanes": c.lanes, "data_width": c.data_width, "sys_clk_freq": c.sys_clk_freq,
        "tags": c.tags, "channels": c.dma_channels, "memory_size": max(WINDOW_MAX, board.memory.bram)}
    if board.family not in HARD_BLOCKS:
        return found | {"phy": "soft"}
    block = HARD_BLOCKS[board.family]
    found["completion_space"] = space_of_family(block, c.lanes)
    if block != "7-series":
        found |= {"phy": "split", "endianness": "little", "fabric_width": block_setting(board.family, c)[0]}
    return found
