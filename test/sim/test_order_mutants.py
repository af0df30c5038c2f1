#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Cards whose status block, report or MSI overtakes what it reports: the simulator must name the rule of each."""

import pytest

from litepcie_soc.dma import engine, reader, status, writer
from litepcie_soc.stream_dma import splitter

from test.formal.harness import mutated
from test.sim.ddr_without_masks import load_target
from test.sim.scripts import HIGH, LOW, PREPARE, run_script, transfer

pytestmark = pytest.mark.full

ROOT = load_target().environment.ROOT

# A slow link, before which much waits, and the least to compile.
CARD = {"gen": 1, "lanes": 1, "data_width": 64, "streams": 1, "memory_size": 1 << 20}

MEMORY = [
    *PREPARE,
    *[transfer("reader", (LOW + 5000 * n, 4096 * n, 4096)) for n in range(4)],
    *[transfer("writer", (HIGH + 5000 * n, 4096 * n, 4096)) for n in range(4)],
    {"do": "verify"},
]
# Both engines at once, so that status blocks wait behind data.
INTERRUPTS = [
    *PREPARE,
    *[{"do": "post", "engine": engine, "descriptors": [
        {"host": base + 5000 * n, "endpoint": 4096 * n, "length": 4096, "interrupt": True} for n in range(12)]}
        for engine, base in (("reader", LOW), ("writer", HIGH))],
    *[{"do": step, "engine": engine} for step in ("doorbell", "wait") for engine in ("writer", "reader")],
]
STREAM = [
    *PREPARE[:2],
    *[{"do": "configure", "engine": engine} for engine in ("reader1", "writer1")],
    {"do": "post", "engine": "writer1", "descriptors": [{"host": HIGH + 8192 * n, "length": 8192} for n in range(4)]},
    {"do": "doorbell", "engine": "writer1"},
    {"do": "transfer", "engine": "reader1", "descriptors": [{"host": LOW, "length": 3000, "last": True}]},
    {"do": "run", "cycles": 20000},
]

EARLY_MSI = "interrupt 0 comes before the status block that it announces"

# Fault: module, text, replacement, steps that show it, and the rule.
MUTANTS = {
    "reader complete when requested": (reader, "oldest.ready.eq(port.retire.valid | failed)",
        "oldest.ready.eq(oldest.valid)", MEMORY, "status block reports 1 slots of the ring, of which only 0 have"),
    "writer complete when issued": (writer, "oldest.ready.eq(port.sent | failed)",
        "oldest.ready.eq(oldest.valid)", MEMORY, "status block reports"),
    "report counts a byte that was not sent": (splitter, "self.input.report.eq(Cat(self.bytes, self.packet_end))",
        "self.input.report.eq(Cat((self.bytes + 1)[:24], self.packet_end))", STREAM,
        "report of 3001 bytes in slot 0, which have not passed the link"),
    "MSI before its status block": (status, "port.sink.valid.eq(1),",
        "self.msi.valid.eq(msi_pending), raised.eq(msi_pending & self.msi.ready), port.sink.valid.eq(~msi_pending),",
        INTERRUPTS, EARLY_MSI),
    "MSI when its status block is made": (status, "If(port.sent, NextState(\"IDLE\"))", "NextState(\"IDLE\")",
        INTERRUPTS, EARLY_MSI),
}


# The engine's table of classes is that of before the fault, until its source runs again.
MOVERS = 'MOVERS  = {"reader": Reader, "writer": Writer}'


def test_without_a_fault(build_board, tmp_path):
    host = build_board(**CARD) / "simulator" / "litepcie_host"
    for steps in (MEMORY, INTERRUPTS, STREAM):
        code, errors, _ = run_script(host, tmp_path, steps)
        assert (code, errors) == (0, "")


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", MUTANTS)
def test_mutant(tmp_path, name):
    module, old, new, steps, rule = MUTANTS[name]
    folder  = ROOT / "build" / "sim_order_mutant"
    options = [word for option, value in CARD.items() for word in ("--" + option.replace("_", "-"), str(value))]
    with mutated(module, old, new), mutated(engine, MOVERS, MOVERS):
        assert load_target().main(["--build", "--output-dir", str(folder), *options]) == 0
    code, errors, _ = run_script(folder / "simulator" / "litepcie_host", tmp_path, steps)
    assert code == 3 and rule in errors, errors
