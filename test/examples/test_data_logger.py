# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""examples/gateware/data_logger.py: whole records, in order; what is lost is counted; rates."""

import os
import re
import struct
import subprocess
import sys

import pytest

from test.examples.conftest import GATEWARE, example
from test.gateware.simulation import simulate

RECORD = 64


def run(rate, cycles, busy, rounds=1):
    """The bytes of each round, in which the link takes no beat in the cycles n with ``busy(n)``."""
    dut, taken = example("data_logger").Logger(), []
    def main():
        for _ in range(rounds):
            got = bytearray()
            yield dut.rate.storage.eq(rate)
            for cycle in range(cycles):
                yield dut.source.ready.eq(not busy(cycle))
                yield
                if (yield dut.source.valid) and (yield dut.source.ready):
                    got += (yield dut.source.data).to_bytes(16, "little")
            yield dut.rate.storage.eq(0)
            yield dut.source.ready.eq(0)
            for _ in range(RECORD + 8):
                yield
            taken.append((bytes(got), (yield dut.overruns.status)))
    simulate(dut, [main()], cycles=100000)
    return taken


def records(data):
    """(sequence, lost) of each whole record; fails if a sample is not the one of its place."""
    found, time = [], -1
    for at in range(0, len(data) - 1023, 1024):
        sequence, lost, now, *samples = struct.unpack("<IIQ504H", data[at:at + 1024])
        assert samples == [(504*sequence + n) & 0xffff for n in range(504)] and now > time
        found.append((sequence, lost))
        time = now
    return found


def test_nothing_is_lost_at_80_percent_while_the_link_pauses():
    (data, _), = run(65536*8//10, 4000, busy=lambda cycle: cycle % 1000 < 180)
    found = records(data)
    assert found == [(n, 0) for n in range(len(found))] and len(found) >= 4000*0.8 // RECORD - 6


def test_lost_records_are_counted_and_the_others_are_whole():
    (data, _), = run(65536, 6000, busy=lambda cycle: cycle % 2)
    found = records(data)
    assert found[-1][1] > 10 and all(sequence == n + lost for n, (sequence, lost) in enumerate(found))


def test_it_begins_again():
    """What was not taken before is gone, and the counts begin at 0."""
    for data, overruns in run(65536, 1000, busy=lambda cycle: cycle > 300, rounds=3):
        assert records(data)[0] == (0, 0) and overruns == 0


@pytest.mark.full
def test_in_the_guest(run_example):
    said = run_example("data_logger", "data_logger 80 && data_logger 100 && litepcie_util info && "
        "ls /sys/class/litepcie_stream/litepcie0_stream0/ && ! echo 1 > /dev/litepcie0_stream0")
    assert "stream 0  to the host only\n" in said and "writer\n" in said and "reader\n" not in said
    first, second = re.findall(r"2048 records, (\d+) lost, ([\d.]+) MB/s", said)
    assert int(first[0]) == 0 and 1590 < float(first[1]) < 1610
    assert int(second[0]) > 0


def test_the_python_program(tmp_path):
    """With a FIFO in place of the stream, and a file in place of the registers."""
    samples = [struct.pack("<504H", *range(n, n + 504)) for n in range(20)]
    data    = b"".join(struct.pack("<IIQ", n + n//10, n//10, 100*n) + part for n, part in enumerate(samples))
    (tmp_path / "user").write_bytes(bytes(4))
    (tmp_path / "data").write_bytes(data)
    os.mkfifo(tmp_path / "stream")
    program = GATEWARE.parent / "python" / "data_logger.py"
    with subprocess.Popen(["sh", "-c", f"cat {tmp_path}/data > {tmp_path}/stream"]):
        result = subprocess.run([sys.executable, program, tmp_path / "out", "20", tmp_path / "stream",
            tmp_path / "user"], capture_output=True, text=True, timeout=30)
    assert (result.returncode, result.stdout, result.stderr) == (0, "20 records, 1 lost\n", "")
    assert (tmp_path / "out").read_bytes() == b"".join(samples)
