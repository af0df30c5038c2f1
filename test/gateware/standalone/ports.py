# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Both ends of a valid/ready channel of a core, held to the handshake, with random stalls."""

from collections import deque


class Channel:
    """What is common: ``tick`` is called twice a cycle, before and after the outputs settle."""
    def __init__(self, core, prefix, random, stall):
        self.core    = core
        self.prefix  = prefix
        self.random  = random
        self.stall   = stall  # Probability of a cycle without.
        self.fields  = [name.removeprefix(f"{prefix}_") for name in core.ports if name.startswith(f"{prefix}_")]
        self.fields  = [name for name in self.fields if name not in ("valid", "ready") and "_" not in name]

    def stalls(self):
        return self.random.random() < self.stall

    def port(self, name):
        return f"{self.prefix}_{name}"


class Giver(Channel):
    """Gives beats (mappings of the fields) to the core; what is offered stays until it is taken."""
    def __init__(self, core, prefix, random, stall=0.0):
        Channel.__init__(self, core, prefix, random, stall)
        assert core.ports[self.port("valid")][0] == "input"
        self.beats   = deque()
        self.offered = False
        self.inside  = False  # Of a packet begun and not ended.

    def drive(self):
        if not self.offered and self.beats and not self.stalls():
            self.offered = True
            for name in self.fields:
                self.core[self.port(name)] = self.beats[0][name]
        self.core[self.port("valid")] = self.offered

    def sample(self):
        if self.offered and self.core[self.port("ready")]:
            self.inside  = not self.beats.popleft().get("last", 1)
            self.offered = False

    def lose(self, cut=False):
        """Drops what waits, but for the rest of a packet that was begun; `cut`: that too."""
        ends  = [n for n, beat in enumerate(self.beats, 1) if beat["last"]]
        rest  = ends[0] if (self.offered or self.inside) and not cut else 0
        self.beats = deque(list(self.beats)[:rest])
        if cut:
            self.offered = self.inside = False


class Taker(Channel):
    """Takes beats from the core and hands each to ``take``; what is valid must stay as it is."""
    def __init__(self, core, prefix, random, take, stall=0.0):
        Channel.__init__(self, core, prefix, random, stall)
        assert core.ports[self.port("valid")][0] == "output"
        self.take  = take
        self.ready = False
        self.held  = None
        self.blind = False  # Looks at nothing,
        self.stuck = False  # and takes nothing, instead of everything.

    def drive(self):
        self.ready = not self.stuck if self.blind else not self.stalls()
        self.core[self.port("ready")] = self.ready

    def lose(self, everything, stuck=False):
        """Forgets what is held; from now on throws away everything, or not. `stuck`: and does not even take it."""
        self.held  = None
        self.blind = everything
        self.stuck = stuck

    def sample(self):
        if self.blind:
            return
        if not self.core[self.port("valid")]:
            assert self.held is None, f"{self.prefix}: valid went without ready"
            return
        beat = {name: self.core[self.port(name)] for name in self.fields}
        assert self.held in (None, beat), f"{self.prefix}: changed while valid: {self.held} {beat}"
        self.held = None if self.ready else beat
        if self.ready:
            self.take(beat)
