#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The fast simulator computes what Migen's own computes."""

import pytest

from migen import Array, ClockDomain, Memory, Module, Signal, run_simulation

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


class Driven(Module):
    """A register and a combinatorial signal that the generator writes too."""
    def __init__(self):
        self.register = Signal(4)
        self.value    = Signal(4)

        # # #

        self.comb += self.value.eq(7)
        self.sync += self.register.eq(5)


@pytest.mark.parametrize("run", [run_fast, run_simulation])
@pytest.mark.parametrize("whole", [True, False])
def test_the_design_takes_back_what_a_generator_wrote(run, whole):
    """Although nothing that the design reads has changed."""
    dut, seen = Driven(), []

    def drive():
        for n in range(7):
            if n < 4:   # The register stays 0.
                yield dut.register.eq(0) if whole else dut.register[:4].eq(0)
                yield dut.value.eq(n) if whole else dut.value[:4].eq(n)
            yield
            seen.append(((yield dut.register), (yield dut.value)))

    run(dut, {"sys": [drive()]}, {"sys": 10})
    assert seen == [(0, 7)]*4 + [(5, 7)]*3


class Shared(Module):
    """A memory that two clocks write."""
    def __init__(self):
        self.memory = Memory(8, 4)
        self.ports  = [self.memory.get_port(write_capable=True, clock_domain=domain) for domain in ("sys", "slow")]
        self.specials += self.memory, *self.ports
        self.clock_domains.cd_slow = ClockDomain(reset_less=True)


@pytest.mark.parametrize("run", [run_fast, run_simulation])
def test_two_clocks_write_one_word(run):
    """Each writes again at its edges what the other has overwritten."""
    dut, seen = Shared(), []

    def drive():
        for port, value in zip(dut.ports, (1, 2)):
            yield port.we.eq(1)
            yield port.dat_w.eq(value)
        for _ in range(40):
            yield

    def watch():
        for _ in range(300):
            seen.append((yield dut.ports[0].dat_r))
            yield

    run(dut, {"sys": [drive()], "watch": [watch()]}, {"sys": 10, "slow": (30, 3), "watch": 2})
    runs = [value for n, value in enumerate(seen[60:]) if value != seen[60:][n - 1]]
    assert len(runs) > 8 and set(runs) == {1, 2}
