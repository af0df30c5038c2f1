#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The PHY of a hard block in any LiteX SoC, with its pads, identity and constraints, in one call."""

from litepcie_soc.board import series7, ultrascale
from litepcie_soc.board.board import Configuration
from litepcie_soc.board.constraints import add_link_constraints, check_lane_pins, link_pads
from litepcie_soc.board.identity import identify

# PHYs by family, and the user clocks of each: (gen, lanes, bits) to MHz.
PHYS = {
    "artix7":          series7.series7_phy,
    "kintex7":         series7.series7_phy,
    "ultrascale":      ultrascale.ultrascale_phy,
    "ultrascale_plus": ultrascale.ultrascale_plus_phy,
}
USER_CLOCKS = {
    "artix7":          series7.USER_CLOCKS,
    "kintex7":         series7.USER_CLOCKS,
    "ultrascale":      ultrascale.USER_CLOCKS,
    "ultrascale_plus": ultrascale.PCIE4C_USER_CLOCKS,
}


def add_phy(soc, family, *, gen, lanes, data_width, domains=(), sites=()):
    """Adds the PHY of the FPGA's hard block to any LiteX SoC, as ``soc.pcie_phy``, and returns it for ``add_litepcie``.

    It takes the pads ``pcie_xN`` of the platform, or the first lanes of a wider link there.

    Parameters
    ----------
    soc        : SoC whose ``crg`` has the clock domain ``sys``.
    family     : "artix7", "kintex7", "ultrascale" or "ultrascale_plus".
    gen, lanes : the link.
    data_width : bits of the data path; with the frequency of ``sys`` it sets the rate.
    domains    : other clock domains of the SoC that have no phase relation to ``sys``, such as those of streams.
    sites      : 7-series: transceiver of each lane, lane 0 first, such as "X0Y7". Without them, the constraints of
        Vivado's IP place lane 0 at the highest transceiver, whatever pins the lanes have.

    Vivado stops after placement if a lane is not at the pins of the platform. Raises ``ValueError`` if an argument is
    not supported.
    """
    if family not in PHYS:
        raise ValueError(f"family {family!r} is not supported; choose {', '.join(PHYS)}")
    known = USER_CLOCKS[family]
    if (gen, lanes, data_width) not in known and (gen, lanes, data_width // 2) not in known:
        raise ValueError(f"Gen{gen} x{lanes} with {data_width} bits is not supported by {family}; choose "
            + ", ".join(f"Gen{one[0]} x{one[1]} with {one[2]}" for one in known))
    pads         = link_pads(soc.platform, lanes)
    soc.pcie_phy = phy = PHYS[family](soc.platform, pads, Configuration(gen, lanes, data_width, soc.sys_clk_freq, 32))
    identify(phy, family)
    add_link_constraints(soc.platform, pads, [soc.crg.cd_sys, *domains], phy)
    if sites:
        series7.place_lanes(soc.platform, sites[:lanes])
    check_lane_pins(soc.platform, pads)
    return phy
