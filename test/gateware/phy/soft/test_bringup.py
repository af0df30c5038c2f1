# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""Parts of the image for bring-up: what is counted and recorded, what is sent instead, and the state that is held."""

import pytest
from migen import ClockDomain, Module, Signal

from litepcie_soc.phy.ecp5.sci import SerDesRegisters
from litepcie_soc.phy.soft.bringup import ChangeCount, PatternMux, StatusCounts
from litepcie_soc.phy.soft.capture import BusCapture
from litepcie_soc.phy.soft.lane_layout import CAPTURE_BEFORE, CAPTURE_WORDS, TEST_MODES, TRIGGERS
from litepcie_soc.phy.soft.ltssm_states import State
from litepcie_soc.phy.soft.symbols import SerDesInterface
from test.gateware.phy.soft.line import Line, Port, trained
from test.gateware.simulation import forever, simulate
from test.gateware.steps import pulse, wait

RX = {"sys": 10, "pcie_rx": 8}


def values(signals):
    """Returns what they are now."""
    found = []
    for signal in signals:
        found.append((yield signal))
    return found


def test_changes_and_symbols_count_while_run_is_set():
    """And stand still without it, to be read."""
    dut         = Module()
    level, run  = Signal(), Signal()
    status      = Signal(6)
    dut.submodules.changes = changes = ChangeCount(level)
    dut.submodules.symbols = symbols = StatusCounts(status, Signal(reset=1))
    dut.comb   += [changes.run.eq(run), symbols.run.eq(run)]
    found = []
    def script():
        for counts in (0, 1, 0):
            yield run.eq(counts)
            yield from wait(6)
            for _ in range(7):
                yield level.eq(~level)
                yield from wait(3)
            yield run.eq(0)
            yield from wait(6)
            found.append(((yield changes.count), (yield from values(symbols.counts))))
    def lane():
        for n in range(600):
            yield status.eq(n % 2*7 | 3 << 3)
            yield
    simulate(dut, {"sys": [script()], "pcie_rx": [forever(lane())]}, clocks=RX)
    assert [count for count, _ in found] == [0, 7, 7]
    before, counts, after = [counts for _, counts in found]
    assert before == [0]*8 and counts == after
    zero, three, seven = counts[0], counts[3], counts[7]
    assert sum(counts) == zero + three + seven and abs(zero - seven) <= 1 and three == zero + seven > 30


@pytest.mark.parametrize("trigger, value, at", [("now", 0, None), ("comma", 0, 700), ("state", 10, 900),
    ("status", 5, 800)])
def test_a_recording_has_what_came_around_its_trigger(trigger, value, at):
    """Word n of the bus is n, but for the words that trigger: in every word its number is seen."""
    bus, flags = Signal(24), Signal(3)
    dut        = BusCapture(bus, flags)
    dut.clock_domains.cd_pcie_rx_free = ClockDomain(reset_less=True)
    words, at = {}, at or 0
    def lane():
        for n in range(3000):
            # Eight bits in each half, away from K and status.
            word = (n >> 8) << 12 | n & 255
            if (trigger, n) == ("comma", at):
                word = 0x1bc << 12 | n & 255
            if (trigger, n) == ("status", at):
                word |= 5 << 9
            words[n] = word
            yield bus.eq(word)
            yield dut.state.eq(trigger == "state" and n >= at)
            yield
    def script():
        yield dut.trigger.eq(list(TRIGGERS).index(trigger))
        yield dut.value.eq(value)
        yield from wait(300)  # Nothing is recorded before.
        yield dut.arm.eq(1)
        while (yield dut.done) != 1:
            yield
        yield from wait(5)
        first = yield dut.first
        got.extend((yield from values(dut.memory[(first + n) % CAPTURE_WORDS] for n in range(CAPTURE_WORDS))))
    got = []
    simulate(dut, {"pcie_rx_free": [forever(lane()), script()]}, clocks={"pcie_rx_free": 8}, cycles=3000)
    numbers = {word: n for n, word in words.items()}
    begin   = numbers[got[0]]
    assert got == [words[begin + n] for n in range(CAPTURE_WORDS)]
    if trigger in ("comma", "status"):
        assert begin + CAPTURE_BEFORE == at
    elif trigger == "state":
        assert 0 <= begin + CAPTURE_BEFORE - at < 5


