# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Counters, log, snapshot and recording of the lane: every event counts once, and a snapshot is of one moment."""

import random

import pytest
from migen import *

from litepcie_soc.endpoint.lane_view.bringup import BusCapture
from litepcie_soc.endpoint.lane_view.layout import (
    CAPTURE_BEFORE, CAPTURE_WORDS, CAUSES, COUNTERS, LOG_AT, LOG_ENTRIES, STATE, STATE_AT, TRIGGERS, WORDS, state_word,
)
from litepcie_soc.endpoint.lane_view.sample import LaneSampler, SharedCounters
from litepcie_soc.endpoint.lane_view.state import ReceiverState, symbol_events
from test.gateware.simulation import forever, simulate
from test.gateware.steps import pulse, wait


def read_counters(dut, count):
    """Returns the values of the first ``count`` counters."""
    values = []
    for place in range(count):
        yield dut.address.eq(place)
        yield
        while not (yield dut.free):
            yield
        yield
        values.append((yield dut.data))
    return values


@pytest.mark.parametrize("most", [[1, 2], [1]*20 + [2]])
def test_every_event_counts_once(most):
    dut, rng    = SharedCounters(most), random.Random(len(most))
    given, read = [0]*len(most), []
    def events():
        for _ in range(1000):
            for n, limit in enumerate(most):
                amount = rng.choice((0, limit, rng.randint(0, limit)))
                given[n] += amount
                yield dut.events[n].eq(amount)
            yield
        yield [signal.eq(0) for signal in dut.events]
        yield from wait(dut.round + 8)
        read.extend((yield from read_counters(dut, len(most))))
    simulate(dut, [events()])
    assert read == given and min(given) > 400


def test_a_counter_stays_at_its_largest_value():
    dut = SharedCounters([2, 1], bits=6)
    got = []
    def script():
        for _ in range(30):
            yield [dut.events[0].eq(2), dut.events[1].eq(1)]
            yield
        yield dut.events[1].eq(0)
        yield from wait(30)
        got.extend((yield from read_counters(dut, 2)))
    simulate(dut, [script()])
    assert got == [63, 30]


@pytest.mark.parametrize("period, per_symbol", [(80, False), (40, True), (78, False), (82, False), (10**8, False)])
def test_the_recovered_clock_is_measured(period, per_symbol):
    """By edges of a divided clock: also one that stands still has a count."""
    ended    = Signal()
    dut      = ReceiverState(ended, Signal(), Signal(), per_symbol)
    measured = []

    def windows():
        for _ in range(4):
            yield from wait(1999)
            yield from pulse(ended)
            measured.append((yield dut.clock))
    simulate(dut, {"pcie": [windows()]}, clocks={"pcie": 80, "pcie_rx": period})
    expected = 2000*80/(2*period if per_symbol else period)/8
    assert all(abs(count - expected) < 1.2 for count in measured[2:]), (measured, expected)


def test_the_lock_is_lost_while_a_signal_comes():
    """Not with the signal, and not at the begin."""
    los, lol = Signal(reset=1), Signal(reset=1)
    dut  = ReceiverState(Signal(), los, lol)
    lost = []

    def watch():
        while True:
            lost.append((yield dut.lock_lost))
            yield

    def script():
        for no_signal, times in ((1, 3), (0, 5)):
            yield los.eq(no_signal)
            for level in (0, 1)*times:
                yield from wait(4)
                yield lol.eq(level)
            yield from wait(4)
            assert sum(lost) == (0 if no_signal else times)
    simulate(dut, {"pcie": [script(), forever(watch())]}, clocks={"pcie": 80, "pcie_rx": 80})


def test_each_status_and_undecodable_symbols_count_apart():
    """Of both symbols of a pair, whatever the link does."""
    dut = Module()
    valid, data, k, status = Signal(), Signal(16), Signal(2), Signal(6)
    events = symbol_events(valid, data, k, status)
    found  = {name: Signal(2, name=name) for name in events}
    dut.comb += [found[name].eq(event) for name, event in events.items()]
    def script():
        for given, wanted in (((1, 0xee1c, 0b11, 4 << 3 | 1), {"undecodable": 1, "status_4": 1, "status_1": 1}),
            ((1, 0xeeee, 0b11, 7 << 3 | 7), {"undecodable": 2, "status_7": 1}),
            ((1, 0xeeee, 0b00, 0),          {}),
            ((0, 0xeeee, 0b11, 7 << 3 | 7), {})):
            yield [signal.eq(value) for signal, value in zip((valid, data, k, status), given)]
            yield
            for name, signal in found.items():
                assert (yield signal) == wanted.get(name, 0), (given, name)
    simulate(dut, [script()])
    assert set(found) < set(COUNTERS)


