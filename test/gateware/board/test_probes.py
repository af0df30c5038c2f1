# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Probes: each shows what its name says, and a board has a way to read them."""

import random
from importlib import import_module

import pytest
from migen import ClockDomain, Signal, passive
from litex.gen import LiteXModule

from litepcie_soc.board.probes import activity, add_probes, export_probes, signals
from litepcie_soc.build.regs import ReferenceSoC
from litepcie_soc.common import abi
from litepcie_soc.phy.sim import SimPHY
from litepcie_soc.soc.export import check_pinned_map
from litepcie_soc.soc.soc import LitePCIeSoC
from test.gateware.simulation import simulate
from test.gateware.soc.test_bar0 import CARD, Host, swap

# Addresses: of the ring, of the status block and of the data in host memory.
RING, STATUS, DATA = 0x1000, 0x2000, 0x10000
LENGTH  = 0x1400
ENGINES = {"reader0": abi.READER_BASE, "writer0": abi.WRITER_BASE}

NEVER = {"writer0_wait_tag"}  # A writer needs no tag.


def watched(soc):
    """Every probe, found another way than by ``signals``: at the pads of the PHY, and in the engines."""
    phy   = soc.pcie_phy
    found = {}
    for name, stream in {"tx": phy.sink, "rx": phy.source}.items():
        found |= {f"{name}_{field}": getattr(stream, field) for field in ("last", "first", "ready", "valid")}
    found["link_up"] = phy.link_up
    for name in ("writer0", "reader0"):
        engine, mover = getattr(soc, name), getattr(soc, name).mover
        active = engine.counters.run
        named  = mover.moved | mover.wait_tag | mover.wait_link | mover.wait_data
        found |= {
            f"{name}_wait_data":       active & mover.wait_data,
            f"{name}_wait_link":       active & mover.wait_link,
            f"{name}_wait_tag":        active & mover.wait_tag,
            f"{name}_moved":           active & mover.moved,
            f"{name}_wait_descriptor": active & ~named,
            f"{name}_active":          active}
    return found


class Memory(Host):
    """The host of a SoC with a memory of zeros and a ring: it answers reads late, and takes TLPs at random."""
    LATENCY = 150   # Cycles: more than the tags of a reader can hide.

    def __init__(self):
        Host.__init__(self, 128)
        self.random = random.Random(1)
        self.reads  = []    # (cycle from which to answer, header)
        self.cycle  = 0

    @passive
    def take(self):
        sink, dwords = self.phy.sink, []
        while True:
            yield sink.ready.eq(self.random.random() < 0.55)
            yield
            self.cycle += 1
            if (yield sink.valid) and (yield sink.ready):
                dat, be = (yield sink.dat), (yield sink.be)
                dwords += [dat >> 32*n & 0xffffffff for n in range(self.lanes) if be >> 4*n & 1]
                if (yield sink.last):
                    if dwords[0] >> 24 == 0:    # A read below 4 GiB, in dwords.
                        self.reads.append((self.cycle + self.LATENCY, dwords))
                    dwords = []

    def answer(self):
        _, (dw0, dw1, address) = self.reads.pop(0)
        count = dw0 & 0x3ff
        data  = [swap({RING: LENGTH, RING + 8: DATA}.get(address + 4*n, 0)) for n in range(count)]
        yield from self.send([0x4a000000 | count, 4*count, dw1 & 0xffffff00 | address & 0x7f, *data])

    def transfer(self, base):
        for offset, value in ((0x08, RING), (0x10, 1), (0x14, STATUS), (0x00, 1), (0x1c, 1)):
            yield from self.write(base + offset, value)
        for _ in range(2500):
            if self.reads and self.reads[0][0] <= self.cycle:
                yield from self.answer()
            yield


@pytest.mark.full
def test_each_probe_is_what_happens():
    """In a transfer of a reader and one of a writer, and no other probe is like it."""
    host = Memory()
    soc, phy = host.soc, host.phy
    probes, expected = signals(soc), watched(soc)
    assert set(probes) == set(expected)
    found, wanted = [[Signal() for _ in probes] for _ in range(2)]
    for name, one, other in zip(probes, found, wanted):
        soc.comb += one.eq(probes[name]), other.eq(expected[name])
    samples = []
    @passive
    def record():
        while True:
            samples.append((yield found))
            right = yield wanted
            assert samples[-1] == right, [name for name, *two in zip(probes, samples[-1], right) if two[0] != two[1]]
            yield
    def both():
        for signal, value in ((phy.id, CARD), (phy.link_up, 1), (phy.bus_master_enable, 1), (phy.msi.ready, 1),
                (phy.max_payload_size, 128), (phy.max_request_size, 128)):
            yield signal.eq(value)
        yield
        yield
        while (yield soc.function_reset.active):    # The link has just come up.
            yield
        for base in ENGINES.values():
            yield from host.transfer(base)
    soc.finalize()
    simulate(soc, [both(), host.take(), record()])
    seen = dict(zip(probes, zip(*samples)))
    for name in ENGINES:
        assert sum(seen[f"{name}_active"]) == sum(sum(seen[f"{name}_{what}"])
            for what in activity(soc.reader0) if what != "active") > LENGTH*8//128
    assert {name for name, column in seen.items() if not any(column)} == NEVER
    assert len(set(seen.values())) == len(seen)


class CRG(LiteXModule):
    def __init__(self):
        self.cd_sys = ClockDomain()


class BoardWithProbes(LitePCIeSoC):
    """A SoC with the platform of a board, but without its PHY."""
    def __init__(self, name, split):
        LitePCIeSoC.__init__(self, import_module(f"litex_boards.platforms.{name}").Platform(), 125e6)
        self.crg      = CRG()
        self.pcie_phy = SimPHY(256, split=split)
        self.add_litepcie(self.pcie_phy, target=name, gen=3, lanes=8, memory_size=1 << 16)
        add_probes(self)


@pytest.mark.parametrize("name, split, cell", [
    ("xilinx_kcu105", True, "BSCANE2"),
    *[pytest.param(*options, marks=pytest.mark.full) for options in (
        ("sqrl_acorn", False, "BSCANE2"), ("xilinx_alveo_u200", True, None))]])
def test_the_way_to_a_board(name, split, cell, tmp_path):
    """JTAG where OpenOCD can address the one die, else the serial port; the csv names each probe once."""
    soc = BoardWithProbes(name, split)
    soc.finalize()
    check_pinned_map(soc)
    assert set(soc.csr.regions) == {"analyzer"} and "analyzer" not in soc.litepcie.banks.regions
    assert soc.platform.lookup_request("serial", loose=True) is not None if cell is None else soc.jtagbone
    verilog = soc.platform.get_verilog(soc, name="board").main_source
    assert cell is None or f"{cell} #" in verilog
    export_probes(soc, tmp_path)
    lines = [line.split(",") for line in (tmp_path / "analyzer.csv").read_text().splitlines()]
    names = [line[2] for line in lines if line[0] == "signal"]
    assert names == list(signals(soc))
    # A power of two: one sample more would take twice as many block RAMs.
    depth = next(int(line[3]) for line in lines if line[2] == "depth")
    assert depth.bit_count() == 1
    assert names[:2] == (["tx_req_valid", "tx_req_ready"] if split else ["tx_valid", "tx_ready"])


@pytest.mark.parametrize("options, text", [
    ({"depth": 8}, "16..65536 samples, not 8"), ({"bridge": "usb"}, 'must be "jtag" or "serial"')])
def test_what_cannot_be(options, text):
    with pytest.raises(ValueError, match=text):
        add_probes(ReferenceSoC(), **options)
