#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What the gateware tests share: stream drivers, a passive checker, and a TLP model in plain Python.

The TLP model is written from the specification and shares no code with the gateware.
"""

import os
import random

from dataclasses import dataclass, field

from migen import passive, run_simulation

# Simulation ---------------------------------------------------------------------------------------

def simulate(dut, generators, *, cycles=20000, name="dut"):
    """Runs until every generator not marked `forever` ended; fails after `cycles`.

    LITEPCIE_VCD=folder writes waves there.
    """
    @passive
    def watchdog():
        for _ in range(cycles):
            yield
        raise AssertionError(f"simulation did not end in {cycles} cycles")

    folder = os.environ.get("LITEPCIE_VCD")
    run_simulation(dut, [*generators, watchdog()],
        vcd_name = os.path.join(folder, f"{name}.vcd") if folder else None)


@passive
def forever(generator):
    """Marks a generator that does not keep simulate() from ending."""
    yield from generator


class Stalls:
    """Random pauses: `next()` is true in `share` of the cycles, deterministic by seed."""
    def __init__(self, share=0.0, seed=1):
        self.share  = share
        self.random = random.Random(seed)

    def next(self):
        return self.share > 0 and self.random.random() < self.share

# Streams ------------------------------------------------------------------------------------------

def stream_fields(endpoint):
    """Names of payload and parameter fields of an endpoint."""
    names = [f[0] for f in endpoint.description.payload_layout]
    return names + [f[0] for f in endpoint.description.param_layout]


def drive(endpoint, beats, stalls=None):
    """Sends beats (dicts of field values, with `first` and `last` where they matter)."""
    stalls = stalls or Stalls()
    for beat in beats:
        while stalls.next():
            yield endpoint.valid.eq(0)
            yield
        yield endpoint.valid.eq(1)
        for name, value in beat.items():
            yield getattr(endpoint, name).eq(value)
        yield
        while not (yield endpoint.ready):
            yield
    yield endpoint.valid.eq(0)
    yield


def accept(endpoint, stalls=None):
    """Drives `ready` for ever."""
    stalls = stalls or Stalls()
    yield endpoint.ready.eq(1)
    yield
    while True:
        if stalls.share:
            yield endpoint.ready.eq(not stalls.next())
        yield


@dataclass
class Watch:
    """Passive checker of an endpoint: valid holds until ready, payload stands still meanwhile, packets open with
    `first` and close with `last`. Records every accepted beat with its cycle."""
    endpoint: object
    framed:   bool = True
    handshake: bool = True
    name:     str  = ""
    beats:    list = field(default_factory=list)

    def watch(self):
        endpoint = self.endpoint
        names    = stream_fields(endpoint) + ["first", "last"]
        waiting  = None
        opened   = False
        cycle    = 0
        while True:
            if (yield endpoint.valid):
                beat = {}
                for name in names:
                    beat[name] = (yield getattr(endpoint, name))
                if waiting is not None:
                    assert beat == waiting, f"{self.name}: changed while waiting: {waiting} -> {beat}"
                if not self.handshake or (yield endpoint.ready):
                    waiting = None
                    if self.framed:
                        assert bool(beat["first"]) != opened, f"{self.name}: first is wrong: {beat}"
                        opened = not beat["last"]
                    self.beats.append({**beat, "cycle": cycle})
                else:
                    waiting = beat
            else:
                assert waiting is None, f"{self.name}: valid fell before ready"
            cycle += 1
            yield

    def packets(self):
        """Accepted beats grouped by `last`; an unfinished packet is not in it."""
        packets, packet = [], []
        for beat in self.beats:
            packet.append(beat)
            if beat["last"]:
                packets.append(packet)
                packet = []
        return packets
