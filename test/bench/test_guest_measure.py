#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What an operation costs, counted by the emulator: the driver's limits, and that the counting is right."""

import pytest

from litepcie_bench import guest_report as report
from litepcie_bench.guest_measure import CARD, FLOOR, Counter, Point, points

KIB4 = 4096


@pytest.fixture(scope="module")
def guest(board):
    with Counter(board) as counter:
        yield counter


def test_the_floor_is_counted(guest):
    """pread of a RAM disk: one system call of a few thousand instructions, and nothing of the card."""
    record = guest.measure(Point(FLOOR, "sync", KIB4, 1, 1, "read"))
    report.check(record)
    assert record["system_calls"] == pytest.approx(1, abs=0.05)
    assert 10 < record["program_instructions"] < 100
    assert 1000 < record["kernel_instructions"] < 8000
    assert record["mmio_loads"] == record["mmio_stores"] == 0


def test_a_call_rings_once_and_reads_no_register(guest):
    record = guest.measure(Point(CARD, "sync", KIB4, 1, 1, "write"))
    report.check(record)
    assert record["mmio_loads"] == 0
    assert record["mmio_stores"] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("how", ["uring", "fixed"])
@pytest.mark.parametrize("sequence", ["read", "write"])
def test_4_kib_at_depth_32(guest, how, sequence):
    record = guest.measure(Point(CARD, how, KIB4, 32, 1, sequence))
    assert report.instructions(record) <= report.MOST_INSTRUCTIONS, record
    assert record["mmio_loads"] == 0
    assert record["mmio_stores"] <= 1/8, "one doorbell for each batch"
    assert record["copied_bytes"] == 0


def test_points_are_different():
    assert len(set(points())) == len(points())
    assert {point.bytes for point in points(quick=True)} == {KIB4}


@pytest.mark.parametrize("change", [{"cost": 1}, {"mmio_loads": -1}, {"interrupts": True}, {"device": "disk"}])
def test_a_wrong_record_is_refused(change):
    good = {"device": CARD, "sequence": "read", "mmio_loads": 0}
    report.check(good)
    with pytest.raises(ValueError):
        report.check({**good, **change})
