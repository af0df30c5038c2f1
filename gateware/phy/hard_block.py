#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What the hard blocks behind LitePCIe 2024.12's PHYs can hold, and which PHYs can be used."""

from litepcie.phy.s7pciephy import S7PCIEPHY
from litepcie.phy.uspciephy import USPCIEPHY
from litepcie.phy.usppciephy import USPPCIEPHY

from litepcie_soc.common.pcie import RCB_BYTES

# Completion Buffers -------------------------------------------------------------------------------

HEADER_CREDIT = 16  # Bytes of buffer a completion's header counts for (PCIe 4.0 2.6.1).

# Completions a hard block keeps for its user: how many, and bytes of data. They advertise infinite credits, so more
# than that is lost.
#
# 7-series: CPLH and CPLD of the core as LitePCIe configures it, from c_fc_cplh, c_fc_cpld of the cores LitePCIe's
# repository carried (phy/xilinx_s7_gen2_x4, _x8: 850 and 370 of 16 bytes).
# UltraScale: PG156 4.4, UltraScale+: PG213 1.3, both appendix "Managing Receive-Buffer Space", "Completion Space".
def completion_space(phy):
    """(completions, bytes) that the hard block of a LitePCIe PHY keeps, or None for a PHY that is not known."""
    if isinstance(phy, S7PCIEPHY):
        return (72, 370*16) if phy.nlanes == 8 else (72, 850*16)
    if isinstance(phy, USPPCIEPHY):
        return (128, 32768)
    if isinstance(phy, USPCIEPHY):
        return (64, 15872)
    return None


def completion_buffer_bytes(phy):
    """Default of `completion_buffer_bytes` for a PHY: headers counted, its own attribute of that name if it has one.

    A host may answer in completions of 64 bytes, so a buffer that runs out of headers first is as small as those.
    Raises ValueError for a PHY that is not known.
    """
    if hasattr(phy, "completion_buffer_bytes"):
        return phy.completion_buffer_bytes
    space = completion_space(phy)
    if space is None:
        raise ValueError(f"completion_buffer_bytes of {type(phy).__name__} is not known: give it")
    completions, data = space
    return min(completions, data//RCB_BYTES)*(RCB_BYTES + HEADER_CREDIT)

# Check --------------------------------------------------------------------------------------------

# LitePCIe's own, which lack what is needed, and what to take.
WRAPPED = {S7PCIEPHY: "Series7PHY of litepcie_soc.phy.series7",
    USPCIEPHY:  "UltraScalePHY of litepcie_soc.phy.ultrascale.phy",
    USPPCIEPHY: "UltraScalePlusPHY of litepcie_soc.phy.ultrascale.phy"}


def check_phy(phy):
    """Raises ValueError, saying why, for a LitePCIe PHY that cannot carry this transaction layer."""
    name = type(phy).__name__
    if getattr(phy, "qword_aligned", False):
        raise ValueError(f"{name} aligns payload to 64 bits: not supported")
    for phy_class, instead in WRAPPED.items():
        if isinstance(phy, phy_class) and not hasattr(phy, "bus_master_enable"):
            raise ValueError(f"{name} lacks what is around the hard block: take {instead}")
