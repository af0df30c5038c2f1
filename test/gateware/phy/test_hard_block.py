#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Which PHYs can be used, and what their hard blocks keep."""

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

# What cannot be -----------------------------------------------------------------------------------

@pytest.mark.parametrize("phy, message", [
    (lambda: make(C5PCIEPHY, 4, 64), "C5PCIEPHY aligns payload to 64 bits: not supported"),
    (lambda: make(S7PCIEPHY, 4, 64), "S7PCIEPHY lacks what is around the hard block: take Series7PHY of litepcie_soc"),
    (lambda: make(USPCIEPHY, 8, 256), "USPCIEPHY lacks .* take UltraScalePHY of litepcie_soc"),
    (lambda: make(USPPCIEPHY, 16, 512), "USPPCIEPHY lacks .* take UltraScalePlusPHY of litepcie_soc"),
])
def test_phys_that_cannot_be_used(phy, message):
    with pytest.raises(ValueError, match=message):
        PHYShape(phy())

# Completion Buffers -------------------------------------------------------------------------------

@pytest.mark.parametrize("phy_class, lanes, data_width, headers, data", [
    (S7PCIEPHY,  4, 128, 72, 13600), (S7PCIEPHY, 8, 128, 72, 5920),
    (USPCIEPHY,  8, 256, 64, 15872), (USPPCIEPHY, 8, 256, 128, 32768), (USPHBMPCIEPHY, 8, 256, 128, 32768),
])
def test_completion_buffers(phy_class, lanes, data_width, headers, data):
    """As many completions of 64 bytes as are outstanding at most fit in headers and in data."""
    blocks = completion_buffer_bytes(make(phy_class, lanes, data_width))//BLOCK_BYTES
    assert blocks == headers and 64*blocks <= data


def test_completion_buffer_of_a_phy_that_is_not_known():
    assert completion_buffer_bytes(SimPHY(64)) == 32768
    with pytest.raises(ValueError, match="completion_buffer_bytes of object is not known: give it"):
        completion_buffer_bytes(object())
