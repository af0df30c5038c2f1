#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What the card takes from its PHY, and the check that the PHY can do what is asked of the card."""

from dataclasses import dataclass

from litepcie_soc.common.abi import BAR0_SIZE
from litepcie_soc.common.link_rates import LANE_RATES
from litepcie_soc.phy.hard_block import blocks_of_bytes, completion_blocks, completion_space
from litepcie_soc.soc.outstanding import TAGS

LANES = (1, 2, 4, 8, 16)

# PCI identity in simulation. Boards have their own (gateware/board/identity.py).
PCI_ID = {
    "vendor_id":           0x1234,
    "device_id":           0x1ce0,
    "subsystem_vendor_id": 0x1234,
    "subsystem_device_id": 0x1ce0,
    "class_code":          0x058000,
}


@dataclass(frozen=True)
class Link:
    """The link of a card: generation, lanes, and identity with the keys of PCI_ID."""
    gen:    int
    lanes:  int
    pci_id: dict


def known(phy, name, attribute, given, allowed):
    """Returns `given` or what the PHY knows. Raises ValueError if both are missing, contradict, or are not allowed."""
    kind  = type(phy).__name__
    value = getattr(phy, attribute, None)
    if value is None and given is None:
        raise ValueError(f"{name} is missing: {kind} does not know it; choose one of {allowed}")
    if None not in (value, given) and value != given:
        raise ValueError(f"{name} {given!r} contradicts {kind}, which is built for {value}; leave {name} out")
    value = given if value is None else value
    if value not in allowed:
        raise ValueError(f"{name} {value!r} is not supported; choose one of {allowed}")
    return value


def identity_of(phy, given):
    """Returns the identity in configuration space. Raises ValueError if it is unknown, or is not that of the PHY."""
    kind  = type(phy).__name__
    value = getattr(phy, "identity", PCI_ID if given is None else given)
    if value is None and given is None:
        raise ValueError(f"{kind} has the identity of LitePCIe's, to which the driver does not bind; call "
            "identify(phy, family) of litepcie_soc.board.identity first, or set another one and give it as pci_id")
    if None not in (value, given) and value != given:
        raise ValueError(f"pci_id contradicts the identity that {kind} has; leave pci_id out")
    return given or value


def check_tags_of(phy, tags):
    """Raises ValueError for more tags than the PHY can have outstanding."""
    most = getattr(phy, "max_tags", None)
    if most is not None and tags > most:
        raise ValueError(f"tags {tags} is not supported by {type(phy).__name__}, which has at most {most} requests "
            f"outstanding; choose one of {tuple(n for n in TAGS if n <= most)}")


def check_room(phy, size):
    """Raises ValueError if a completion buffer of `size` bytes is more than that of the PHY, where it is known."""
    if completion_space(phy) is None:
        return
    most = completion_blocks(phy)
    if any(wanted > have for wanted, have in zip(blocks_of_bytes(size), most)):
        raise ValueError(f"completion_buffer_bytes {size} is more than {type(phy).__name__} holds, {most[0]} "
            f"completions of 64 bytes and {most[1]} of 128; leave it out")


def link_of(phy, gen=None, lanes=None, tags=32, pci_id=None, completion_buffer_bytes=None):
    """Returns the `Link` of a card with this PHY; the parameters are those of `LitePCIe`.

    A PHY says what it knows by these attributes: `gen`, `nlanes`, `max_tags`, `bar0_size`, and `identity` with the keys
    of PCI_ID, or None if it has not been set. Raises ValueError for what the PHY cannot do, and for arguments that
    contradict it or that it does not know.
    """
    link = Link(
        gen    = known(phy, "gen",   "gen",    gen,   tuple(LANE_RATES)),
        lanes  = known(phy, "lanes", "nlanes", lanes, LANES),
        pci_id = identity_of(phy, pci_id),
    )
    size = getattr(phy, "bar0_size", BAR0_SIZE)
    if size != BAR0_SIZE:
        raise ValueError(f"BAR0 of 0x{size:x} bytes is not supported; give {type(phy).__name__} "
            f"bar0_size=0x{BAR0_SIZE:x}")
    check_tags_of(phy, tags)
    if completion_buffer_bytes is not None:
        check_room(phy, completion_buffer_bytes)
    return link
