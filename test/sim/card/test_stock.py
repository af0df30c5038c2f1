# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Stock LitePCIe in a virtual machine: its own driver binds, and its own tool moves data through the loopback."""

import json
import os
import subprocess
import sys

from pathlib import Path

import pytest

ROOT    = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, "-m", "litepcie_sim.card.stock"]
# dma_test compares nothing before the driver has counted 128 rounds of its 256 buffers, of 8 KiB each.
SKIPPED = 128*256
# Interrupts until then and for some of its lines after: at most two for 32 buffers, one for each direction.
ENOUGH  = 2*(SKIPPED + 8000)//32
# $1 more interrupts come.
WAIT    = """count() { awk '/litepcie/ { n = $2 } END { print n + 0 }' /proc/interrupts; }
end=$(($(count) + %d)); while [ $(count) -lt $end ]; do sleep 1; done"""


def checked(text):
    """Returns the numbers of errors in the lines of dma_test that compared data."""
    lines = [line.split() for line in text.splitlines()]
    return [int(words[4]) for words in lines if len(words) == 5 and words[2].isdigit() and int(words[2]) > SKIPPED]


def test_only_lines_that_compared_data_count():
    assert checked("DMA_SPEED(Gbps)\tTX_BUFFERS\tRX_BUFFERS\tDIFF\tERRORS\n 0.1 40000 32768 7 9\n"
        " 0.1 40000 32769 7 3\n") == [3]


@pytest.mark.full
@pytest.mark.guest
def test_the_driver_binds_and_the_tool_reads_registers(tmp_path):
    result = subprocess.run([*COMMAND, "run", "--log", tmp_path / "log", "--", "litepcie_util info &&"
        " litepcie_util scratch_test"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "SoC Identifier   : stock LitePCIe" in result.stdout and "Read: 0xdeadbeef" in result.stdout
    assert "broken rule" not in result.stderr


@pytest.mark.full
@pytest.mark.timeout(1500)
def test_dma_test_through_the_loopback(boot, tmp_path):
    pipe, stats = tmp_path / "pipe", tmp_path / "stats"
    os.mkfifo(pipe)
    build = subprocess.run([*COMMAND, "build"], capture_output=True, text=True)
    assert build.returncode == 0, build.stdout[-3000:] + build.stderr[-3000:]
    guest = boot(ROOT / "build/card_stock", simulator_arguments=["--stats", str(stats), "--inject-pipe", str(pipe)])
    assert guest.run("litepcie_util dma_test >/tmp/log 2>&1 & echo $! >/tmp/pid").status == 0
    assert guest.run(WAIT % ENOUGH, timeout=1200).status == 0
    # A bit of ten completions, in ten buffers: dma_test must see it.
    pipe.write_text("".join(f"wrong@{1000 + 640*n}\n" for n in range(10)))
    assert guest.run(WAIT % 300, timeout=600).status == 0
    assert guest.run("kill -INT $(cat /tmp/pid); while [ -e /proc/$(cat /tmp/pid) ]; do sleep 1; done").status == 0
    said, kernel = guest.run("cat /tmp/log").output, guest.run("dmesg | grep 'litepcie 0000'").output
    guest.close()
    errors = checked(said)
    # A guest that is late loses buffers, which the driver says; dma_test then counts all words of an old buffer.
    assert errors.count(0) >= 10 and any(errors), said
    assert "too late" in kernel or sum(errors) == 10, said + kernel
    counted = json.loads(stats.read_text())
    assert counted["card_written_bytes"] > SKIPPED*8192 and counted["violations"] == 0


@pytest.mark.full
@pytest.mark.guest
@pytest.mark.timeout(900)
def test_a_table_of_what_a_fault_does():
    result = subprocess.run([sys.executable, "-m", "litepcie_sim.card.faults", "ur"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-3000:]
    rows = [line.strip("| ").split(" | ") for line in result.stdout.splitlines() if line.startswith("| ")]
    cells = {row[0]: row[1:] for row in rows}
    assert cells["a read is answered with Unsupported Request"] == ["stock LitePCIe", "this project"]
    assert cells["the program"][0].startswith("stands still")  # A driver without a timeout cannot say more.
    assert cells["the program"][1].startswith("ends, status 1: ") and cells["the next program"][1] == "works"
    assert {cells[row][1] for row in ("kernel", "outside of mapped memory", "broken rules")} == {
        "no complaint", "0", "none"}
