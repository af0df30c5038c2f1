#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The header of the lane's state: the committed one is that of the gateware, and a stale one is found."""

from litepcie_soc.build import lane
from litepcie_soc.phy.soft.lane_header import COMMITTED
from litepcie_soc.phy.soft.lane_layout import COUNTERS, COUNTERS_AT, LOG_AT, LOG_ENTRIES, STATE, STATE_AT, WORDS


def test_check_finds_a_stale_header(tmp_path, capsys):
    assert lane.main(["--check"]) == 0
    stale = tmp_path / "litepcie_lane.h"
    stale.write_text(COMMITTED.read_text().replace("0xf800", "0xf000"))
    assert lane.main(["--check", "--file", str(stale)]) == 1
    assert "+#define LITEPCIE_LANE_SNAPSHOT\t\t\t0xf800" in capsys.readouterr().out
    assert lane.main(["--write", "--file", str(stale)]) == 0
    assert stale.read_text() == COMMITTED.read_text()


def test_the_parts_of_the_snapshot_are_apart():
    assert COUNTERS_AT + len(COUNTERS) <= STATE_AT and STATE_AT + len(STATE) <= LOG_AT
    assert LOG_AT + 2*LOG_ENTRIES == WORDS