class Bench:
    """A sampler, and the memory that it writes."""
    def __init__(self):
        self.dut    = LaneSampler()
        self.memory = [None]*WORDS

    def watch(self):
        while True:
            if (yield self.dut.write):
                self.memory[(yield self.dut.address)] = yield self.dut.data
            yield

    def request(self, signal, done):
        """Changes a request, and waits for its end; returns the cycles that it took."""
        wanted = 1 - (yield signal)
        yield signal.eq(wanted)
        cycles = 0
        while (yield done) != wanted:
            cycles += 1
            yield
        yield from wait(4)
        return cycles

    def run(self, script):
        simulate(self.dut, [script(), forever(self.watch())])


def test_snapshot_has_counters_state_and_log():
    """The log keeps the last entries."""
    bench = Bench()
    dut   = bench.dut
    ways  = [(place % 15 + 1, place % 2**len(CAUSES)) for place in range(LOG_ENTRIES + 9)]
    def script():
        for n, name in enumerate(COUNTERS):
            for _ in range(n + 1):
                yield dut.events[name].eq(1)
                yield
            yield dut.events[name].eq(0)
        yield [word.eq(0x1000_0001*(n + 1)) for n, word in enumerate(dut.state)]
        for state, causes in ways:
            yield Cat(*dut.log.causes.values()).eq(causes)
            yield
            yield Cat(*dut.log.causes.values()).eq(0)
            yield
            yield dut.log.state.eq(state)
            yield
        yield from wait(dut.counters.round + 6)
        cycles = yield from bench.request(dut.sample, dut.sampled)
        assert cycles < 2*WORDS + 20 and (yield dut.log.count) == len(ways)  # 4 us
    bench.run(script)
    for n, (most, _) in enumerate(COUNTERS.values()):
        # Those without a number count turns, of which these events touch one or two.
        assert bench.memory[n] in ((n + 1,) if most else (1, 2))
    assert bench.memory[STATE_AT:STATE_AT + len(STATE)] == [0x1000_0001*(n + 1) for n in range(len(STATE))]
    assert state_word("receiver") == STATE_AT + len(STATE) - 1
    last  = [LOG_AT + 2*(number % LOG_ENTRIES) for number in range(9, len(ways))]
    assert [bench.memory[place] for place in last] == [state | causes << 8 for state, causes in ways[9:]]
    assert {bench.memory[later + 1] - bench.memory[earlier + 1] for earlier, later in zip(last, last[1:])} == {3}
    assert None not in bench.memory


def test_a_second_snapshot_is_new_and_clear_keeps_the_first():
    bench = Bench()
    dut   = bench.dut
    name  = "naks_sent"
    place = list(COUNTERS).index(name)
    def event():
        yield from pulse(dut.events[name])
        yield from wait(dut.counters.round + 6)
    def script():
        forgotten = []
        yield from event()
        yield from bench.request(dut.sample, dut.sampled)
        assert bench.memory[place] == 1
        yield from event()
        assert bench.memory[place] == 1
        yield dut.clear.eq(1)
        while not (yield dut.cleared):
            forgotten.append((yield dut.forget))
            yield
        assert any(forgotten) and not (yield dut.forget)
        yield from event()
        yield from bench.request(dut.sample, dut.sampled)
        assert bench.memory[place] == 1
    bench.run(script)


@pytest.mark.parametrize("trigger, value, at", [("now", 0, 0), ("comma", 0, 700), ("state", 10, 900),
    ("status", 5, 800)])
def test_a_recording_has_what_came_around_its_trigger(trigger, value, at):
    """Each word of the bus has its number, and may trigger. The memory is written from any place on."""
    bus   = Signal(24)
    dut   = BusCapture(bus, Signal(3))
    words, got = {}, []
    dut.clock_domains.cd_pcie_rx_free = ClockDomain(reset_less=True)
    def lane():
        for n in range(3000):
            other    = {"comma": 0x1bc << 12 | n & 255, "status": 5 << 9 | n & 255}
            words[n] = other.get(trigger, 0) if n == at else (n >> 8) << 12 | n & 255
            yield [bus.eq(words[n]), dut.state.eq(trigger == "state" and n >= at)]
            yield
    def script():
        yield [dut.trigger.eq(list(TRIGGERS).index(trigger)), dut.value.eq(value)]
        yield from wait(300)  # Nothing is recorded before.
        yield dut.arm.eq(1)
        while (yield dut.done) != 1:
            yield
        first = yield dut.first
        for n in range(CAPTURE_WORDS):
            got.append((yield dut.memory[(first + n) % CAPTURE_WORDS]))
    simulate(dut, {"pcie_rx_free": [forever(lane()), script()]}, clocks={"pcie_rx_free": 8}, cycles=3000)
    begin = {word: n for n, word in words.items()}[got[0]]
    assert got == [words[begin + n] for n in range(CAPTURE_WORDS)]
    assert trigger == "now" or 0 <= begin + CAPTURE_BEFORE - at < (5 if trigger == "state" else 1)
