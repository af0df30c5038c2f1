#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Clocks of ECP5 boards."""


def constrain_pll(platform, pll):
    """Adds a constraint for each output of a PLL of LiteX to a platform, and returns {net: Hz}.

    nextpnr derives such constraints too, but it gives no error if it does not. It calls the nets by the signals at the
    outputs, so they need names that are known.
    """
    clocks = {}
    for number, (signal, hz, *_) in pll.clkouts.items():
        signal.name_override = name = f"pll_clkout{number}"
        platform.add_platform_command(f'FREQUENCY NET "{name}" {hz / 1e6} MHz;')
        clocks[name] = hz
    return clocks
