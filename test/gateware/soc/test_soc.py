#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

import pytest

from litepcie_soc.soc.soc import reader_tags

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("channels, extended, tags", [
    (1, False, 28), (2, False, 12), (6, False, 1), (1, True, 252),
])
def test_reader_tags(channels, extended, tags):
    assert reader_tags(channels, extended) == tags


@pytest.mark.parametrize("channels, extended, message", [
    (0, False, "channels must be 1..7, not 0"),
    (8, False, "channels must be 1..7, not 8"),
    (7, False, "7 channels leave no tag for a reader: there are 32"),
    (2, True,  "with_extended_tag needs channels to be 1, not 2"),
])
def test_channels_that_cannot_be(channels, extended, message):
    with pytest.raises(ValueError, match=message):
        reader_tags(channels, extended)
