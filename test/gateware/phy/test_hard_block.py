#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Supported PHYs, and the completion buffers of their hard blocks."""

import pytest

from litepcie.phy.c5pciephy import C5PCIEPHY
from litepcie.phy.s7pciephy import S7PCIEPHY
from litepcie.phy.uspciephy import USPCIEPHY
from litepcie.phy.usppciephy import USPHBMPCIEPHY, USPPCIEPHY

from litepcie_soc.phy.hard_block import completion_buffer_bytes
from litepcie_soc.phy.shapes import PHYShape
from litepcie_soc.phy.sim import SimPHY
from litepcie_soc.tlp.issue import BLOCK_BYTES

from test.gateware.phy.bench import Platform, pads


def make(phy_class, lanes, data_width):
    bar0 = {} if phy_class is C5PCIEPHY else {"bar0_size": 0x200000}
    return phy_class(Platform(), pads(lanes), data_width=data_width, **bar0)

# Unsupported PHYs ---------------------------------------------------------------------------------

@pytest.mark.parametrize("phy, message", [
    (lambda: make(C5PCIEPHY, 4, 64), "C5PCIEPHY is not supported: it aligns the payload of TLPs to 64 bits"),
    (lambda: make(S7PCIEPHY, 4, 64), "S7PCIEPHY is not supported: it lacks crossing and ordering; use Series7PHY of "),
    (lambda: make(USPCIEPHY, 8, 256), "USPCIEPHY is not supported: .* use UltraScalePHY of litepcie_soc"),
    (lambda: make(USPPCIEPHY, 16, 512), "USPPCIEPHY is not supported: .* use UltraScalePlusPHY of litepcie_soc"),
])
def test_unsupported_phys(phy, message):
    with pytest.raises(ValueError, match=message):
        PHYShape(phy())

# Completion Buffers -------------------------------------------------------------------------------

@pytest.mark.parametrize("phy_class, lanes, data_width, headers, data", [
    (S7PCIEPHY,  4, 128, 72, 13600), (S7PCIEPHY, 8, 128, 72, 5920),
    (USPCIEPHY,  8, 256, 64, 15872), (USPPCIEPHY, 8, 256, 128, 32768), (USPHBMPCIEPHY, 8, 256, 128, 32768),
])
def test_completion_buffers(phy_class, lanes, data_width, headers, data):
    """The most completions of 64 bytes that can be outstanding fit in the space for headers and in that for data."""
    blocks = completion_buffer_bytes(make(phy_class, lanes, data_width))//BLOCK_BYTES
    assert blocks == headers and 64*blocks <= data


def test_completion_buffer_of_an_unknown_phy():
    assert completion_buffer_bytes(SimPHY(64)) == 32768
    with pytest.raises(ValueError, match="completion buffer of object is not known; pass completion_buffer_bytes"):
        completion_buffer_bytes(object())
