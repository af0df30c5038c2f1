#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Rates of a PCI Express link and of the data path of the card."""

import sys

# Transfers per second and encoding by generation (PCIe 4.0 4.2: 8b/10b below 8 GT/s, then 128b/130b).
LANE_RATES = {1: (2.5e9, 8 / 10), 2: (5e9, 8 / 10), 3: (8e9, 128 / 130), 4: (16e9, 128 / 130)}

CLOCKS = (125e6, 250e6)

# Largest relative difference of a clock from its nominal frequency, about that of a crystal.
CLOCK_MARGIN = 100e-6


def link_rate(gen, lanes):
    """Returns bytes per second of one direction of the link, including framing and headers."""
    transfers, encoding = LANE_RATES[gen]
    return transfers * encoding * lanes / 8


def data_path_rate(data_width, clk_freq):
    """Returns bytes per second of the data path; ``data_width`` in bits, ``clk_freq`` in Hz."""
    return data_width // 8 * clk_freq


def say_if_slow(program, rate, link, what="data path"):
    """Prints a warning on standard error if ``rate`` is less than ``link``, both in bytes per second."""
    if rate < link:
        print(f"{program}: the {what} ({rate / 1e6:.0f} MB/s) is slower than the link ({link / 1e6:.0f} MB/s) and "
            "limits it", file=sys.stderr)


def default_clock(gen, lanes, data_width):
    """Returns the slowest of ``CLOCKS`` in Hz at which the data path keeps up, or the fastest if none does."""
    for clock in CLOCKS:
        if data_path_rate(data_width, clock) >= link_rate(gen, lanes):
            return clock
    return CLOCKS[-1]
