#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The whole card with its memory in DDR3: data and rates.

LITEPCIE_DDR=1 runs all other tests of the default board on this one.
"""

import json
import subprocess

import pytest

from test.sim.scripts import HIGH, LOW, PREPARE, passes, random_steps, transfer

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def host(build_board):
    return build_board(with_ddr=True) / "simulator" / "litepcie_host"


@pytest.mark.parametrize("args, setup", [
    ((), {}),
    (("--reorder", "--latency-jitter-ns", "2000", "--completion-bytes", "64"), {"mps": 128, "mrrs": 1024}),
])
def test_random_lists(host, tmp_path, args, setup):
    passes(host, tmp_path, random_steps(3), "--seed", "3", *args, setup=setup)


def test_complete_means_landed(host, tmp_path):
    """Reads back at once what a reader has just completed, from the same few rows, many times."""
    steps = [*PREPARE]
    for n in range(60):
        at, length = 4093 * n, 1 + 97 * n % 700
        steps.append(transfer("reader", (LOW + at, 64 * n + n % 7, length)))
        steps.append(transfer("writer", (HIGH + at, 64 * n + n % 7, length)))
    passes(host, tmp_path, [*steps, {"do": "verify"}])


def test_window_and_dma_see_the_same_memory(host, tmp_path):
    window = 0x100000
    steps  = [*PREPARE, transfer("reader", (LOW, 0, 4096))]
    for offset, data in ((0, "a0"), (6, "c2c3"), (64, "e7" * 64), (130, "f8" * 7)):
        steps.append({"do": "store", "offset": window + offset, "hex": data})
        steps.append({"do": "load", "offset": window + offset - offset % 4, "bytes": 8})
    passes(host, tmp_path, [*steps, transfer("writer", (HIGH + 5, 0, 4096)), {"do": "verify"}])


# bench/ compares this rate with block RAM's; this test only finds a loss.
def test_speed_of_the_link(host, tmp_path):
    out    = tmp_path / "out.json"
    result = subprocess.run([host, "--sequence", "read-and-write", "--length", "100000", "--iterations", "1",
        "--batch", "10", "--json", out], capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stderr) == (0, "")
    report = json.loads(out.read_text())
    shares = {direction: report[direction]["share_of_bound"] for direction in ("read", "write")}
    assert min(shares.values()) >= 0.97, shares
