# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""What a SerDes may do wrong, from its model over the gateware and its counters to what the tool says."""

import pytest

from litepcie_soc.endpoint.lane_view.layout import COUNTERS
from test.gateware.endpoint.serdes.ecp5.card import slot
from test.gateware.endpoint.serdes.ecp5.misbehaviours import CASES
from test.software.user.test_json import check
from test.software.user.test_link import board, link  # noqa: F401


@pytest.mark.full
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_link_comes_up_or_the_tool_says_why(case, board, link):  # noqa: F811
    """Each status is of every symbol, and none of them is an error of the link."""
    seen, words = slot(**case.options).run(*case.flags, **case.values)
    one  = board(**{name: seen[name] for name in ("locks", "refclk_cycles")}, refclk_hz=100_000_000, refclk_window=256)
    # Without a clock of the link, no snapshot is taken.
    one.registers["busy"] = 1 - seen["sampled"]
    one.words = words
    said = check("link", link("--serial", one.name, "--json")[1])
    assert (said.get("state") == "L0" and said["flow_control_initialized"]) == case.up, said
    assert "advice" not in said if case.up else case.advice in said["advice"], said
    for key, value in case.shows.items():
        assert said["counters"][key] > 100 if key in COUNTERS else said[key] == value, (key, said)
    assert not case.up or not any(said["counters"][name] for name in
        ("symbol_errors", "set_errors", "framing_errors", "dllp_errors", "overflows", "recoveries")), said
