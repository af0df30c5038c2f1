#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The fast simulator computes what Migen's own computes."""

import pytest

from migen import Array, Module, Signal, run_simulation

from test.gateware.fastsim import run_fast


class Arrays(Module):
    """Arrays of parts of signals, of expressions and of numbers: read in one, written in another."""
    def __init__(self):
        self.index   = Signal(3)
        self.sources = [Signal(8) for _ in range(2)]
        self.read    = Signal(10)
        self.now     = Signal(16)
        self.later   = Signal(16)

        # # #

        a, b = self.sources
        self.comb += [
            self.read.eq(Array([a[4:], a + b, 0x155, b, a])[self.index]),
            Array([self.now[4*n:4*n + 4] for n in range(4)])[self.index].eq(self.read),
        ]
        self.sync += Array([self.later[4*n:4*n + 4] for n in range(4)])[self.index].eq(self.read)


def recorded(run):
    dut, seen = Arrays(), []

    def drive():
        for n in range(40):
            yield dut.index.eq(n % 8)     # 5, 6 and 7 are beyond the ends of the arrays.
            yield dut.sources[0].eq(0x9e*n)
            yield dut.sources[1].eq(0x35*n)
            yield
            seen.append(((yield dut.read), (yield dut.now), (yield dut.later)))

    run(dut, {"sys": [drive()]}, {"sys": 10})
    return seen


def test_arrays_of_anything():
    fast = recorded(run_fast)
    assert fast == recorded(run_simulation)
    assert len(set(fast)) > 30


@pytest.mark.parametrize("run", [run_fast, run_simulation])
def test_an_index_beyond_the_end_selects_the_last(run):
    seen = recorded(run)
    assert [read for read, _, _ in seen[5:8]] == [0x9e*5 & 0xff, 0x9e*6 & 0xff, 0x9e*7 & 0xff]
