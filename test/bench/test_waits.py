# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The time of the card is read from a trace."""

import pytest

from litepcie_bench import waits
from litepcie_bench.sweeps import lone as sweep

READ = """\
100 400.0 > MWr32 length 5 requester 0000 tag 0 address 0xe000102c be f/f
105 420.0 > MRd32 length 1 requester 0000 tag 9 address 0xe000184c be f/0
120 480.0 < CplD length 1 completer 0100 status 0 byte count 4 requester 0000 tag 9 lower address 0x4c
123 492.0 < MRd32 length 16 requester 0100 tag 1 address 0x10001000 be f/f
374 1496.0 > CplD length 16 completer 0000 status 0 byte count 64 requester 0100 tag 1 lower address 0x00
395 1580.0 < MWr32 length 4 requester 0100 tag 0 address 0x140000 be f/f
"""
OTHER = READ.replace("length 16", "length 80")
WRITE = """\
500 2000.0 > MWr32 length 5 requester 0000 tag 0 address 0xe000182c be f/f
530 2120.0 < MWr32 length 16 requester 0100 tag 0 address 0x10005000 be f/f
537 2148.0 < MWr32 length 4 requester 0100 tag 0 address 0x140040 be f/f
"""


def test_cycles_and_time():
    found = waits.read_lone(OTHER + READ + OTHER + WRITE)
    assert found == {"read": (23, 21), "write": (30, 7)}
    point, = sweep(quick=True)
    cycle  = 1e9/point.clock_hz
    # Gen2 x4: 0.5 ns a byte. Doorbell, data or request and completion, status block.
    assert waits.own_ns(found["write"], "write", point) == pytest.approx(37*cycle - (40 + 84 + 36)/2)
    assert waits.own_ns(found["read"], "read", point) == pytest.approx(44*cycle - (40 + 20 + 84 + 36)/2)


def test_a_trace_without_them():
    with pytest.raises(ValueError, match="has 1 of the 2 transfers of 64 bytes"):
        waits.read_lone(OTHER + READ)
