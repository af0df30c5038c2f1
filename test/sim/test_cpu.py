#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A SoC with a VexRiscv beside the card: both share a RAM, and the processor interrupts the host."""

import subprocess

from pathlib import Path

import pytest

from litepcie_soc.common.abi import USER_OFFSET
from litepcie_soc.soc import regs
from litepcie_soc.soc.export import export_headers, export_verilog

from test.examples.conftest import example
from test.sim.test_interrupts import REGS
from test.sim.vfio_user_client import BAR0, connected

ROOT    = Path(__file__).resolve().parents[2]
ENGINES = 2
ASKED, ANSWERED, COUNT, SUM, DATA = (USER_OFFSET + 4*n for n in range(5))  # Of examples/gateware/riscv.py.


def test_a_cpu_beside_the_card_elaborates():
    soc = example("riscv").SoC()
    soc.finalize()
    assert regs.moved(soc) == []
    assert {"pcie", "cpu_bus0", "cpu_bus1"} == set(soc.bus.masters)
    assert soc.mem_regions["sram"].origin == 0x1000_0000 and soc.csr.regions["mailbox"].origin == 0xf000_4000
    assert soc.bus.timeout == 1e6     # A processor may have slower slaves than the host waits for.


@pytest.mark.full
@pytest.mark.timeout(900)  # Compiles a model of its own.
def test_the_cpu_and_the_host_share_a_ram(tmp_path):
    """The processor answers what the host asks, interrupts it once for each arming, and never stops for it."""
    soc = example("riscv").SoC()
    soc.finalize()
    board = ROOT / "build" / "test" / "cpu"
    export_headers(soc, board / "software" / "include" / "generated")
    export_verilog(soc, soc.platform, board / "gateware", "litepcie_soc_sim")
    subprocess.run(["make", "--no-print-directory", "-C", ROOT / "sim", f"BOARD={board}"], check=True)
    with connected(board / "simulator" / "litepcie_simulator", tmp_path) as card:
        def ask(number, words):
            for n, word in enumerate(words):
                card.write(BAR0, DATA + 4*n, word)
            card.write(BAR0, COUNT, len(words))
            card.write(BAR0, ASKED, number)

        card.set_up(msix=ENGINES + 1)
        card.write(BAR0, REGS["INTERRUPT_VECTOR"], REGS["INTERRUPT_VECTOR_EACH"] | ENGINES)
        for number, words in enumerate(([41, 1], [0xffffffff, 7, 3], []), start=1):
            card.write(BAR0, REGS["INTERRUPT_ARM"], 1)
            ask(number, words)
            assert card.wait_interrupt(vector=ENGINES) == 1
            assert card.read(BAR0, ANSWERED) == number and card.read(BAR0, SUM) == sum(words) % 2**32
        # Answers that nobody waits for interrupt nobody.
        ask(4, [1])
        assert card.wait_interrupt(0.2, vector=ENGINES) == 0 and card.read(BAR0, ANSWERED) == 4
        assert card.read(BAR0, 0) == REGS["MAGIC_VALUE"]
