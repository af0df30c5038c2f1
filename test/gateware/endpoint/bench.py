# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A data link with a link partner in simulation."""

from collections import deque

from litepcie_soc.endpoint.data_link.layer import DataLink
from test.gateware.endpoint.packets import check_same, joined, words
from test.gateware.endpoint.partner import CPL, NP, Frame, P, Partner, kind_of, units_of
from test.gateware.simulation import Stalls, drive, forever, simulate
from test.gateware.steps import wait

COUNTERS = ("lcrc_error", "dllp_error", "nak_sent", "nak_received", "replay", "timeout", "protocol_error", "malformed")


def memory_write(rng, dwords, wide=False):
    return header(0x60 if wide else 0x40, dwords, rng, 16 if wide else 12) + rng.randbytes(4*dwords)


def memory_read(rng, wide=False):
    return header(0x20 if wide else 0x00, rng.randrange(1024), rng, 16 if wide else 12)


def completion(rng, dwords):
    return header(0x4a if dwords else 0x0a, dwords, rng, 12) + rng.randbytes(4*dwords)


def header(kind, dwords, rng, length):
    return bytes([kind, 0, dwords >> 8 & 3, dwords & 255]) + rng.randbytes(length - 4)


def random_tlps(rng, count, longest=32):
    return [rng.choice([lambda: memory_write(rng, rng.randint(1, longest), rng.random() < 0.3),
        lambda: memory_read(rng, rng.random() < 0.3),
        lambda: completion(rng, rng.randint(0, longest)),
    ])() for _ in range(count)]


def of_kind(tlps, kind):
    return [tlp for tlp in tlps if kind_of(tlp) == kind]


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
        yield [field.eq(int(value)) for field, value in zip(self.fields, beat or (0,)*7)]

    def cut(self):
        """The link leaves L0: the packet that is being received ends here, with an error."""
        if self.sending and self.sending[0]:
            _, data, first, _, dllp, edb, _ = self.sending[0]
            self.sending = deque([(1, data, first, 1, dllp, edb, 1), None])
            self.cuts["dllp" if dllp else "tlp"] += 1
        self.up = False


class End:
    """A `DataLink` with its framing, a producer of TLPs, and a consumer that gives back credits.

    sent   : TLPs for the producer.
    took   : function of a frame that the data link sent.
    give   : function that returns the frame that it receives next, or None.
    stalls : share of cycles in which the consumer does not take a word.
    """
    def __init__(self, sent, took, give, stalls=0.0, mps_128=True, **options):
        self.dut    = DataLink(**options)
        self.wire   = Wire(self.dut, took, give)
        self.sent   = list(sent)
        self.got    = []
        self.stalls = Stalls(stalls)
        self.mps_128  = mps_128
        self.counts = dict.fromkeys((*COUNTERS, "retrain"), 0)
        self.free   = True      # Give back credits.

    def parts(self):
        """Generators for the simulation."""
        return [self.wire.run(), self.consume(), self.count(), self.recover(), *map(self.produce, range(3))]

    def consume(self):
        source, beats = self.dut.source, []
        yield [self.dut.link_up.eq(1), self.dut.mps.eq(not self.mps_128)]
        while True:
            freed = 0, 0, 0, 0
            if (yield source.valid) and (yield source.ready):
                if (yield source.first):
                    beats = []
                beats.append(dict(data=(yield source.data)))
                if (yield source.last):
                    self.got.append(joined(beats))
                    freed = self.freed(self.got[-1]) if self.free else freed
            for name, value in zip(("ph", "pd", "nph", "npd"), freed):
                yield getattr(self.dut, f"free_{name}").eq(value)
            yield source.ready.eq(not self.stalls.next())
            yield

    @staticmethod
    def freed(tlp):
        units = units_of(tlp)
        return {P: (1, units, 0, 0), NP: (0, 0, 1, units), CPL: (0, 0, 0, 0)}[kind_of(tlp)]

    def count(self):
        signals = [(name, getattr(self.dut, name)) for name in self.counts]
        while True:
            for name, signal in signals:
                if (yield signal):
                    self.counts[name] += 1
            yield

    def recover(self):
        """Retrains the link when it is wanted."""
        while True:
            if (yield self.dut.retrain):
                yield from self.recovery(50)
            yield

    def recovery(self, cycles):
        self.wire.cut()
        yield from wait(cycles)
        self.wire.up = True

    def produce(self, kind):
        while not (yield self.dut.dl_up):
            yield
        yield from drive(self.dut.sinks[kind], [beat for tlp in of_kind(self.sent, kind) for beat in words(tlp)])


def check_by_kind(got, sent, what):
    """Every byte arrived once, in the order of its type."""
    for kind, name in enumerate(("posted", "nonposted", "completion")):
        check_same(of_kind(got, kind), of_kind(sent, kind), f"{what}, {name}")


class Bench(End):
    """An `End` whose other side is a `Partner`.

    fault : function (frame, True if the data link sends it) that returns the frames that arrive instead.
    """
    def __init__(self, sent=(), partner=None, fault=None, **options):
        End.__init__(self, sent, self.took, self.give, **options)
        self.partner = partner or Partner()
        self.fault   = fault or (lambda frame, outward: [frame])
        self.inward  = deque()
        self.frames  = []  # All that the data link sent: (cycle, frame).

    def took(self, frame):
        self.frames.append((self.wire.cycle, frame))
        for arrived in self.fault(frame, True):
            self.partner.receive(arrived)

    def give(self):
        if not self.inward:
            frame = self.partner.send()
            self.inward += self.fault(frame, False) if frame else []
        return self.inward.popleft() if self.inward else None

    def tick(self):
        while True:
            self.partner.tick()
            yield

    def all_moved(self, expected):
        """Ends when both sides have all TLPs and nothing is in flight."""
        while len(self.partner.received) < len(self.sent) or len(self.got) < expected or self.partner.flying:
            yield
        yield from wait(100)

    def run(self, script=None, cycles=20000):
        """Runs until all TLPs are moved, or ``script`` (a generator) ends."""
        expected = list(self.partner.tlps)
        ends     = script or self.all_moved(len(expected))
        simulate(self.dut, [*map(forever, [*self.parts(), self.tick()]), ends], cycles=cycles)
        if script is None:
            check_by_kind(self.partner.received, self.sent, f"to the partner by cycle {self.wire.cycle}")
            check_same(self.got, expected, f"from the partner by cycle {self.wire.cycle}")
        return self
