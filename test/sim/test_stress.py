# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Random loads on memory channels, streams, the user's bus and the port to host memory, which the host disturbs: wrong
and late completions, resets, a lost link, few credits.

`python -m litepcie_bench.stress` runs more seeds of the same, on more boards.
"""

import json
import os
import re
import subprocess
import sys
import time

from pathlib import Path

import pytest

from litepcie_bench.stress_boards import SEAMS
from test.conftest import FULL_BOARD

SEEDS = 3  # For each event.
ROOT  = Path(__file__).resolve().parents[2]

EVENTS = ("nothing", "engine-reset", "card-reset", "bus-master-off", "function-reset", "hot-reset", "link-down")


@pytest.fixture(scope="module")
def host(build_board):
    return build_board(**FULL_BOARD) / "simulator" / "litepcie_host"


def stress(host, folder, seeds, *args):
    """Returns exit status, standard error, and the summary of the run."""
    out    = folder / "stress.json"
    result = subprocess.run([host, "--stress", str(seeds), "--json", out, *map(str, args)],
        capture_output=True, text=True, timeout=280)
    return result.returncode, result.stderr, json.loads(out.read_text())


def test_random_events(host, tmp_path):
    status, errors, summary = stress(host, tmp_path, 5)
    assert (status, errors) == (0, ""), (status, errors)
    assert sum(summary["events"].values()) == 5 and len(summary["events"]) > 2
    # The loads were disturbed indeed.
    assert summary["faults"] >= 5 and summary["bytes"] >= 5 * 100_000 and summary["side_bytes"] >= 5 * 20_000


@pytest.mark.full
@pytest.mark.parametrize("event", EVENTS)
def test_no_wrong_byte_and_no_hang(host, tmp_path, event):
    status, errors, summary = stress(host, tmp_path, SEEDS, "--stress-event", event)
    assert (status, errors) == (0, ""), (status, errors)
    assert summary["events"] == {event: SEEDS}
    assert summary["faults"] >= SEEDS
    assert summary["bytes"] >= SEEDS * 100_000
    if event in ("nothing", "engine-reset"):
        assert summary["timeouts"] >= 1 and summary["unexpected_completions"] >= 1


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SEAMS)
def test_streams_of_other_widths_and_masters_on_the_bus(tmp_path, name):
    """Narrower and wider streams, another clock, buffers of the host on a crossbar, a processor, AXI-Lite."""
    folder = ROOT / "build" / f"stress_{name}"
    built  = subprocess.run([sys.executable, "-m", "litepcie_bench.stress_boards", name, folder], cwd=ROOT,
        capture_output=True, text=True)
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    status, errors, summary = stress(folder / "simulator" / "litepcie_host", tmp_path, 17)
    assert (status, errors) == (0, ""), (status, errors)
    assert summary["side_bytes"] >= 17 * 20_000


@pytest.mark.full
@pytest.mark.parametrize("event", ["function-reset", "nothing", "link-down"])
def test_without_faults(host, tmp_path, event):
    """Only the event, on a host whose latency, order and splits are random."""
    status, errors, summary = stress(host, tmp_path, 3, "--stress-event", event, "--stress-fault", "none")
    assert (status, errors) == (0, "")
    assert (summary["faults"], summary["timeouts"]) == (0, 0)
    # A reset of the function ends requests whose completions come nevertheless.
    assert summary["unexpected_completions"] == 0 or event == "function-reset"


@pytest.mark.search
@pytest.mark.timeout(0)
def test_random_search(host, tmp_path):
    """Other seeds, for a quarter of the time of `make search`."""
    seed, end = int(os.environ["LITEPCIE_SEARCH_SEED"]), time.monotonic() + int(os.environ["LITEPCIE_SEARCH_SECONDS"])/4
    while time.monotonic() < end:
        status, errors, _ = stress(host, tmp_path, 20, "--seed", seed)
        assert (status, errors) == (0, ""), f"--stress 20 --seed {seed}: status {status}: {errors}"
        seed += 20


QUIET = ("--stress-event", "nothing", "--stress-fault", "none")


def test_one_wrong_bit_is_found(host, tmp_path):
    """A completion of the clean run has one wrong bit, which no rule of PCI Express forbids."""
    status, errors, summary = stress(host, tmp_path, 2, *QUIET, "--inject", "wrong@60")
    assert status == 1 and len(summary["failures"]) == 2
    # One in a descriptor stops the engine, or moves other bytes than the host described.
    found = ("wrong data: ", "stopped: ", "status block reports", "hang: ")
    assert all(any(text in failure["message"] for text in found) for failure in summary["failures"])
    assert sum("; 1 bytes of it are wrong" in failure["message"] for failure in summary["failures"]) >= 1


def test_hang_is_reported_with_seed_and_state(host, tmp_path):
    status, errors, summary = stress(host, tmp_path, 2, *QUIET, "--seed", 70, "--stress-limit", 500)
    assert status == 1
    assert [(failure["seed"], failure["phase"]) for failure in summary["failures"]] == [(70, "set-up"), (71, "set-up")]
    assert errors.count("hang: an engine is neither complete nor stopped after 500 cycles") == 2
    assert re.search(r"link up, \d+ requests of the card outstanding\n  reader0: 1 of 1 slots posted, 0 reported, "
        r"reason NONE; registers: control 0x1", errors)


@pytest.mark.full
def test_seed_repeats_the_run(host, tmp_path):
    """A seed does the same alone as among others."""
    gave = [stress(host, tmp_path, seeds, "--seed", seed, "--stress-fault", "none", "--stress-event", "engine-reset")[2]
        for seeds, seed in ((1, 6), (1, 5), (2, 5))]
    assert gave[0]["cycles"] + gave[1]["cycles"] == gave[2]["cycles"]
