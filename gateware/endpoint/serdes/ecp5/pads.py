#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Package pins of the SerDes blocks, and a check of a platform against them.

nextpnr-ecp5 does not know these pins. It places a block by its attribute ``LOC`` and ignores the pins of the platform,
so it accepts wrong ones silently.
"""

# Pins ---------------------------------------------------------------------------------------------

# By package: {block: (positive, negative)} of the reference clocks, {(block, channel): pins} of the lanes. BG381 is as
# in the pin tables of several boards. BG756 is as in the schematic of TrellisBoard; its symbol of the BG381 agrees with
# these tables.
REFCLK = {
    "BG381": {0: ("Y11",  "Y12"),  1: ("Y19",  "W20")},
    "BG756": {0: ("AM14", "AM15"), 1: ("AM23", "AM24")},
}
LANES  = {
    "BG381": {
        (0, 0): {"rx_p": "Y5",   "rx_n": "Y6",   "tx_p": "W4",   "tx_n": "W5"},
        (0, 1): {"rx_p": "Y7",   "rx_n": "Y8",   "tx_p": "W8",   "tx_n": "W9"},
        (1, 0): {"rx_p": "Y14",  "rx_n": "Y15",  "tx_p": "W13",  "tx_n": "W14"},
        (1, 1): {"rx_p": "Y16",  "rx_n": "Y17",  "tx_p": "W17",  "tx_n": "W18"},
    },
    "BG756": {
        (0, 0): {"rx_p": "AM8",  "rx_n": "AM9",  "tx_p": "AK9",  "tx_n": "AK10"},
        (0, 1): {"rx_p": "AM11", "rx_n": "AM12", "tx_p": "AK12", "tx_n": "AK13"},
        (1, 0): {"rx_p": "AM17", "rx_n": "AM18", "tx_p": "AK18", "tx_n": "AK19"},
        (1, 1): {"rx_p": "AM20", "rx_n": "AM21", "tx_p": "AK21", "tx_n": "AK22"},
    },
}

# Numbers of DCUs by density; LFE5U has none.
DCUS = {"25F": 1, "45F": 2, "85F": 2}

# Blocks, by density, from whose reference clock buffer nextpnr-ecp5 finds a route to the fabric.
ROUTED = {("45F", 0)}

# Device -------------------------------------------------------------------------------------------


def package_of(device):
    """Returns the package of a device: BG381."""
    return device.split("-")[2][1:6]


def check_device(device, dcu=0):
    """Raises ``ValueError`` with one line if a device has no such SerDes block, or does not exist.

    device : name as in LiteX's platforms, such as ``LFE5UM5G-45F-8BG381C``.
    dcu    : number of the block.
    """
    family, density, grade = device.split("-")
    if family not in ("LFE5UM", "LFE5UM5G"):
        raise ValueError(f"{device} has no SerDes; choose an LFE5UM or LFE5UM5G")
    if family == "LFE5UM5G" and grade[0] != "8":
        raise ValueError(f"{device} does not exist: LFE5UM5G has speed grade 8 only")
    if package_of(device) not in LANES:
        raise ValueError(f"the pins of the SerDes in the package of {device} are not known; choose "
            f"{' or '.join(LANES)}")
    if dcu not in range(DCUS[density]):
        raise ValueError(f"{device} has no DCU{dcu}; choose DCU0")



def reaches_fabric(device, dcu=0):
    """Returns whether logic can use the reference clock of a SerDes block."""
    return (device.split("-")[1], dcu) in ROUTED

# Pads ---------------------------------------------------------------------------------------------


def pins_of(platform, name, number=0):
    """Returns {pad: package pin} of an entry in the pin table of a platform."""
    entry = next((entry for entry in platform.constraint_manager.available if entry[:2] == (name, number)), None)
    if entry is None:
        raise ValueError(f"the platform has no {name}")
    return {what.name: what.constraints[0].identifiers[0] for what in entry[2:] if hasattr(what, "constraints")}


def check_pads(platform, name="pcie_x1", dcu=0, channel=0):
    """Raises ``ValueError`` with one line if pads of a platform are not the pins of the SerDes channel.

    platform     : LiteX platform; the pads must not be requested yet.
    name         : name of the pads: ``clk_p``, ``clk_n``, ``rx_p``, ``rx_n``, ``tx_p``, ``tx_n``.
    dcu, channel : SerDes channel that the design uses.
    """
    check_device(platform.device, dcu)
    package      = package_of(platform.device)
    clk_p, clk_n = REFCLK[package][dcu]
    expected     = {"clk_p": clk_p, "clk_n": clk_n, **LANES[package][dcu, channel]}
    found        = pins_of(platform, name)
    wrong        = [f"{pad} is {found.get(pad, 'missing')} instead of {pin}" for pad, pin in expected.items()
        if found.get(pad) != pin]
    if wrong:
        raise ValueError(f"pads {name} are not those of DCU{dcu} channel {channel}: {', '.join(wrong)}")
