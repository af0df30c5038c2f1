#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

import pytest

from litepcie_soc.common.link_rates import link_rate
from litepcie_soc.soc.outstanding import longest_read, share_tags


@pytest.mark.parametrize("channels, tags, shares", [
    (1, 32, (30, 4)), (2, 32, (27, 2)), (6, 32, (15, 2)), (7, 32, (12, 1)),
    (1, 64, (62, 6)), (2, 64, (59, 4)), (4, 64, (53, 2)), (7, 128, (108, 2)), (7, 256, (236, 4)), (1, 256, (254, 6)),
])
def test_share_tags(channels, tags, shares):
    assert share_tags(channels, tags) == shares


def test_fast_paths_fetch_more_descriptors():
    assert share_tags(1, 64, 256) == (62, 12)
    assert share_tags(1, 32, 512) == share_tags(1, 32)


@pytest.mark.parametrize("channels, tags, message", [
    (0, 32, "channels must be 1..7, not 0"),
    (8, 32, "channels must be 1..7, not 8"),
    (1, 48, "tags must be one of .32, 64, 128, 256., not 48"),
])
def test_channels_that_cannot_be(channels, tags, message):
    with pytest.raises(ValueError, match=message):
        share_tags(channels, tags)


@pytest.mark.parametrize("blocks, link, longest", [
    (72, (2, 8), 256), (72, (2, 4), 4096), (72, (1, 8), 4096), (170, (3, 8), 4096), (256, (3, 16), 1024),
    (20, (2, 4), 128),
])
def test_requests_are_short_where_the_completion_buffer_limits_reads(blocks, link, longest):
    """A buffer smaller than what the link carries in a round trip holds at least 16 requests, if that is possible."""
    assert longest_read(blocks, link_rate(*link)) == longest
