#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Which data paths a board offers at each of its links, from the user clocks of its hard block."""

from litepcie_soc.common.pcie import DATA_WIDTHS


def link_widths(user_clocks, lanes, sys_clk_freqs, doubled=None):
    """``links`` of a ``Board``: (gen, lanes) to {data width: Hz of ``sys``}, the widest data path first.

    Parameters
    ----------
    user_clocks   : {(gen, lanes, bits): user clock in MHz} of the hard block.
    lanes         : numbers of lanes that the board offers.
    sys_clk_freqs : {user clock in MHz: Hz of ``sys``} that the fabric of this board reaches.
    doubled       : Hz of ``sys`` for twice the block's bits at links whose widest data path needs 250 MHz; None: such
        a data path is not offered.
    """
    found = {}
    for (gen, n, width), clock in sorted(user_clocks.items(), key=lambda item: (*item[0][:2], -item[0][2])):
        if n in lanes:
            if clock == 250 and doubled and (gen, n) not in found and 2 * width in DATA_WIDTHS:
                found[gen, n] = {2 * width: doubled}
            found.setdefault((gen, n), {})[width] = sys_clk_freqs[clock]
    return found
