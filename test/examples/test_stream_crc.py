# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""examples/gateware/stream_crc.py: CRCs of records of any length, a beat per cycle."""

import os
import pty
import random
import subprocess
import sys
import threading
import tty
import zlib

import pytest
from migen import passive

from test.examples.conftest import GATEWARE, example
from test.gateware.simulation import Stalls, simulate

LANES = 8


def give(dut, records, stalls, cut=()):
    end = dut.sink
    for record in records:
        for at in range(0, len(record), LANES):
            part = record[at:at + LANES]
            while stalls.next():
                yield
            yield end.data.eq(int.from_bytes(part, "little"))
            yield end.be.eq((1 << len(part)) - 1)
            yield end.first.eq(at == 0)
            yield end.last.eq(at + LANES >= len(record) and record not in cut)
            yield end.valid.eq(1)
            yield
            while not (yield end.ready):
                yield
            yield end.valid.eq(0)
    for _ in range(20):
        yield


def take(dut, got, stalls, until=float("inf")):
    while len(got) < until:
        yield dut.source.ready.eq(not stalls.next())
        yield
        if (yield dut.source.valid) and (yield dut.source.ready):
            got.append(((yield dut.source.data), (yield dut.source.last)))


@pytest.mark.parametrize("share", [0, 0.4])
def test_crc_of_each_length(share):
    dut, got = example("stream_crc").CRC(8*LANES), []
    records  = [random.Random(length).randbytes(length) for length in [*range(1, 30), 200]]
    simulate(dut, [give(dut, records, Stalls(share)), passive(take)(dut, got, Stalls(share, 2))])
    assert [crc for crc, _ in got] == [zlib.crc32(record) for record in records]
    assert got[-1][1] == 1, "the last result does not end its packet"
    assert share or sum(last for _, last in got) < len(got), "each result is a packet"


def test_a_program_that_was_killed_leaves_no_trace():
    """The next program gets no result of the record that was cut, none that waited, and the right ones for its own."""
    dut, got = example("stream_crc").CRC(8*LANES), []
    old, cut, new = b"old"*9, b"cut"*16, b"new"*20
    def main():
        yield dut.active.eq(1)
        yield from give(dut, [old, cut], Stalls(), [cut])
        yield dut.active.eq(0)
        yield
        yield dut.active.eq(1)
        yield from give(dut, [new], Stalls())
        yield from take(dut, got, Stalls(), until=1)
    simulate(dut, [main()])
    assert got == [(zlib.crc32(new), 1)]


def test_a_beat_per_cycle():
    dut, got, counts = example("stream_crc").CRC(8*LANES), [], []
    records          = [bytes(LANES*beats) for beats in (1, 2, 1, 5, 100)]
    def main():
        yield from give(dut, records, Stalls())
        counts.extend([(yield dut.beats.status), (yield dut.cycles.status)])
    simulate(dut, [main(), passive(take)(dut, got, Stalls())])
    assert counts == [109, 108] and len(got) == len(records)


@pytest.mark.full
def test_in_the_guest(run_example):
    said = run_example("stream_crc", "stream_crc 64 8192 && stream_crc 100 5")
    assert said.count("CRCs equal") == 2


def serve(fd, lengths):
    """Does what the card does."""
    for length in lengths:
        record = b""
        while len(record) < length:
            record += os.read(fd, length - len(record))
        os.write(fd, zlib.crc32(record).to_bytes(4, "little"))


def test_the_python_program():
    """With a terminal in place of the stream: bytes both ways."""
    card, device = pty.openpty()
    tty.setraw(device)
    thread = threading.Thread(target=serve, args=(card, [1 + n*7919 % 3000 for n in range(50)]), daemon=True)
    thread.start()
    program = GATEWARE.parent / "python" / "stream_crc.py"
    result  = subprocess.run([sys.executable, program, os.ttyname(device), "50", "3000"], capture_output=True,
        text=True, timeout=30)
    assert (result.returncode, result.stdout, result.stderr) == (0, "50 records: CRCs equal\n", "")
