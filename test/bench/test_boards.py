#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Rows of real boards: their parameters, their points, their judgement."""

from dataclasses import replace

import pytest

from litepcie_bench import board_rows, boards, goals, records, runner
from litepcie_bench.board_sweeps import boards as board_sweep
from litepcie_bench.board_sweeps import links
from litepcie_bench.hardware import defaults, everything
from litepcie_bench.runner import Result
from litepcie_soc.build.targets import NAMES
from litepcie_soc.common.link_rates import link_rate
from litepcie_soc.phy.completion_buffer import keeps_up

RUN = {"active_cycles": 1000, "model_cycles": 1004, "wait_descriptor": 10, "wait_tag": 200, "wait_link": 5,
    "wait_data": 0}


def of(name, lanes):
    found, = (one for one in defaults([name]) if one.lanes == lanes)
    return found


def measured(point, read, write=1.0):
    """A result with these shares of the bound."""
    data = {"clock_hz": point.clock_hz, "completion_bytes": 256, "theory_bytes_per_second": 1e9, "tags": 60,
        "runs": [{"read": RUN, "write": RUN}]}
    for direction, share in (("read", read), ("write", write)):
        data[direction] = {"average_bytes_per_second": share*1e9, "bound_bytes_per_second": 1e9}
    return Result(point, data)

# Hardware -----------------------------------------------------------------------------------------


def test_parameters_of_boards():
    kcu105, u200, kc705 = of("xilinx_kcu105", 8), of("xilinx_alveo_u200", 16), of("xilinx_kc705", 8)
    assert (kcu105.width, kcu105.clock_hz, kcu105.tags, kcu105.space) == (512, 166666667, 64, (64, 15360))
    assert (kcu105.block_width, kcu105.block_clock_hz, kcu105.fabric) == (256, 250000000, 256)
    assert (u200.width, u200.clock_hz, u200.tags, u200.space, u200.fabric) == (512, 250000000, 256, (128, 28672), 512)
    assert (kc705.width, kc705.clock_hz, kc705.block_width, kc705.fabric) == (256, 150000000, 128, 0)
    assert kc705.space == (72, 5920) and of("xilinx_kc705", 4).space == (72, 13600)
    assert 60 < kcu105.crossing_ns < 100


def test_every_board_has_rows():
    """Boards that are the same to the benchmark share a row."""
    found = defaults()
    assert {name for one in found for name in one.names} == set(NAMES)
    assert of("xilinx_kc705", 4) in [replace(one, names=("xilinx_kc705",)) for one in found]
    assert len(found) < len(NAMES) and len(everything()) > len(found)


def test_interfaces_of_all_boards_keep_up():
    """On every board with a completion buffer in the fabric, the hard block never holds completions back."""
    with_fabric = [one for one in everything() + defaults() if one.fabric]
    assert len(with_fabric) > 4
    for one in with_fabric:
        assert keeps_up(link_rate(*one.link), one.block_width, one.block_clock_hz, one.fabric >= 256), one

# Points -------------------------------------------------------------------------------------------


def test_points_run_with_the_parameters_of_the_board():
    point = board_sweep(True, ["xilinx_kcu105"])[0]
    line  = " ".join(map(str, boards.command(point.board)))
    assert "--completion-space 64,15360 --fabric-width 256" in line and "--phy split --endianness little" in line
    words = runner.command(point, "x.json")
    option = dict(zip(words[1::2], words[2::2]))
    assert (option["--clock-hz"], option["--block-width"], option["--block-clock-hz"]) \
        == ("166666667", "256", "250000000")
    assert 1060 < int(option["--latency-ns"]) < 1100 and option["--batch"] == "20"


def test_sweeps_cover_each_link_once():
    assert len(board_sweep(False, ["sqrl_acorn"])) == 14
    assert not {(p.hardware.link, p.width, p.hardware.clock_hz, p.hardware.space) for p in links(False)} \
        & {(p.hardware.link, p.width, p.hardware.clock_hz, p.hardware.space) for p in board_sweep(False)}
    assert not links(True)

# Rows and Goals -----------------------------------------------------------------------------------


@pytest.fixture
def results():
    shares = {1000: 0.99, 1250: 0.96, 1500: 0.951, 1750: 0.94, 2000: 0.96}
    return [measured(point, 0.9 if point.completion else shares.get(point.latency_ns, 0.999))
        for point in board_sweep(False, ["xilinx_kcu105"])]


def test_rows(results):
    row, = board_rows.rows(results)
    assert row.tolerated == 1500 and row.hardware.names == ("xilinx_kcu105",)
    assert board_rows.share(row.one, "read") == pytest.approx(99)
    assert board_rows.share(row.split, "read") == pytest.approx(90)
    assert row.alone.point.batch == 1 and row.both.point.sequence == "read-and-write"


def test_goals(results):
    cells = {cell.goal: cell for cell in goals.cells(results)}
    assert cells["boards: reads at 1 us"].reached and cells["boards: reads at 1 us"].must == 98
    assert not cells["boards: reads, 64-byte completions"].reached
    assert "wait_tag" in cells["boards: reads, 64-byte completions"].why
    assert cells["boards: one read of 100 KB alone"].must == 91


def test_records_say_which_board(results):
    record = records.measured(results[0])[0]
    records.check(record)
    assert record["board"] == "xilinx_kcu105" and record["fabric_buffer"] is True
    assert (record["completion_headers"], record["completion_data"]) == (64, 15360)
