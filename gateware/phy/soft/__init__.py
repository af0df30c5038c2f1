#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Parts of a PCI Express Gen1 x1 endpoint in gateware. They know symbols, not the SerDes that carries them.

What more lanes and rates take; none of it is built:

- x2 at 2.5 GT/s: in `ecp5/` both channels of a DCU below one PLL; here an elastic buffer and a scrambler per lane,
  deskew of 20 ns, lane numbers and fall-back to x1 in the LTSSM, four symbols per cycle in framing, LCRC and replay,
  and the limits of x2 for ACK and replay. Tests: two lanes with every skew, inverted, swapped and absent ones.
- 5 GT/s, after x2, with four symbols per cycle at 125 MHz: a rate input of the SerDes and a doubled reference clock
  outside of the part; Recovery.Speed, EIEOS, de-emphasis; Link Capabilities, Status and Control 2. Tests: a root port
  that changes the rate at random moments under traffic, and every time-out of Recovery.
- GateMate: `gatemate/` with a wrapper of `CC_SERDES` that ends at `SerDesInterface`, and a model of it in the tests.
"""
