#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""How many tags, and how much of the completion buffer, the reads of a channel can have."""

from litepcie_soc.common import abi
from litepcie_soc.common.pcie import RCB_BYTES, TAGS_WITHOUT_EXTENDED
from litepcie_soc.dma.descriptor import PAIR_BITS, SIZE_MAX
from litepcie_soc.dma.engine import DIRECTIONS

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