def test_an_access_to_a_register_of_the_serdes():
    """Address and data are stable around each strobe, and only the selected part sees one."""
    dut, memory, seen = SerDesRegisters(), {}, []
    def block():
        before = 1
        while True:
            place = ((yield dut.sel_common), (yield dut.sel_channel), (yield dut.block_address))
            wrn   = yield dut.wrn
            seen.append((wrn, (yield dut.rd), place, (yield dut.wdata)))
            if wrn and not before:
                memory[place] = yield dut.wdata
            yield dut.rdata.eq(memory.get(place, 0xff) if (yield dut.rd) else 0)
            before = wrn
            yield
    def access(address, common, data=None):
        yield [dut.address.eq(address), dut.common.eq(common), dut.write.eq(data is not None), dut.data.eq(data or 0)]
        yield from pulse(dut.start)
        yield [dut.address.eq(0x3f), dut.data.eq(0x55), dut.common.eq(~dut.common)]  # It was taken.
        yield
        while (yield dut.busy):
            yield
        yield
        return (yield dut.result)
    def script():
        yield from access(0x15, 0, 0xa3)
        yield from access(0x15, 1, 0x07)
        assert (yield from access(0x15, 0)) == 0xa3 and (yield from access(0x15, 1)) == 7
        assert (yield from access(0x16, 0)) == 0xff
    simulate(dut, [script(), forever(block())])
    assert memory == {(0, 1, 0x15): 0xa3, (1, 0, 0x15): 7}
    for n, (wrn, _, place, data) in enumerate(seen):
        if not wrn:
            assert {(row[2], row[3]) for row in seen[n - 4:n + 5]} == {(place, data)}
        assert place[0] + place[1] <= 1 and (wrn or not seen[n][1])


def test_patterns_instead_of_what_the_link_sends():
    serdes = SerDesInterface()
    dut    = PatternMux(serdes)
    sent   = {}
    def script():
        yield [dut.sink.tx_data.eq(0x1234), dut.sink.tx_idle.eq(0b11), dut.sink.tx_k.eq(0b10)]
        for n, mode in enumerate(TEST_MODES):
            yield dut.mode.eq(n)
            yield from wait(6)
            assert (yield dut.hold) == (n != 0)
            sent[mode] = []
            for _ in range(4):
                sent[mode].append(((yield serdes.tx_data), (yield serdes.tx_k), (yield serdes.tx_idle)))
                yield
    simulate(dut, {"pcie": [script()]}, clocks={"pcie": 8})
    assert set(sent["train"]) == set(sent["hold"]) == {(0x1234, 0b10, 0b11)}
    assert set(sent["d10.2"]) == {(0x4a4a, 0, 0)}
    assert set(sent["compliance"]) == {(0xb5bc, 1, 0), (0x4abc, 1, 0)}
    assert sent["compliance"][0] != sent["compliance"][1]


@pytest.mark.parametrize("state", ["L0", *[pytest.param(state, marks=pytest.mark.full)
    for state in ("DETECT_QUIET", "POLLING_ACTIVE")]])
def test_polling_active_is_held(state):
    """From any state, though the partner goes on; and the link comes up after it."""
    def script(line):
        if state == "L0":
            yield from trained(line)
        else:
            yield from line.until(state, 20000)
        yield line.dut.ltssm.hold.eq(1)
        yield from line.until("POLLING_ACTIVE", 20000)
        for _ in range(1000):
            assert (yield line.dut.ltssm.state) == State.POLLING_ACTIVE and not (yield line.dut.link_up)
            yield
        yield line.dut.ltssm.hold.eq(0)
        line.port.enter("detect")
        yield from trained(line)
    Line(Port(), script)
