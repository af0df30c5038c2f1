#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A SoC with a VexRiscv beside the card: both share a RAM, and the processor interrupts the host."""

import importlib.util
import json
import subprocess

from pathlib import Path

import pytest

from litex.gen import LiteXModule
from litex.soc.interconnect.csr import CSRStorage

from litepcie_soc.common.abi import BAR0_SIZE, USER_OFFSET
from litepcie_soc.phy.sim import SimPHY, sim_phy_io
from litepcie_soc.soc import regs
from litepcie_soc.soc.export import export_headers, export_verilog
from litepcie_soc.soc.soc import LitePCIeSoC

from test.sim.test_interrupts import REGS
from test.sim.vfio_user_client import BAR0, Client, Simulator

ROOT    = Path(__file__).resolve().parents[2]
RAM     = 0x1000_0000      # On the bus of the SoC; LiteX puts the RAM of a processor there.
MAILBOX = 8                # Number of its bank: at 0xf000_4000.
ENGINES = 2

# Program ------------------------------------------------------------------------------------------

T0, T1, T2 = 5, 6, 7       # Registers (RISC-V Unprivileged ISA, "RISC-V assembly programmer's handbook").


def lui(rd, value):
    return value & 0xfffff000 | rd << 7 | 0x37


def lw(rd, offset, rs):
    return offset << 20 | rs << 15 | 2 << 12 | rd << 7 | 0x03


def addi(rd, rs, value):
    return value << 20 | rs << 15 | rd << 7 | 0x13


def sw(rs, offset, base):
    return offset >> 5 << 25 | rs << 20 | base << 15 | 2 << 12 | (offset & 31) << 7 | 0x23


def jump(offset):
    bits = offset & 0x1fffff
    return (bits >> 20) << 31 | (bits >> 1 & 0x3ff) << 21 | (bits >> 11 & 1) << 20 | (bits >> 12 & 0xff) << 12 | 0x6f


# Adds 1 to the first word of the RAM, stores that as the second, and writes the mailbox; for ever.
PROGRAM = [
    lui(T0, RAM),
    lui(T2, 0xf000_0000 + 0x800*MAILBOX),
    lw(T1, 0, T0),
    addi(T1, T1, 1),
    sw(T1, 4, T0),
    sw(T1, 0, T2),
    jump(-16),
]

# SoC ----------------------------------------------------------------------------------------------


class Mailbox(LiteXModule):
    """A register whose writes interrupt the host."""
    def __init__(self):
        self.value = CSRStorage(32, description="A write interrupts the host.")


def target():
    spec   = importlib.util.spec_from_file_location("sim_target", ROOT / "targets" / "sim.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def soc_with_cpu(sim):
    class SoC(LitePCIeSoC):
        csr_map = {"mailbox": MAILBOX}

        def __init__(self):
            platform = sim.Platform(128, False)
            self.crg = sim._CRG(platform)
            LitePCIeSoC.__init__(self, platform, 125e6, cpu_type="vexriscv", cpu_variant="minimal", with_ctrl=True,
                integrated_rom_size=0x1000, integrated_rom_init=PROGRAM, integrated_sram_size=0x1000,
                with_timer=True)
            self.pcie_phy = SimPHY(128, bar0_size=BAR0_SIZE, msix=True,
                pads={name: platform.request(name) for name, *_ in sim_phy_io(128, False, msix=True)})
            self.add_litepcie(self.pcie_phy, target="cpu", gen=2, lanes=4, memory_size=1 << 20, tags=64,
                user_bus={"origin": RAM, "size": 0x1000})
            self.mailbox = Mailbox()
            self.litepcie.add_interrupt("mailbox", self.mailbox.value.re, pulse=True)

    soc = SoC()
    soc.finalize()
    return soc


@pytest.fixture
def sim(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "targets")
    return target()


def test_a_cpu_beside_the_card_elaborates(sim):
    soc = soc_with_cpu(sim)
    assert regs.moved(soc) == []
    assert {"pcie", "cpu_bus0", "cpu_bus1"} == set(soc.bus.masters)
    assert soc.mem_regions["sram"].origin == RAM and soc.csr.regions["mailbox"].origin == 0xf000_4000
    assert soc.bus.timeout == 1e6     # A processor may have slower slaves than the host waits for.


@pytest.mark.full
def test_the_cpu_and_the_host_share_a_ram(sim, tmp_path):
    """The processor answers what the host writes, interrupts it once for each arming, and never stops for it."""
    soc   = soc_with_cpu(sim)
    board = ROOT / "build" / "test" / "cpu"
    export_headers(soc, board / "software" / "include" / "generated")
    export_verilog(soc, soc.platform, board / "gateware", "litepcie_soc_sim")
    subprocess.run(["make", "--no-print-directory", "-C", ROOT / "sim", f"BOARD={board}"], check=True)
    path, stats = tmp_path / "card.sock", tmp_path / "stats.json"
    with Simulator(board / "simulator" / "litepcie_simulator", path, "--stats", stats) as server, Client(path) as card:
        card.set_up(msix=ENGINES + 1)
        for value in (41, 0x7fffffff, 0):
            card.write(BAR0, USER_OFFSET, value)
            for _ in range(100):
                if card.read(BAR0, USER_OFFSET + 4) == (value + 1) & 0xffffffff:
                    break
            else:
                pytest.fail(f"the processor did not answer {value}")
        card.write(BAR0, REGS["INTERRUPT_VECTOR"], REGS["INTERRUPT_VECTOR_EACH"] | ENGINES)
        for _ in range(3):
            card.write(BAR0, REGS["INTERRUPT_ARM"], 1)
            assert card.wait_interrupt(vector=ENGINES) == 1
            assert card.wait_interrupt(0.2, vector=ENGINES) == 0
        card.write(BAR0, REGS["INTERRUPT_DISARM"], 1)
        assert card.read(BAR0, 0) == REGS["MAGIC_VALUE"]
        card.close()
        assert server.end() == (0, "")
    assert json.loads(stats.read_text())["violations"] == 0
