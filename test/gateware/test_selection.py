#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Which combinations of parameters `make test` runs."""

import pytest


@pytest.mark.one_at_a_time(width=128)
@pytest.mark.parametrize("width, lanes", [(64, 1), (128, 2), (256, 4)])
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("stall", [0, 1])
def test_at_most_one_parameter_differs(request, width, lanes, size, stall):
    """The others are marked full. `lanes` belongs to `width`."""
    unusual = [width != 128, size != 1, stall != 0]
    assert (request.node.get_closest_marker("full") is not None) == (sum(unusual) > 1)
