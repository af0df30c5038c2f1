# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""examples/gateware/own_registers.py: sums of any number of words, one after the other. Its programs: test/guest."""

import random

from test.examples.conftest import example
from test.gateware.simulation import simulate


def start(dut, count):
    yield dut.count.storage.eq(count)
    yield dut.count.re.eq(1)
    yield
    yield dut.count.re.eq(0)


def test_sums():
    dut, words, got = example("own_registers").Adder(), [random.Random(1).getrandbits(32) for _ in range(1024)], []
    def main():
        for place, word in enumerate(words):
            yield from dut.ram.bus.write(place, word)
        for count in (1024, 0, 1, 2, 1000):
            yield from start(dut, count)
            yield
            while (yield dut.busy.status):
                yield
            got.append((count, (yield dut.sum.status)))
    simulate(dut, [main()], cycles=20000)
    assert got == [(count, sum(words[:count]) % 2**32) for count in (1024, 0, 1, 2, 1000)]


def test_a_start_while_it_adds():
    """The sum is that of the second one."""
    dut, got = example("own_registers").Adder(), []
    def main():
        for place in range(20):
            yield from dut.ram.bus.write(place, 1 << place)
        for count, cycles in ((20, 7), (12, 30)):
            yield from start(dut, count)
            for _ in range(cycles):
                yield
        got.append((yield dut.sum.status))
    simulate(dut, [main()], cycles=20000)
    assert got == [(1 << 12) - 1]
