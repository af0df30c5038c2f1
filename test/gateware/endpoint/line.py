# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A link in simulation, and a downstream port that trains it, one symbol at a time, and shares no code with the
gateware."""

import random

from migen import passive

from litepcie_soc.endpoint.physical.link    import Link
from litepcie_soc.endpoint.physical.states  import State
from litepcie_soc.endpoint.serdes.interface import SerDesInterface
from test.gateware.endpoint.packets         import packed, unpacked
from test.gateware.simulation               import simulate
from test.gateware.steps                    import wait

# Training sets before Polling.Active may end; the specification has 1024 (test_root_port.py).
POLLS = 40

COM, SKP, PAD, IDL = 0x1bc, 0x11c, 0x1f7, 0x17c
TS1, TS2           = 0x4a, 0x45


class Whitener:
    """The scrambler of one direction, as the specification draws it."""
    def __init__(self):
        self.register = 0xffff

    def __call__(self, symbol, plain):
        if symbol == COM:
            self.register = 0xffff
            return symbol
        if symbol == SKP:
            return symbol
        mask = 0
        for bit in range(8):
            top = self.register >> 15
            mask |= top << bit
            self.register = (self.register << 1 & 0xffff) ^ (0x39 if top else 0)
        return symbol if plain or symbol & 0x100 else symbol ^ mask


class Port:
    """A port that goes on as soon as it may.

    link    : its link number.
    inverted: its lane arrives inverted, as long as `polarity` of the other side is False.
    says    : function (state, fields of a training set) that may change what is sent.
    """
    def __init__(self, seed=1, link=5, inverted=False, says=None, polls=POLLS):
        self.rng      = random.Random(seed)
        self.link     = link
        self.inverted = inverted
        self.says     = says or (lambda state, fields: None)
        self.polls    = polls
        self.polarity = False
        self.out, self.into = Whitener(), Whitener()
        self.queue    = []           # Symbols to be sent: (symbol, plain).
        self.set      = None         # Symbols of a set that is being received.
        self.same, self.before = 0, None
        self.idle     = 0
        self.to_skip  = self.rng.randrange(1180, 1538)
        self.states   = []
        self.raw      = []           # Symbols to be sent as they are in the state "raw"; afterwards electrical idle.
        self.given    = []           # All that was sent since the state "raw" began.
        self.enter("detect")

    def enter(self, state):
        self.state, self.sent, self.after = state, 0, None
        self.same = self.idle = 0
        self.given  = []
        self.enough = False          # Eight sets, or symbols of logical idle, as this state wants them.
        self.states.append(state)

    def take(self, symbol):
        """A symbol that arrived, or None: electrical idle."""
        if symbol is None:
            return
        if self.state == "detect":
            self.enter("polling")
        if symbol == COM:
            self.set = [COM]
            self.into(symbol, True)
            return
        if self.set is not None:
            training = len(self.set) == 1 and symbol in (PAD, *range(256)) or len(self.set) > 1 and self.set[1] != SKP \
                and self.set[1] != IDL
            symbol   = self.into(symbol, training)
            self.set.append(symbol)
            if self.set[1] in (SKP, IDL):
                if symbol != self.set[1]:
                    self.set = None
                    self.plain(symbol)
            elif len(self.set) == 16:
                now       = tuple(self.set)
                self.same = self.same + 1 if now == self.before else 1
                self.before, self.set, self.idle = now, None, 0
                self.trained(now)
            return
        self.plain(self.into(symbol, False))

    def plain(self, symbol):
        self.same, self.before = 0, None
        self.idle = self.idle + 1 if symbol == 0 else 0
        if self.state == "idle" and self.idle >= 1 and self.after is None:
            self.after = self.sent
        if self.state == "idle" and self.idle >= 8:
            self.enough = True

    def trained(self, now):
        link, lane, kind = now[1], now[2], now[6]
        if kind == TS2 and self.after is None:
            self.after = self.sent
        many = kind == TS2 and self.same >= 8
        if self.state == "polling" and self.same >= 8 and self.sent >= self.polls and (link, lane) == (PAD, PAD):
            self.enter("polled")
        elif self.state == "polled" and many:
            self.enough = True
        elif self.state == "width" and self.same >= 2 and (kind, link, lane) == (TS1, self.link, PAD):
            self.enter("lane")
        elif self.state == "lane" and self.same >= 2 and (kind, link, lane) == (TS1, self.link, 0):
            self.enter("complete")
        elif self.state in ("complete", "configured") and many and (link, lane) == (self.link, 0):
            self.enough = True
        elif self.state == "recovery" and self.same >= 8 and (link, lane) == (self.link, 0):
            self.enter("configured")
        elif self.state in ("L0", "idle") and kind == TS1:
            self.enter("recovery")

    def fields(self):
        link = {"polling": PAD, "polled": PAD}.get(self.state, self.link)
        lane = {"polling": PAD, "polled": PAD, "width": PAD}.get(self.state, 0)
        kind = TS2 if self.state in ("polled", "complete", "configured") else TS1
        return {"link": link, "lane": lane, "n_fts": 20, "rate": 2, "control": 0, "kind": kind}

    def fill(self):
        """What comes next: a set, or a symbol."""
        if self.enough and self.sent - self.after >= 16:
            self.enter({"polled": "width", "idle": "L0"}.get(self.state, "idle"))
        if self.to_skip <= 0 and self.state not in ("detect", "off") and (self.state != "raw" or self.raw):
            self.queue   = [(COM, True), *[(SKP, True)]*self.rng.randrange(1, 6)]
            self.to_skip += self.rng.randrange(1180, 1538)
        elif self.state in ("detect", "off"):
            self.queue = [(None, True)]
        elif self.state == "raw":
            self.queue = [(self.raw.pop(0) if self.raw else None, True)]
        elif self.state in ("idle", "L0"):
            self.queue = [(0, False)]
            self.sent += 1
        else:
            fields = self.fields()
            self.says(self.state, fields)
            kind = fields.pop("kind")
            if self.inverted and not self.polarity:
                kind ^= 0xff
            self.queue = [(COM, True), *[(value, True) for value in fields.values()], *[(kind, True)]*10]
            self.sent += 1

    def give(self):
        """The next symbol, or None: electrical idle."""
        if not self.queue:
            self.fill()
        symbol, plain = self.queue.pop(0)
        self.to_skip -= 1
        symbol = None if symbol is None else self.out(symbol, plain)
        self.given.append(symbol)
        return symbol


# The way of a link that comes up.
UP = ["DETECT_QUIET", "DETECT_ACTIVE", "POLLING_ACTIVE", "POLLING_CONFIGURATION", "LINKWIDTH_START", "LINKWIDTH_ACCEPT",
    "LANENUM", "COMPLETE", "CONFIG_IDLE", "L0"]


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

    script : function of the line that returns a generator of the simulation, which ends with it.
    shift  : symbols between the pairs of the port and those that arrive.
    symbol : function of a symbol that returns what arrives.
    seems_idle : the SerDes says "no signal" all the time.
    """
    def __init__(self, port, script, shift=0, present=True, symbol=lambda symbol: symbol, seems_idle=False):
        self.serdes  = SerDesInterface()
        self.dut     = Link(self.serdes)
        self.port    = port
        self.shift   = shift
        self.present = present
        self.symbol  = symbol
        self.seems_idle = seems_idle
        self.states  = []
        self.cycle   = 0
        self.sent    = []
        self.forced  = []   # Pairs in which the disparity is forced, with their states.
        simulate(self.dut, [script(self), self.wire(), self.watch()], cycles=10**6)

    @passive
    def wire(self):
        serdes, port = self.serdes, self.port
        late = [None]*self.shift
        yield [serdes.ready.eq(1), serdes.rx_idle.eq(1)]
        while True:
            idle, data, k = (yield serdes.tx_idle), (yield serdes.tx_data), (yield serdes.tx_k)
            for n, symbol in enumerate(unpacked(data, k)):
                self.sent.append(None if idle >> n & 1 else symbol)
                port.take(self.sent[-1])
            port.polarity = bool((yield serdes.polarity))
            late += [self.symbol(port.give()) for _ in range(2)]
            pair, late = late[:2], late[2:]
            yield [serdes.rx_idle.eq(pair[1] is None or self.seems_idle), serdes.rx_valid.eq(None not in pair)]
            data, k, error = packed([symbol or 0 for symbol in pair])
            yield [serdes.rx_data.eq(data), serdes.rx_k.eq(k), serdes.rx_error.eq(error)]
            if (yield serdes.detect):
                yield [serdes.detect_done.eq(1), serdes.detect_present.eq(self.present)]
            yield

    @passive
    def watch(self):
        ltssm, serdes = self.dut.ltssm, self.serdes
        while True:
            state = State((yield ltssm.state)).name
            if not self.states or self.states[-1] != state:
                self.states.append(state)
                # Polling.Active counts from here, so that a run is short.
                if state == "POLLING_ACTIVE":
                    yield ltssm.sent.eq(1024 - POLLS)
            if (yield serdes.tx_negative):
                self.forced.append(((yield serdes.tx_data), (yield serdes.tx_k), state))
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

    def begin_anew(self):
        """The port begins anew, and the link trains."""
        self.port.queue = []
        self.port.enter("polling")
        yield from trained(self)

    def expire(self):
        """The time of this state is over."""
        yield self.dut.ltssm.timer.eq(1)
