#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The open endpoint: PCI Express Gen1 x1 in gateware, from the symbols of a SerDes to a PHY like that of a hard block.

This file is its door: nothing outside imports the files below (`make check`). README.md has a picture.

What more lanes and rates take; none of it is built:

- x2 at 2.5 GT/s: in `serdes/ecp5/` both channels of a DCU below one PLL; here an elastic buffer and a scrambler per
  lane, deskew of 20 ns, lane numbers and fall-back to x1 in the LTSSM, four symbols per cycle in framing, LCRC and
  replay, and the limits of x2 for ACK and replay. Tests: two lanes with every skew, inverted, swapped and absent ones.
- 5 GT/s, after x2, with four symbols per cycle at 125 MHz: a rate input of the SerDes and a doubled reference clock
  outside of the part; Recovery.Speed, EIEOS, de-emphasis; Link Capabilities, Status and Control 2. Tests: a root port
  that changes the rate at random moments under traffic, and every time-out of Recovery.
- GateMate: `serdes/gatemate/` with a wrapper of `CC_SERDES` that ends at `SerDesInterface`, and a model of it in the
  tests.
"""

from litepcie_soc.endpoint.lane_view.bringup import add_bringup
from litepcie_soc.endpoint.lane_view.header import COMMITTED as LANE_HEADER, header as lane_header
from litepcie_soc.endpoint.lane_view.state import add_lane_state
from litepcie_soc.endpoint.phy import SoftPHY
from litepcie_soc.endpoint.physical.states import STATE_BITS
from litepcie_soc.endpoint.serdes.ecp5.pads import check_device
from litepcie_soc.endpoint.serdes.ecp5.serdes import ECP5SerDes
from litepcie_soc.endpoint.serdes.ecp5.words import ANALOGUE, MODES, RATE_MODES, check_words, in_bitstream
from litepcie_soc.endpoint.serdes.interface import SerDesInterface, SimSerDes, soft_sim_io

__all__ = (
    # The PHY boundary, and the SerDes' face.
    "SoftPHY", "SerDesInterface", "SimSerDes", "soft_sim_io",
    # The SerDes of ECP5.
    "ECP5SerDes", "ANALOGUE", "MODES", "RATE_MODES", "check_device", "check_words", "in_bitstream",
    # What a board shows of the lane.
    "STATE_BITS", "add_lane_state", "add_bringup", "LANE_HEADER", "lane_header",
)
