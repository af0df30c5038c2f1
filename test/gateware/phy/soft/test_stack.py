#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""From TLPs to symbols and back: the stack against a port and its data link layer, which share no code with it."""

import random

from collections import deque

import pytest

from migen import passive

from litepcie_soc.phy.soft.stack import Stack

from test.gateware.phy.soft.bench        import End, of_kind, random_tlps, same_by_kind
from test.gateware.phy.soft.line         import POLLS, Line
from test.gateware.phy.soft.packets      import words
from test.gateware.phy.soft.partner      import Frame, Partner
from test.gateware.phy.soft.port         import Port
from test.gateware.phy.soft.test_framing import decoded
from test.gateware.simulation            import drive

STP, SDP, END, EDB = 0x1fb, 0x15c, 0x1fd, 0x1fe


class Host(Port):
    """A port whose packets are those of a `Partner`."""

    def __init__(self, partner, seed, **options):
        self.partner, self.frame = partner, []
        Port.__init__(self, seed, polls=POLLS, **options)

    def fill(self):
        if self.state != "L0":
            # What is left of a packet is not sent.
            self.to_send = []
        elif not self.to_send:
            frame = self.partner.send()
            if frame:
                self.to_send = [SDP if frame.dllp else STP, *frame.data, EDB if frame.edb else END]
        Port.fill(self)

    def plain(self, symbol):
        """Packets come in L0, and before, while the other side is further than this one."""
        Port.plain(self, symbol)
        if symbol in (STP, SDP):
            self.frame = [symbol]
        elif self.frame:
            self.frame.append(symbol)
        if symbol in (END, EDB) and self.frame:
            (packet,), _ = decoded(self.frame)
            self.frame   = []
            self.partner.receive(Frame(packet.data, packet.dllp, packet.edb, packet.error))


def random_run(seed, count, shift=0, wrong=0.0, recoveries=0, most=8000):
    """Moves random TLPs both ways; returns the line and what arrived."""
    rng     = random.Random(seed)
    ours    = random_tlps(rng, count)
    theirs  = random_tlps(rng, count)
    partner = Partner()
    partner.tlps = deque(theirs)
    port    = Host(partner, seed)
    got     = []

    def damage(cycle, symbol):
        if symbol is not None and port.state == "L0" and rng.random() < wrong:
            return 0x200 | rng.randrange(256)
        return symbol

    @passive
    def consume(line):
        layer, data = line.dut.data_link, b""
        yield layer.mps.eq(0)
        yield layer.source.ready.eq(1)
        while True:
            freed = 0, 0, 0, 0
            if (yield layer.source.valid):
                data += (yield layer.source.data).to_bytes(2, "little")
                if (yield layer.source.last):
                    got.append(data)
                    freed, data = End.freed(data), b""
            for name, value in zip(("ph", "pd", "nph", "npd"), freed):
                yield getattr(layer, f"free_{name}").eq(value)
            if port.state == "L0":
                partner.tick()
            yield

    @passive
    def produce(line, kind):
        while not (yield line.dut.dl_up):
            yield
        yield from drive(line.dut.data_link.sinks[kind], [beat for tlp in of_kind(ours, kind) for beat in words(tlp)])

    @passive
    def disturb(line):
        for _ in range(recoveries):
            for _ in range(rng.randrange(300, 900)):
                yield
            if port.state == "L0":
                port.enter("recovery")

    def script(line):
        for _ in range(most):
            if len(got) >= len(theirs) and len(partner.received) >= len(ours) and not partner.flying:
                break
            yield
        for _ in range(200):
            yield
    line = Line(port, script, shift, symbol=damage, unit=Stack,
        others=[consume, disturb, *[lambda line, kind=kind: produce(line, kind) for kind in range(3)]])
    assert got == theirs and same_by_kind(partner.received, ours)
    return line


@pytest.mark.parametrize("shift", [0, pytest.param(1, marks=pytest.mark.full)])
def test_tlps_both_ways(shift):
    line = random_run(1, 12, shift)
    assert line.states[-1] == "L0" and line.states.count("L0") == 1


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_tlps_with_recoveries_and_wrong_symbols(seed):
    """Every TLP arrives once, and in the order of its type."""
    line = random_run(seed, 25, seed % 2, wrong=0.002 if seed else 0.0, recoveries=4)
    assert line.states.count("RECOVERY_LOCK") >= 1
