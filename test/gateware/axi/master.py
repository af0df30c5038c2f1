# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""An AXI4 master with stalls on every channel, and the checks of what a slave answers (ARM IHI 0022, A3). Its addresses
are computed from the equations of A3.4.1."""

from collections import deque
from dataclasses import dataclass, field

from test.gateware.simulation import Stalls, Watch, accept, fail
from test.gateware.steps import send

FIXED, INCR, WRAP = range(3)
OKAY, SLVERR = 0, 2


@dataclass
class Burst:
    address: int
    beats:   list           # Of a write: (data, strobes). Of a read: None for each beat.
    size:    int
    burst:   int  = INCR
    id:      int  = 0
    resp:    list = field(default_factory=list)     # Of the answer.
    data:    list = field(default_factory=list)     # Of a read's answer.
    over:    bool = False

    def places(self):
        """The address of each beat."""
        number  = 1 << self.size
        aligned = self.address // number * number
        span    = number*len(self.beats)
        lowest  = self.address // span * span
        for n in range(len(self.beats)):
            place = self.address if n == 0 or self.burst == FIXED else aligned + n*number
            yield lowest + (place - lowest) % span if self.burst == WRAP else place

    def written(self, width):
        """(address, byte) in the order of the beats."""
        for place, (data, strobes) in zip(self.places(), self.beats):
            for lane in range(width):
                if strobes >> lane & 1:
                    yield place // width * width + lane, data >> 8*lane & 0xff

    def read(self, width):
        """(address, byte of the answer) for all bytes that the beats have."""
        for place, data in zip(self.places(), self.data):
            for address in range(place, (place >> self.size) + 1 << self.size):
                yield address, data >> 8*(address % width) & 0xff


class Master:
    """Sends bursts as soon as it can, and gives each its answer; ``wait`` until all have one."""
    def __init__(self, axi, stall=0.0, on_write=lambda burst: None):
        self.axi, self.on_write = axi, on_write
        self.width  = axi.data_width // 8
        self.queues = {"aw": deque(), "w": deque(), "ar": deque()}
        self.open   = {"b": deque(), "r": deque()}
        self.stalls = {name: Stalls(stall, seed) for seed, name in enumerate(("aw", "w", "ar", "b", "r"))}
        self.watch  = {name: Watch(getattr(axi, name), framed=False, name=name) for name in self.stalls}

    def give(self, burst):
        write   = burst.beats[0] is not None
        channel = "aw" if write else "ar"
        self.queues[channel].append(dict(addr=burst.address, len=len(burst.beats) - 1, size=burst.size,
            burst=burst.burst, id=burst.id))
        if write:
            self.queues["w"].extend(dict(data=data, strb=strobes, last=n == len(burst.beats) - 1)
                for n, (data, strobes) in enumerate(burst.beats))
        self.open["b" if write else "r"].append(burst)
        return burst

    def wait(self, limit=20000):
        for _ in range(limit):
            if not self.open["b"] and not self.open["r"]:
                return
            yield
        fail("an answer did not come", expected="every burst ends", found={name: len(bursts) for name, bursts
            in self.open.items()}, cycle=limit)

    def watchers(self):
        return [*[self.drive(name) for name in self.queues], *[watch.watch() for watch in self.watch.values()],
            *[accept(getattr(self.axi, name), self.stalls[name]) for name in ("b", "r")], self.answers()]

    def drive(self, name):
        queue = self.queues[name]
        while True:
            if queue and not self.stalls[name].next():
                yield from send(getattr(self.axi, name), **queue.popleft())
            else:
                yield

    def answers(self):
        seen = {"b": 0, "r": 0}
        while True:
            for name, count in seen.items():
                beats = self.watch[name].beats
                for beat in beats[count:]:
                    self.answer(name, beat)
                seen[name] = len(beats)
            yield

    def answer(self, name, beat):
        def wrong(what, expected, found):
            fail(f"{name}: {what}", expected=expected, found=found, cycle=beat["cycle"])
        if not self.open[name]:
            wrong("an answer without a burst", "none", beat)
        burst = self.open[name][0]
        if beat["id"] != burst.id:
            wrong("identity", burst.id, beat["id"])
        burst.resp.append(beat["resp"])
        if name == "b":
            before = [at["cycle"] for at in self.watch["w"].beats if at["last"] and at["cycle"] < beat["cycle"]]
            if len(before) < (answers := len(self.watch["b"].beats)):
                wrong("an answer before the last beat", f"{answers} ends of bursts", len(before))
        else:
            burst.data.append(beat["data"])
            if bool(beat["last"]) != (len(burst.data) == len(burst.beats)):
                wrong("`last`", f"in beat {len(burst.beats)}", f"{beat['last']} in beat {len(burst.data)}")
        if name == "b" or beat["last"]:
            burst.over = True
            self.open[name].popleft()
            if name == "b":
                self.on_write(burst)
