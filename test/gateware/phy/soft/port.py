# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""A downstream port that trains a lane, one symbol at a time. It shares no code with the gateware."""

import random

COM, SKP, PAD, IDL = 0x1bc, 0x11c, 0x1f7, 0x17c
TS1, TS2           = 0x4a, 0x45


class Whitener:
    """The scrambler of one direction, as the specification draws it."""

    def __init__(self):
        self.register, self.plain = 0xffff, 0

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
    """A port that goes on as soon as it may, after a pause of its own in each state.

    link    : its link number.
    inverted: its lane arrives inverted, as long as `polarity` of the other side is False.
    says    : function (state, fields of a training set) that may change what is sent.
    """

    def __init__(self, seed=1, link=5, inverted=False, says=None, polls=1024):
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
        self.packets  = []           # Symbols received in L0 that are not logical idle.
        self.to_send  = []           # Symbols of packets to be sent in L0.
        self.raw      = []           # Symbols to be sent as they are in the state "raw"; afterwards electrical idle.
        self.given    = []           # All that was sent since the state "raw" began.
        self.enter("detect")

    def enter(self, state):
        self.state, self.sent, self.after, self.pause = state, 0, None, self.rng.randrange(40)
        self.same = self.idle = 0
        self.given  = []
        self.enough = False          # Eight sets, or symbols of logical idle, as this state wants them.
        self.states.append(state)

    def take(self, symbol):
        """A symbol that arrived, or None: electrical idle."""
        if symbol is None:
            if self.state not in ("detect", "off"):
                self.silent = getattr(self, "silent", 0) + 1
            return
        self.silent = 0
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
        if self.state == "L0" and symbol:
            self.packets.append(symbol)
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
            self.queue = [(self.to_send.pop(0) if self.state == "L0" and self.to_send else 0, False)]
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
