#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Completion buffers of the hard blocks that LitePCIe 2024.12's PHYs use, and the check which PHYs are supported."""

from litepcie.phy.s7pciephy import S7PCIEPHY
from litepcie.phy.uspciephy import USPCIEPHY
from litepcie.phy.usppciephy import USPPCIEPHY

from litepcie_soc.common.pcie import RCB_BYTES

# Completion Buffers -------------------------------------------------------------------------------

HEADER_CREDIT = 16  # Bytes of the completion buffer that we count for the header of a completion (PCIe 4.0 2.6.1).

# An endpoint advertises infinite completion credits, so a hard block loses completions that exceed its buffer.
#
# 7-series: CPLH and CPLD of the core as LitePCIe configures it, from c_fc_cplh and c_fc_cpld of the cores that
# LitePCIe's repository carried (phy/xilinx_s7_gen2_x4: 850 credits of 16 bytes; _x8: 370).
# UltraScale: PG156 4.4, UltraScale+: PG213 1.3, both appendix "Managing Receive-Buffer Space", "Completion Space".
def completion_space(phy):
    """Completion buffer of a LitePCIe PHY's hard block: (completions, bytes of data), or None for an unknown PHY."""
    if isinstance(phy, S7PCIEPHY):
        return (72, 370*16) if phy.nlanes == 8 else (72, 850*16)
    if isinstance(phy, USPPCIEPHY):
        return (128, 32768)
    if isinstance(phy, USPCIEPHY):
        return (64, 15872)
    return None


def completion_buffer_bytes(phy):
    """Bytes of completions that fit in a PHY's buffer, HEADER_CREDIT included for each header.

    This is the PHY's own attribute `completion_buffer_bytes` if it has one. Otherwise it follows from the hard block: a
    host may answer in completions of 64 bytes, so the space for headers limits the bytes too. Raises ValueError for an
    unknown PHY.
    """
    if hasattr(phy, "completion_buffer_bytes"):
        return phy.completion_buffer_bytes
    space = completion_space(phy)
    if space is None:
        raise ValueError(f"the completion buffer of {type(phy).__name__} is not known; pass completion_buffer_bytes")
    completions, data = space
    return min(completions, data//RCB_BYTES)*(RCB_BYTES + HEADER_CREDIT)

# Check --------------------------------------------------------------------------------------------

# LitePCIe's own classes, which lack the logic around the hard block, and our classes that add it.
WRAPPED = {S7PCIEPHY: "Series7PHY of litepcie_soc.phy.series7",
    USPCIEPHY:  "UltraScalePHY of litepcie_soc.phy.ultrascale.phy",
    USPPCIEPHY: "UltraScalePlusPHY of litepcie_soc.phy.ultrascale.phy"}


def check_phy(phy):
    """Raises ValueError for a LitePCIe PHY that this transaction layer cannot use."""
    name = type(phy).__name__
    if getattr(phy, "qword_aligned", False):
        raise ValueError(f"{name} is not supported: it aligns the payload of TLPs to 64 bits; use a PHY that does not")
    for phy_class, instead in WRAPPED.items():
        if isinstance(phy, phy_class) and not hasattr(phy, "bus_master_enable"):
            raise ValueError(f"{name} is not supported: it lacks crossing and ordering; use {instead}")
