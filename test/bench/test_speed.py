#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Speed of the simulator, as the benchmark prints it."""

import pytest

from litepcie_bench import boards, speed


@pytest.mark.full
def test_speed_of_the_default_board(board):
    found = speed.measure()
    assert 1e4 < found.cycles < 1e9
    assert "M cycles per second of one core" in str(found) and found.machine in str(found)


def test_no_board_has_no_speed(monkeypatch, tmp_path):
    monkeypatch.setattr(boards, "host_program", lambda board: tmp_path / "missing")
    assert speed.measure() is None


def test_name_of_the_machine(tmp_path):
    info = tmp_path / "cpuinfo"
    info.write_text("processor : 0\nmodel name\t: Some Processor @ 2 GHz\nmodel name\t: Some Processor @ 2 GHz\n")
    assert speed.machine(info).startswith("Some Processor @ 2 GHz x ")
    assert " x " in speed.machine(tmp_path / "missing")
