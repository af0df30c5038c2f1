# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""What every SerDes keeps at `SerDesInterface`, and a link that trains across it.

A new SerDes is one more class here, whose `block` is what its hard block does between interface and lane.
"""

import functools
import random
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from migen import *
from migen.fhdl.specials import Special
from litex.gen import *

from litepcie_soc.endpoint.physical.link import Link
from litepcie_soc.endpoint.physical.states import State
from litepcie_soc.endpoint.serdes.ecp5 import serdes as ecp5
from litepcie_soc.endpoint.serdes.ecp5.raw import codes, encode
from litepcie_soc.endpoint.serdes.interface import SERDES_LAYOUT, SerDesInterface, SimSerDes
from litepcie_soc.phy.crossing import in_pcie
from test.gateware.endpoint.line import POLLS, UP, Port
from test.gateware.endpoint.packets import packed, unpacked
from test.gateware.simulation import forever, simulate
from test.gateware.steps import wait

COM, STP, SDP, END, EDB, PAD = 0x1bc, 0x1fb, 0x15c, 0x1fd, 0x1fe, 0x1f7
UNKNOWN = "a code that does not exist"

# Far End ------------------------------------------------------------------------------------------


class Far:
    """The other side of the lane, symbol by symbol. None is electrical idle."""
    def __init__(self, port=None):
        self.port, self.present, self.inverted = port, True, False
        self.sent, self.before, self.queue = [], [], []

    def take(self, symbol, disparity=0):
        """A symbol that left the SerDes, and the running disparity before it."""
        self.sent.append(symbol)
        self.before.append(disparity)
        if self.port:
            self.port.take(symbol)

    def pair(self):
        return [self.port.give() if self.port else self.queue.pop(0) if self.queue else None for _ in range(2)]

# SerDes -------------------------------------------------------------------------------------------


class Simulated(LiteXModule):
    """`SimSerDes`, whose lane is the one of the simulator: symbols at pads."""
    def __init__(self, far):
        self.far  = far
        self.pads = SimpleNamespace(**{name: Signal(bits) for name, bits in SERDES_LAYOUT})
        clock     = Signal(2)
        found     = {"serdes": self.pads, "pcie_clk": clock[0], "pcie_rst": clock[1]}
        self.serdes    = SimSerDes(SimpleNamespace(request=found.get))
        self.interface = self.serdes.interface

    def block(self):
        pads, far, asked = self.pads, self.far, False
        yield pads.ready.eq(1)
        while True:
            idle, data, k = (yield pads.tx_idle), (yield pads.tx_data), (yield pads.tx_k)
            negative      = (yield pads.tx_negative)
            for n, symbol in enumerate(unpacked(data, k)):
                far.take(None if idle >> n & 1 else symbol, not negative)
            pair = far.pair()
            yield [pads.rx_idle.eq(pair[0] is None), pads.rx_valid.eq(None not in pair)]
            wrong         = far.inverted != bool((yield pads.polarity))
            data, k, error = packed([0x3ee if symbol == UNKNOWN or wrong else symbol or 0 for symbol in pair])
            yield [pads.rx_data.eq(data), pads.rx_k.eq(k), pads.rx_error.eq(error)]
            yield [pads.detect_done.eq(not (yield pads.detect) and asked), pads.detect_present.eq(far.present)]
            asked |= (yield pads.detect)
            yield


class Block(Special):
    """A hard block without contents, with its ports by name."""
    def __init__(self, of, **ports):
        Special.__init__(self)
        self.ports = ports

    @staticmethod
    def lower(block):
        return Module()


class ECP5(LiteXModule):
    """A channel of ECP5. `block` is the DCU at its bus, as in its guide; ``ecp5/dcua.v`` has the lane's bits too."""
    def __init__(self, far, mode):
        self.far, self.raw = far, mode == "raw"
        pads = Record([(name, 1) for name in ("clk_p", "clk_n", "rx_p", "rx_n", "tx_p", "tx_n")])
        with patch.object(ecp5, "Instance", Block):
            self.channel = channel = ecp5.ECP5Channel(pads, Signal(reset=1), 100e6, mode=mode, measure_refclk=False,
                divisor=256)
        self.elastic   = ecp5.elastic_of(channel)
        self.interface = SerDesInterface()
        self.comb     += ecp5.join(channel, self.elastic, self.interface)
        self.sent, self.given = 0, 0  # Running disparities.

    def take(self, bus, quiet):
        for half in (bus & 0xfff, bus >> 12):
            if self.raw:
                before = self.sent if (half & 0x3ff, self.sent) in codes() else self.sent ^ 1
                data, k, self.sent = codes().get((half & 0x3ff, before), (0, 0, before))
                symbol, idle       = data | k << 8, quiet
            else:
                symbol, idle = half & 0x1ff, half >> 11
                before       = 0 if half >> 9 & 1 else 1
            self.far.take(None if idle else symbol, before)

    def give(self, symbol, wrong):
        if not self.raw:
            return 0x9ee if symbol == UNKNOWN or wrong else symbol or 0
        if symbol in (None, UNKNOWN):
            return 0
        word, self.given = encode(symbol & 0xff, symbol >> 8, self.given)
        return word ^ (0x3ff if self.far.inverted else 0)

    def block(self):
        channel, far = self.channel, self.far
        invert       = channel.block.ports["i_CH0_FFC_SB_INV_RX"]
        answer       = 0
        while True:
            quiet = (yield channel.sender.quiet) if self.raw else 0
            if (yield channel.cd_pcie.rst):
                far.take(None)
            else:
                self.take((yield channel.sender.bus), quiet)
            pair  = far.pair()
            wrong = not self.raw and far.inverted != bool((yield invert))
            lower, upper = (self.give(symbol, wrong) for symbol in pair)
            yield [channel.receiver.bus.eq(lower | upper << 12), channel.rx.los.eq(pair[0] is None)]
            detection = channel.detection
            answer    = answer + 1 if (yield detection.detect) and (answer or (yield detection.pulse)) else 0
            yield [detection.answer.eq(answer > 200), detection.result.eq(far.present)]
            yield

