#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

import random

import pytest

from migen import passive, run_simulation

from litex.soc.interconnect import stream

from litepcie_soc.memory.arbiter import BeatArbiter

LAYOUT = [("dat", 16)]


def source(sink, values, rng, idle):
    for value in values:
        while rng.random() < idle:
            yield sink.valid.eq(0)
            yield
        yield sink.valid.eq(1)
        yield sink.dat.eq(value)
        yield
        while not (yield sink.ready):
            yield
    yield sink.valid.eq(0)


def run(clients, beats, idle, stall):
    """Returns a list of (cycle, client, index) in the order of the merged stream."""
    rng   = random.Random(f"{clients} {beats} {idle} {stall}")
    sinks = [stream.Endpoint(LAYOUT) for _ in range(clients)]
    dut   = BeatArbiter(sinks, LAYOUT)
    seen  = []

    @passive
    def monitor():
        cycle = 0
        while True:
            yield dut.source.ready.eq(int(rng.random() >= stall))
            yield
            if (yield dut.source.valid) and (yield dut.source.ready):
                value = yield dut.source.dat
                assert (yield dut.grant) == value >> 8
                seen.append((cycle, value >> 8, value & 0xff))
            cycle += 1

    def drain():
        while len(seen) < clients * beats:
            yield

    run_simulation(dut, [monitor(), drain()] + [
        source(sink, [n << 8 | i for i in range(beats)], random.Random(n), idle)
        for n, sink in enumerate(sinks)])
    return seen


@pytest.mark.parametrize("clients", [1, 2, 3, 5])
@pytest.mark.parametrize("idle, stall", [(0, 0), (0.5, 0), (0, 0.5), (0.5, 0.5)])
def test_every_beat_once_and_in_order(clients, idle, stall):
    seen = run(clients, 40, idle, stall)
    for client in range(clients):
        assert [i for _, n, i in seen if n == client] == list(range(40))


@pytest.mark.parametrize("clients", [1, 2, 3, 5])
def test_no_idle_cycle_and_fair(clients):
    seen = run(clients, 40, 0, 0)
    cycles = [cycle for cycle, _, _ in seen]
    assert cycles == list(range(cycles[0], cycles[0] + clients * 40))
    for at in range(0, clients * 40 - clients, clients):
        assert {n for _, n, _ in seen[at:at + clients]} == set(range(clients))


def test_no_stream_is_an_error():
    with pytest.raises(ValueError, match="at least one stream"):
        BeatArbiter([], LAYOUT)
