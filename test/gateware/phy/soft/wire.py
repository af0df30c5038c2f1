# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""The framing of a data link in simulation, at the speed of the symbols."""

from collections import deque

from test.gateware.phy.soft.packets import joined, words
from test.gateware.phy.soft.partner import Frame


class Wire:
    """Framing of a `DataLink`: passes frames at the speed of the symbols. `step` is called in every cycle.

    took : function of a frame that the data link sent.
    give : function that returns the frame to be received next, or None.
    skip : SKP ordered sets: two cycles in every so many, between packets.
    """
    def __init__(self, dut, took, give, skip=600):
        self.dut, self.took, self.give, self.skip = dut, took, give, skip
        self.sending   = deque()    # Beats to the data link; None is a cycle without one.
        self.beats     = []
        self.starts    = []         # Cycles in which a TLP began.
        self.cycle     = 0
        self.wait      = 0
        self.owed      = 0
        self.cuts      = dict(dllp=0, tlp=0)    # Packets to the data link that were cut.
        self.up        = True       # L0. Else nothing arrives, in both directions.
        self.down      = False      # No link: packets end anywhere.
        tx, rx         = dut.tx, dut.rx
        self.outputs   = [tx.valid, tx.data, tx.first, tx.last, tx.dllp, tx.edb]
        self.fields    = [rx.valid, rx.data, rx.first, rx.last, rx.dllp, rx.edb, rx.error]

    def run(self):
        """A generator for the simulation."""
        ready = 0
        while True:
            if ready:
                values = []
                for signal in self.outputs:
                    values.append((yield signal))
                self.take(*values)
            ready = int(self.is_ready())
            yield self.dut.tx.ready.eq(ready)
            yield from self.drive()
            yield self.dut.active.eq(self.up)
            yield
            self.cycle += 1

    def is_ready(self):
        """Between packets there is a cycle for the control symbols, and sometimes a SKP ordered set."""
        self.owed += self.cycle % self.skip == 0
        if self.wait:
            self.wait -= 1
            return False
        return True

    def take(self, valid, data, first, last, dllp, edb):
        if not valid:
            assert not self.beats or self.down, "a gap in a packet"
            self.beats = []
            return
        assert bool(first) == (not self.beats) and not edb
        if first and not dllp and self.up:
            self.starts.append(self.cycle)
        self.beats.append(dict(data=data, up=self.up, dllp=dllp))
        if last:
            frame, whole = Frame(joined(self.beats), bool(dllp)), all(beat["up"] for beat in self.beats)
            assert len({beat["dllp"] for beat in self.beats}) == 1
            self.beats = []
            self.wait, self.owed = 1 + 2*self.owed, 0
            if whole:
                self.took(frame)

    def drive(self):
        """Gives the next word to the data link."""
        if not self.sending:
            frame = self.give() if self.up and self.cycle > 4 else None
            if frame:
                count = len(frame.data)//2
                self.sending += [(1, beat["data"], beat["first"], beat["last"], frame.dllp, frame.edb, frame.bad)
                    for beat in words(frame.data)][:count]
                self.sending.append(None)
        beat = self.sending.popleft() if self.sending else None
        for field, value in zip(self.fields, beat or (0,)*7):
            yield field.eq(int(value))

    def cut(self):
        """The link leaves L0: the packet that is being received ends here, with an error."""
        if self.sending and self.sending[0]:
            _, data, first, _, dllp, edb, _ = self.sending[0]
            self.sending = deque([(1, data, first, 1, dllp, edb, 1), None])
            self.cuts["dllp" if dllp else "tlp"] += 1
        self.up = False
