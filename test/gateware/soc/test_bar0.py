# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The whole SoC as the host sees it: TLPs to BAR0 in, completions out."""

import pytest
from migen import passive

from litepcie_soc.build.regs import ReferenceSoC
from test.gateware.simulation import full, simulate
from test.gateware.steps import send

HOST = 0x0008  # Requester of the host's TLPs.
CARD = 0x0100


def swap(value):
    """Payload dwords are big-endian integers at the PHY ("big")."""
    return int.from_bytes(value.to_bytes(4, "little"), "big")


class Host:
    """One request at a time at the PHY of a card: of that of a SoC of its own, or of one of several."""
    def __init__(self, data_width, soc=None, card="litepcie", phy="pcie_phy", **options):
        self.soc   = soc or ReferenceSoC(data_width, **options)
        self.card  = getattr(self.soc, card)
        self.phy   = getattr(self.soc, phy)
        self.lanes = data_width // 32
        self.seen  = []   # (cycle, address, data) of each write to a register.

    def send(self, dwords):
        source = self.phy.source
        for at in range(0, len(dwords), self.lanes):
            beat = dwords[at:at + self.lanes]
            yield from send(source, first=at == 0, last=at + self.lanes >= len(dwords),
                dat=sum(dword << 32 * n for n, dword in enumerate(beat)), be=(1 << 4 * len(beat)) - 1)

    def write(self, address, value, be=0xf):
        yield from self.send([0x40000001, HOST << 16 | be, address, swap(value)])

    def read(self, address, limit=200):
        """The value of a dword; its completion is checked field by field."""
        sink = self.phy.sink
        yield sink.ready.eq(1)
        yield from self.send([0x00000001, HOST << 16 | 0x5a << 8 | 0xf, address])
        dwords, last = [], False
        for _ in range(limit):
            if last:
                break
            if (yield sink.valid):
                dat, be = (yield sink.dat), (yield sink.be)
                dwords += [dat >> 32 * n & 0xffffffff for n in range(self.lanes) if be >> 4 * n & 1]
                last = yield sink.last
            yield
        assert last, f"no completion for 0x{address:x}"
        assert dwords[:3] == [0x4a000001, CARD << 16 | 4, HOST << 16 | 0x5a << 8 | address & 0x7f]
        assert len(dwords) == 4
        return swap(dwords[3])

    @passive
    def watch(self):
        bus   = self.card.banks.bridge.csr
        cycle = 0
        while True:
            if (yield bus.we):
                self.seen.append((cycle, 4*(yield bus.adr), (yield bus.dat_w)))
            cycle += 1
            yield

    def begin(self, process):
        yield [self.phy.id.eq(CARD), self.phy.link_up.eq(1)]
        yield
        yield from process(self)

    def run(self, process):
        self.soc.finalize()
        simulate(self.soc, [self.begin(process), self.watch()])


def registers_and_window(host):
    assert (yield from host.read(0x0000)) == 0x4c504953
    assert (yield from host.read(0x0010)) == 64 << 10
    assert (yield from host.read(0x000c)) >> 8 & 0xff == host.lanes
    # One byte of a register.
    yield from host.write(0x0028, 0x11223344)
    yield from host.write(0x0028, 0xffeeddcc, be=0b0010)
    assert (yield from host.read(0x0028)) == 0x1122dd44
    # Pages without a bank take writes and read as zero, and do not mirror another page.
    for address in (0x7828, 0x80028, 0xffffc):
        yield from host.write(address, 0xffffffff)
        assert (yield from host.read(address)) == 0, f"0x{address:x}"
    assert (yield from host.read(0x0028)) == 0x1122dd44
    # Engines are where they are pinned, each on its own.
    yield from host.write(0x1008, 0x1000)
    yield from host.write(0x1808, 0x2000)
    assert (yield from host.read(0x1808)) == 0x2000   # Directly after the write.
    assert (yield from host.read(0x1008)) == 0x1000
    # The window, first and last dword of the memory.
    for n, address in enumerate((0x100000, 0x10fffc, 0x100004)):
        yield from host.write(address, 0xa0b0c0d0 + n)
    for n, address in enumerate((0x100000, 0x10fffc, 0x100004)):
        assert (yield from host.read(address)) == 0xa0b0c0d0 + n


def writes_to_consecutive_registers(host):
    """They are two cycles apart, so the descriptor of DIRECT is there soon. They are read directly afterwards."""
    values = [0x1000, 0x22, 0x3, 0x44440, 0x55]
    before = len(host.seen)
    yield from host.send([0x40000005, HOST << 16 | 0xff, 0x1808, *map(swap, values)])
    for n, value in enumerate(values):
        assert (yield from host.read(0x1808 + 4*n)) == value
    seen = host.seen[before:]
    assert [(address, data) for _, address, data in seen] == [(0x1808 + 4*n, value) for n, value in enumerate(values)]
    cycles = [cycle for cycle, _, _ in seen]
    assert [after - before for before, after in zip(cycles, cycles[1:])] == [2]*4


@pytest.mark.parametrize("data_width", [64, *full(512)])
def test_bar0(data_width):
    host = Host(data_width)
    def process(host):
        yield from registers_and_window(host)
        yield from writes_to_consecutive_registers(host)
    host.run(process)
