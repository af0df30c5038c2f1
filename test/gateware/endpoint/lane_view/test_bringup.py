# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""Parts of the image for bring-up: what is recorded, and the state that is held.
`test/gateware/endpoint/serdes/ecp5/test_bringup.py` has the whole."""

import pytest
from migen import ClockDomain, Signal

from litepcie_soc.endpoint.lane_view.bringup import BusCapture
from litepcie_soc.endpoint.lane_view.layout import CAPTURE_BEFORE, CAPTURE_WORDS, TRIGGERS
from litepcie_soc.endpoint.physical.ltssm import State
from test.gateware.endpoint.line import Line, Port, trained
from test.gateware.simulation import forever, simulate
from test.gateware.steps import wait


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


@pytest.mark.parametrize("state", ["L0", pytest.param("DETECT_QUIET", marks=pytest.mark.full)])
def test_polling_active_is_held(state):
    """Though the partner goes on; and the link comes up after it."""
    def script(line):
        yield from line.until(state)
        yield line.dut.ltssm.hold.eq(1)
        yield from line.until("POLLING_ACTIVE", 20000)
        for _ in range(1000):
            assert (yield line.dut.ltssm.state) == State.POLLING_ACTIVE and not (yield line.dut.link_up)
            yield
        yield line.dut.ltssm.hold.eq(0)
        line.port.enter("detect")
        yield from trained(line)
    Line(Port(), script)
