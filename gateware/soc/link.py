#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What the card takes from its PHY, and the check that the PHY can do what is asked of the card."""

from dataclasses import dataclass

from litepcie_soc.common import abi
from litepcie_soc.common.abi import BAR0_SIZE
from litepcie_soc.common.link_rates import LANE_RATES
from litepcie_soc.common.pcie import RCB_BYTES, TAGS_WITHOUT_EXTENDED
from litepcie_soc.dma.descriptor import PAIR_BITS, SIZE_MAX
from litepcie_soc.dma.engine import DIRECTIONS
from litepcie_soc.phy.hard_block import blocks_of_bytes, completion_blocks, completion_space

# Outstanding Reads --------------------------------------------------------------------------------
# How many tags, and how much of the completion buffer, the reads of a channel can have.

MRRS_MIN = 128  # Bytes (PCIe 4.0 7.5.3.4).

TAGS = (32, 64, 128, 256)  # Tags of all channels. More than 32 need Extended Tags, which the host enables.

# A round trip to a host that answers after 1 us, with the card's own time and that of the request on the link.
ROUND_TRIP_S       = 1.3e-6
REQUESTS_IN_BUFFER = 16  # Requests that fit in a completion buffer which limits reads.


def share_tags(channels, tags=32, data_width=128, more=0, engines=None):
    """Returns the most tags that a reader and that a descriptor fetch can have in use.

    All channels share the tags. Each reader and each descriptor fetch has one reserved; a reader can have all others.
    With many tags for each channel, a channel has four or six descriptor fetches outstanding, with fewer tags two, and
    else one. A path that takes a descriptor per cycle has twelve instead of six: 32 descriptors each cover a round trip
    of 330 cycles. ``more`` ports have one tag each. ``engines`` are the numbers of readers and of writers, if a channel
    lacks one. Raises ``ValueError`` if an argument is not supported.
    """
    if not 1 <= channels <= abi.MAX_CHANNELS:
        raise ValueError(f"channels must be 1..{abi.MAX_CHANNELS}, not {channels!r}")
    if tags not in TAGS:
        raise ValueError(f"tags must be one of {TAGS}, not {tags!r}")
    share = tags // channels
    many  = 12 if data_width >= PAIR_BITS else 6
    fetch = (many if share >= 2 * TAGS_WITHOUT_EXTENDED else 4 if share >= TAGS_WITHOUT_EXTENDED else
        2 if share > 2 * len(DIRECTIONS) else 1)
    readers, writers = engines or (channels, channels)
    ports = 2*readers + writers + more  # A reader has one for data, and both have one for descriptors.
    return tags - (ports - 1), fetch


def longest_read(blocks, link_bytes_per_second):
    """Returns the most bytes of a request for data of a PHY whose completion buffer holds ``blocks`` of 64 bytes.

    A request waits until all its blocks are free, so long ones leave a part of the buffer unused. That matters where
    the buffer is smaller than what the link carries during a round trip. There, requests are at most a sixteenth of it.
    """
    if blocks * RCB_BYTES >= link_bytes_per_second * ROUND_TRIP_S:
        return SIZE_MAX
    share = blocks * RCB_BYTES // REQUESTS_IN_BUFFER
    return min(max(MRRS_MIN, 1 << share.bit_length() - 1), SIZE_MAX)

# Link ---------------------------------------------------------------------------------------------

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