SERDES = {
    "simulated":  Simulated,
    "ecp5":       functools.partial(ECP5, mode="pcie"),
    "ecp5 raw":   functools.partial(ECP5, mode="raw"),
}
# Those that cannot tell whether there is a receiver.
BLIND  = {"ecp5 raw"}
CLOCKS = {"sys": 10, "pcie": 8, "pcie_free": 8, "pcie_rx": 8}

each_serdes = pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.full]*(name == "ecp5 raw"))
    for name in SERDES])


def run(lane, *generators, dut=None):
    simulate(dut or lane, {"pcie": [*generators, forever(lane.block())]}, clocks=CLOCKS, cycles=10**5)


def until(signal, what, most=4000):
    for cycle in range(most):
        if (yield signal):
            return cycle
        yield
    raise AssertionError(f"{what} in {most} cycles")


def stream(seed):
    """Symbols of which no two are SKP: what an elastic buffer passes on as it is."""
    rng = random.Random(seed)
    return [rng.choice((COM, STP, SDP, END, EDB, PAD)) if rng.random() < 0.1 else rng.randrange(256)
        for _ in range(300)]


def place(needle, stack):
    """Where the symbols are in others, in one piece."""
    return next((n for n in range(len(stack)) if stack[n:n + len(needle)] == needle), None)

# Tests --------------------------------------------------------------------------------------------


@each_serdes
def test_it_sends_and_detects(name):
    lane       = SERDES[name](Far())
    face, far  = lane.interface, lane.far

    def script():
        yield [face.tx_data.eq(0x4a4a), face.tx_idle.eq(0)]
        yield
        yield from until(face.ready, "the SerDes is not ready", 20000)
        assert set(far.sent[:-2]) <= {None}, "symbols left before the SerDes was ready"
        yield face.tx_idle.eq(3)
        yield from wait(60)
        for far.present in (False, True, False):
            yield face.detect.eq(1)
            yield
            yield face.detect.eq(0)
            yield
            yield from until(face.detect_done, "receiver detection does not end")
            assert (yield face.detect_present) == (far.present or name in BLIND)
            yield from wait(200)
        assert set(far.sent[-100:]) == {None}
        symbols = stream(1)
        symbols[100] = COM
        for n in range(0, 300, 2):
            data, k, _ = packed(symbols[n:n + 2])
            yield [face.tx_idle.eq(0), face.tx_data.eq(data), face.tx_k.eq(k), face.tx_negative.eq(n == 100)]
            yield
        yield [face.tx_idle.eq(3), face.tx_negative.eq(0)]
        yield from wait(60)
        begin = place(symbols, far.sent)
        assert begin is not None and far.before[begin + 100] == 0
        assert set(far.sent[-40:]) == {None}
    run(lane, script())


@each_serdes
@pytest.mark.parametrize("shift, inverted", [(0, False), (1, True)])
def test_it_receives(name, shift, inverted):
    lane      = SERDES[name](Far())
    face, far = lane.interface, lane.far
    got, idle = [], []

    def watch():
        while True:
            data, k, error = (yield face.rx_data), (yield face.rx_k), (yield face.rx_error)
            if (yield face.rx_valid):
                got.extend(symbol | (error >> n & 1) << 9 for n, symbol in enumerate(unpacked(data, k)))
            idle.append((yield face.rx_idle))
            yield

    def script():
        yield [face.tx_idle.eq(3), face.polarity.eq(inverted)]
        yield from until(face.ready, "the SerDes is not ready", 20000)
        symbols, far.inverted = stream(2 + shift), inverted
        symbols[150] = UNKNOWN
        far.queue    = [COM, *[0x4a]*15]*1000 + [0]*shift + symbols + [0x4a]*40
        while far.queue:
            yield
        yield from wait(30)
        wanted = [0x3ee if symbol == UNKNOWN else symbol for symbol in symbols]
        assert place(wanted, got[-1000:]) is not None
        assert not any(idle[-200:-40]), "idle while symbols came"
        yield from until(face.rx_idle, "the SerDes does not see that the other side is silent")
    run(lane, script(), forever(watch()))


# Rules: 4.2.6.2; 4.2.6.3
@each_serdes
def test_a_link_trains(name):
    """To L0, with a port that shares no code with the gateware, over an inverted lane. The times are shorter."""
    port       = Port(3, inverted=True)
    lane       = SERDES[name](Far(port))
    states     = []
    top        = LiteXModule()
    top.lane   = lane
    top.link   = link = in_pcie(Link(lane.interface, 125e6/128))

    def script():
        while states[-1:] != ["L0"]:
            state = State((yield link.ltssm.state)).name
            if states[-1:] != [state]:
                states.append(state)
                if state == "POLLING_ACTIVE":
                    yield link.ltssm.sent.eq(1024 - POLLS)
            port.polarity = lane.far.inverted = bool((yield lane.interface.polarity))
            yield
        yield from wait(40)
        assert (yield link.link_up) and port.states[-1] == "L0" and states == UP
    run(lane, script(), dut=top)
