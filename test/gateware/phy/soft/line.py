# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""A link with its port in simulation."""

from migen import passive

from litepcie_soc.phy.soft.link         import Link
from litepcie_soc.phy.soft.ltssm_states import State
from litepcie_soc.phy.soft.symbols      import SerDesInterface

from test.gateware.simulation import simulate
from test.gateware.steps import wait

# The way of a link that comes up.
UP = ["DETECT_QUIET", "DETECT_ACTIVE", "POLLING_ACTIVE", "POLLING_CONFIGURATION", "LINKWIDTH_START", "LINKWIDTH_ACCEPT",
    "LANENUM", "COMPLETE", "CONFIG_IDLE", "L0"]
# Training sets before Polling.Active may end; the specification has 1024 (test_polling_sends_1024).
POLLS = 40


def trained(line):
    """A generator of the simulation: waits for L0."""
    yield from line.until("L0")
    yield from wait(40)


def told(bit, states):
    """A port that sets a bit of the control symbol in these states."""
    def says(state, fields):
        if state in states:
            fields["control"] |= 1 << bit
    return says


class Line:
    """A `Link`, its `Port`, and a SerDes without delays between them.

    script : function of the line that returns a generator of the simulation, which ends with it; others: further ones.
    shift  : symbols between the pairs of the port and those that arrive.
    symbol : function (cycle, symbol) that returns what arrives.
    seems_idle : the SerDes says "no signal" all the time.
    unit   : `Link`, or what has one as ``link``.
    """

    def __init__(self, port, script, shift=0, polls=POLLS, present=True, symbol=lambda cycle, symbol: symbol,
            unit=Link, others=(), seems_idle=False):
        self.serdes  = SerDesInterface()
        self.dut     = unit(self.serdes)
        self.link    = getattr(self.dut, "link", self.dut)
        self.port    = port
        self.shift   = shift
        self.polls   = polls
        self.present = present
        self.symbol  = symbol
        self.seems_idle = seems_idle
        self.states  = []
        self.cycle   = 0
        self.sent    = []
        simulate(self.dut, [script(self), self.wire(), self.watch(), *(other(self) for other in others)], cycles=10**6)

    @passive
    def wire(self):
        serdes, port = self.serdes, self.port
        late = [None]*self.shift
        yield [serdes.ready.eq(1), serdes.rx_idle.eq(1)]
        while True:
            idle, data, k = (yield serdes.tx_idle), (yield serdes.tx_data), (yield serdes.tx_k)
            for n in range(2):
                symbol = None if idle >> n & 1 else data >> 8*n & 0xff | (k >> n & 1) << 8
                self.sent.append(symbol)
                port.take(symbol)
            port.polarity = bool((yield serdes.polarity))
            late += [self.symbol(self.cycle, port.give()) for _ in range(2)]
            pair, late = late[:2], late[2:]
            yield [serdes.rx_idle.eq(pair[1] is None or self.seems_idle), serdes.rx_valid.eq(None not in pair)]
            data = [symbol or 0 for symbol in pair]
            yield [serdes.rx_data.eq(data[0] & 0xff | (data[1] & 0xff) << 8),
                serdes.rx_k.eq(data[0] >> 8 & 1 | (data[1] >> 8 & 1) << 1),
                serdes.rx_error.eq(data[0] >> 9 | data[1] >> 9 << 1)]
            if (yield serdes.detect):
                yield [serdes.detect_done.eq(1), serdes.detect_present.eq(self.present)]
            yield

    @passive
    def watch(self):
        ltssm = self.link.ltssm
        while True:
            state = State((yield ltssm.state)).name
            if not self.states or self.states[-1] != state:
                self.states.append(state)
                # Polling.Active counts from here, so that a run is short.
                if state == "POLLING_ACTIVE":
                    yield ltssm.sent.eq(1024 - self.polls)
            self.cycle += 1
            yield

    def until(self, state, most=6000):
        """A generator of the simulation: waits for a state."""
        for _ in range(most):
            if self.states and self.states[-1] == state:
                return
            yield
        raise AssertionError(f"{state} did not come in {most} cycles, by cycle {self.cycle}\n"
            f"states of the link: {self.states}\nstates of the port: {self.port.states}")

    def expire(self):
        """The time of this state is over."""
        yield self.link.ltssm.timer.eq(1)
