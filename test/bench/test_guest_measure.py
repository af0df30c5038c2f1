# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""What an operation costs, counted by the emulator: the driver's limits, and that the counting is right."""

import json

import pytest

from litepcie_bench import guest_measure
from litepcie_bench import guest_report as report
from litepcie_bench.guest_measure import CARD, FLOOR, Counter, Point

KIB4 = 4096


@pytest.fixture(scope="module")
def guest(board):
    with Counter(board) as counter:
        yield counter


@pytest.mark.full
def test_the_floor_is_counted(guest):
    """pread of a RAM disk: one system call of a few thousand instructions, and nothing of the card."""
    record = guest.measure(Point(FLOOR, "sync", KIB4, 1, 1, "read"))
    report.check(record)
    assert record["system_calls"] == pytest.approx(1, abs=0.05) and 10 < record["program_instructions"] < 100
    assert 1000 < record["kernel_instructions"] < 8000 and record["mmio_loads"] == record["mmio_stores"] == 0


@pytest.mark.full
def test_a_call_rings_once_and_reads_no_register(guest):
    """Timer interrupts are left out: they come while the program waits, the more the slower the machine is."""
    point  = Point(CARD, "sync", KIB4, 1, 1, "write")
    record = guest.measure(point)
    report.check(record)
    assert record["mmio_loads"] == 0 and record["mmio_stores"] == pytest.approx(1, abs=0.01)
    entry  = guest.timer.read_text()
    guest.timer.unlink()
    assert report.instructions(record) < report.instructions(guest.measure(point))
    guest.timer.write_text(entry)


@pytest.mark.full
@pytest.mark.parametrize("how, sequence", [("uring", "read"), ("fixed", "write")])
def test_4_kib_at_depth_32(guest, how, sequence):
    record = guest.measure(Point(CARD, how, KIB4, 32, 1, sequence))
    assert report.instructions(record) <= report.MOST_INSTRUCTIONS[how], record
    assert record["mmio_stores"] <= 1/8, "one doorbell for each batch"
    assert record["mmio_loads"] == record["copied_bytes"] == 0


@pytest.mark.full
def test_calls_that_wait_for_room_wake_only_when_they_have_it(guest):
    """Four programs with 32 calls of 1 MiB each, of which 8 fit the limit of a file: about as much as one program."""
    one, four = (report.instructions(guest.measure(Point(CARD, "fixed", 1 << 20, 32, callers, "read")))
        for callers in (1, 4))
    assert four < 1.25*one


@pytest.mark.full
@pytest.mark.parametrize("way, tlps", [("word4", 16), ("combined16", 8)])
def test_each_store_is_a_tlp(guest, way, tlps):
    """The emulator combines no stores, and cuts those of 16 bytes."""
    record = guest_measure.pio(guest, way, "write")
    report.check(record)
    assert (record["tlps"], record["wire_bytes"]) == (tlps, 64 + 20*tlps)
    assert record["link_bytes_per_second"] == pytest.approx(250e6*64/(64 + 20*tlps))


def test_a_new_run_keeps_the_records_of_other_sweeps(monkeypatch, tmp_path):
    old  = {"source": report.SOURCE, "device": CARD, "interface": "sync", "sequence": "read"}
    line = {"source": "bench links"}
    (tmp_path / "results.json").write_text(json.dumps([line, old]))
    monkeypatch.setattr(report, "measure", lambda quick, save: save([]) or [])
    assert report.run(tmp_path, True) == 0
    assert json.loads((tmp_path / "results.json").read_text()) == [line] and report.kept(tmp_path) == []


@pytest.mark.parametrize("change", [{"cost": 1}, {"mmio_loads": -1}, {"interrupts": True}, {"device": "disk"}])
def test_a_wrong_record_is_refused(change):
    good = {"device": CARD, "sequence": "read", "mmio_loads": 0}
    report.check(good)
    with pytest.raises(ValueError):
        report.check({**good, **change})


def test_a_load_waits_for_the_host():
    """16 loads of 4 bytes: each 1 us, its request of 20 bytes and its completion of 24 at 250 MB/s; stores do not."""
    assert guest_measure.link_rate("read", 16, 384) == pytest.approx(64/(16*(1e-6 + 44/250e6)))
    assert guest_measure.link_rate("write", 16, 384) == pytest.approx(64/(384/250e6))


def test_a_mebibyte_is_as_many_operations_as_it_takes():
    record = {"device": CARD, "interface": "sync", "sequence": "read", "transfer_bytes": KIB4, "callers": 1,
        "system_calls": 1.0, "program_instructions": 40, "kernel_instructions": 1000, "interrupts": 0.5,
        "mmio_stores": 0.25}
    others = [record | {"callers": 4}, record | {"device": FLOOR}, record | {"interface": "polled"}]
    assert report.mebibytes([record, *others]) == [("sync", "read", "4 KiB", "256.0", "266,240", "128.0", "64.0")]


def test_a_row_of_operations_has_read_write_four_callers_and_the_ram_disk():
    def record(device, callers, sequence, instructions):
        return {"device": device, "interface": "sync", "sequence": sequence, "transfer_bytes": 4096, "depth": 1,
            "callers": callers, "program_instructions": 1000, "kernel_instructions": instructions - 1000,
            "system_calls": 1, "interrupts": callers, "mmio_stores": 1 + (sequence == "write")}

    records = [record(CARD, 1, "read", 2000), record(CARD, 1, "write", 3000), record(CARD, 4, "read", 4000),
        record(report.FLOOR, 1, "read", 5000)]
    assert report.operations(records) == [("sync", "4 KiB", 1, "2,000 / 3,000", "4,000", "5,000", "1.00", "1.00",
        "1.00 / 2.00")]
