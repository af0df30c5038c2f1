#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Pads of a link, also for a number of lanes that the platform does not name."""

from litex.build.generic_platform import Pins, Subsignal

LANES = ("rx_p", "rx_n", "tx_p", "tx_n")


def resource_of(platform, name):
    """Returns the entry with that name in the pin table of a platform, or None."""
    return next((entry for entry in platform.constraint_manager.available if entry[0] == name), None)


def narrowed(entry, name, lanes):
    """Returns the entry under another name with its first ``lanes`` lanes only."""
    def narrow(subsignal):
        if subsignal.name not in LANES:
            return subsignal
        pins, *others = subsignal.constraints
        return Subsignal(subsignal.name, Pins(" ".join(pins.identifiers[:lanes])), *others)
    return (name, entry[1], *[narrow(what) if isinstance(what, Subsignal) else what for what in entry[2:]])


def add_link_pads(platform, lanes):
    """Makes sure that the platform has ``pcie_xN``, of the narrowest wider link if need be; returns this name."""
    name = f"pcie_x{lanes}"
    if resource_of(platform, name) is None:
        wider = (resource_of(platform, f"pcie_x{n}") for n in (2, 4, 8, 16) if n > lanes)
        entry = next(entry for entry in wider if entry is not None)
        platform.add_extension([narrowed(entry, name, lanes)])
    return name


def link_pads(platform, lanes):
    """Requests ``pcie_xN``, or the first N lanes of the narrowest wider link in the platform."""
    return platform.request(add_link_pads(platform, lanes))
