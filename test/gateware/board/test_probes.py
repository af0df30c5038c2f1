#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Probes: a capture by LiteScope's own driver is what the signals did, under the names of the csv."""

import struct

from importlib import import_module

import pytest

from migen import ClockDomain

from litescope import LiteScopeAnalyzerDriver
from litex.gen import LiteXModule
from litex.tools.remote.csr_builder import CSRBuilder, CSRRegister

from litepcie_soc.board.probes import activity, add_probes, export_probes, signals
from litepcie_soc.build.numbering import numbered_alike
from litepcie_soc.common import abi
from litepcie_soc.phy.sim import SimPHY
from litepcie_soc.soc.export import check_pinned_map
from litepcie_soc.soc.reference import ReferenceSoC
from litepcie_soc.soc.soc import LitePCIeSoC

from test.gateware.board.scope import Host, ScopeSoC

DEPTH  = 2048
OFFSET = 64       # Samples in front of the trigger.

# Addresses: of the ring and the data in host memory, of registers.
RING, STATUS, DATA = 0x1000, 0x2000, 0x10000
LENGTH = 0x4000
ENGINES = {"reader0": abi.READER_BASE, "writer0": abi.WRITER_BASE}

NEVER = {"writer0_wait_tag"}  # A writer needs no tag.

# Captured data ------------------------------------------------------------------------------------


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
            f"{name}_active":          active,
        }
    return found


def transfer(host, regs, name):
    """Starts an engine on one descriptor of LENGTH bytes."""
    ring = RING + (0x100 if name == "writer0" else 0)
    for n, dword in enumerate((LENGTH, 0, DATA, 0)):
        host.memory(ring + 4*n, dword)
    for register, value in {"ring_lo": ring, "ring_log2": 1, "status_address_lo": STATUS, "control": 1,
        "doorbell": 1}.items():
        getattr(regs, f"{name}_{register}").write(value)


class Bench(CSRBuilder):
    """A running board, reached with the files that its user has."""
    def __init__(self, folder):
        with numbered_alike():
            soc       = ScopeSoC(DEPTH, watched)
            self.host = Host(folder, soc)
        self.soc  = soc
        check_pinned_map(soc)
        export_probes(soc, folder)
        CSRBuilder.__init__(self, self.host, str(folder / "csr.csv"))
        # The host's way to the analyzer, and to the engines, which csr.csv does not have.
        for register in vars(self.regs).values():
            register.addr += abi.USER_OFFSET
        for name, bank in soc.litepcie.banks.regions.items():
            for n, csr in enumerate(bank.obj):
                register = f"{name}_{csr.name}"
                setattr(self.regs, register, CSRRegister(self.host.read, self.host.write, register,
                    bank.origin + 4*n, 1, 32, "rw"))
        self.csv = folder / "analyzer.csv"

    def capture(self, trigger, process):
        """Columns by name, as captured around a rising edge of a probe while `process` ran."""
        driver = LiteScopeAnalyzerDriver(self.regs, "analyzer", config_csv=str(self.csv))
        driver.configure_group(0)
        driver.configure_subsampler(1)
        driver.add_rising_edge_trigger(trigger)
        driver.run(offset=OFFSET)
        self.host.cycles(DEPTH + 100)  # LiteScope empties its memory first.
        process()
        self.host.cycles(2*DEPTH)
        assert driver.done()
        driver.upload()
        assert DEPTH - 4 <= len(driver.data) <= DEPTH  # Up to four are left in the crossing.
        columns, at = {}, 0
        for name, width in driver.layouts[0]:
            columns[name] = [sample >> at & (1 << width) - 1 for sample in driver.data]
            at += width
        return columns

    def trace(self):
        words = [word for word, in struct.iter_unpack("<Q", (self.host.folder / "trace.bin").read_bytes())]
        return {name: [word >> n & 1 for word in words] for n, name in enumerate(self.soc.watched)}


def rise(column, nth=0):
    return [n for n in range(1, len(column)) if column[n] and not column[n - 1]][nth]

# Tests --------------------------------------------------------------------------------------------


@pytest.mark.full
def test_a_capture_is_what_happened(tmp_path):
    """One of a reader and one of a writer: each column is that signal in those cycles, and no other was like it."""
    bench    = Bench(tmp_path)
    captured = {}
    with bench.host as host:
        for name in ENGINES:
            captured[name] = bench.capture(f"{name}_active", lambda name=name: transfer(host, bench.regs, name))
        register = bench.regs.analyzer_storage_length
        assert host.read_serial(register.addr - abi.USER_OFFSET) == register.read() > 0
        assert host.read_serial(bench.regs.identity_magic.addr) != abi.MAGIC == bench.regs.identity_magic.read()
    trace = bench.trace()
    seen  = {name: [] for name in trace}
    for name, columns in captured.items():
        assert set(columns) == set(trace) == set(signals(bench.soc))
        start = rise(trace[f"{name}_active"]) - rise(columns[f"{name}_active"])
        for column, samples in columns.items():
            assert samples == trace[column][start:start + len(samples)], column
            seen[column] += samples
        assert sum(columns[f"{name}_active"]) == sum(sum(columns[f"{name}_{what}"])
            for what in activity(bench.soc.reader0) if what != "active") > DEPTH//4
    assert {name for name, samples in seen.items() if not any(samples)} == NEVER
    assert len({tuple(samples) for samples in seen.values()}) == len(seen)


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
        ("sqrl_acorn", False, "BSCANE2"), ("xilinx_alveo_u200", True, None))],
])
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
    names = [line.split(",")[2] for line in (tmp_path / "analyzer.csv").read_text().splitlines()
        if line.startswith("signal,")]
    assert names == list(signals(soc))
    assert names[:2] == (["tx_req_valid", "tx_req_ready"] if split else ["tx_valid", "tx_ready"])


@pytest.mark.parametrize("options, text", [
    ({"depth": 8}, "16..65536 samples, not 8"),
    ({"bridge": "usb"}, 'must be "jtag" or "serial"'),
])
def test_what_cannot_be(options, text):
    with pytest.raises(ValueError, match=text):
        add_probes(ReferenceSoC(), **options)
