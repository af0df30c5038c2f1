#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Checks of an ECP5 bitstream that the tools do not make: clocks without a constraint, words of the SerDes."""

import re

from litepcie_soc.build.tools import ToolError

# Clocks -------------------------------------------------------------------------------------------


def reached(report, asked):
    """Returns {clock: Hz reached} of nextpnr's report. Raises ``ToolError`` unless each clock is asked and reached.

    nextpnr checks a clock without constraint at 12 MHz and says PASS, and it ignores a constraint of an unknown net.

    Parameters
    ----------
    report : text of nextpnr's ``--report``, as decoded JSON.
    asked  : {clock: Hz} of every clock of the design.
    """
    found  = {net.removeprefix("$glbnet$"): clock for net, clock in report["fmax"].items()}
    faults = [f"clock {name} of the design has no constraint" for name in found if name not in asked]
    for name, hz in asked.items():
        clock = found.get(name)
        if clock is None:
            faults.append(f"clock {name} is not in the design")
        elif clock["constraint"] < hz / 1e6 * (1 - 1e-4):
            faults.append(f"clock {name} is constrained to {clock['constraint']:g} MHz instead of {hz / 1e6:g} MHz")
        elif clock["achieved"] * 1e6 < hz:
            faults.append(f"clock {name} reaches {clock['achieved']:.1f} MHz of {hz / 1e6:g} MHz")
    if faults:
        raise ToolError(f"timing is not met: {'; '.join(faults)}")
    return {name: found[name]["achieved"] * 1e6 for name in asked}

# Words of the SerDes ------------------------------------------------------------------------------

# First column of tiles of each block by density (nextpnr's location of DCUA), and the number of columns.
COLUMNS = {("45F", 0): 42, ("45F", 1): 69, ("85F", 0): 46, ("85F", 1): 71}
WIDTH   = 9


def packed_words(config, density, dcu):
    """Returns {word: value} of a SerDes block in the text of ecpunpack. Words that are 0 are not in it.

    A word that lies in two tiles is listed once for each. The bits of the other tile are 1 there.
    """
    first, found = COLUMNS[density, dcu], {}
    for tile in config.split("\n\n"):
        place = re.match(r"\.tile \w+_R\d+C(\d+):DCU\w*\n", tile)
        if place and first <= int(place[1]) < first + WIDTH:
            for name, bits in re.findall(r"^word: DCU\.(\w+) ([01]+)$", tile, flags=re.MULTILINE):
                found[name] = found.get(name, -1) & int(bits, 2)
    return found


def check_words(packed, asked):
    """Raises ``ToolError`` with one line if words in a bitstream are not the words that were asked, without zeros."""
    wrong = [f"{name} is {packed.get(name, 0):#x} instead of {asked.get(name, 0):#x}"
        for name in sorted({*packed, *asked}) if packed.get(name, 0) != asked.get(name, 0)]
    if wrong:
        raise ToolError(f"the bitstream has other words of the SerDes than asked: {', '.join(wrong)}")
