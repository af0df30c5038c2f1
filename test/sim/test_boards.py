#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Whole cards of other widths, PHYs and memories than the default board: data and rates.

LITEPCIE_DDR=1 runs all tests of the default board on the one with DDR3.
"""

import json
import random
import subprocess

from pathlib import Path

import pytest

from test.sim import ddr_without_masks
from test.sim.scripts import (
    HIGH, LOW, MEMORY, PREPARE, REORDER, SLOW_BOARD, WIDE_BOARD, passes, random_steps, transfer)

pytestmark = pytest.mark.full

ROOT   = Path(__file__).resolve().parents[2]
BOARDS = {
    "64":   SLOW_BOARD,
    "256":  {"gen": 3, "lanes": 8, "data_width": 256},
    "512":  WIDE_BOARD,      # Split and little-endian, as UltraScale.
    "ddr":  {"with_ddr": True},
    # 512 bit: bytes that DMA and stores do not write keep their values.
    "ddr without masks": None}

# Lengths and offsets near the sizes of words, payloads and pages.
LENGTHS = (1, 3, 4, 31, 32, 33, 52, 63, 64, 65, 128, 255, 256, 257, 500, 4095, 4096, 4097, 9000)
OFFSETS = ((0, 0), (1, 2), (3, 0), (4, 60), (63, 1), (4093, 33))

# Every byte of the card that the scripts use is known, and is read back at the end.
FILL = [*PREPARE, transfer("reader", *((LOW + at, at, 1 << 18) for at in range(0, MEMORY, 1 << 18)))]
GIVE = [transfer("writer", *((HIGH + at, at, 1 << 18) for at in range(0, MEMORY, 1 << 18))), {"do": "verify"}]


@pytest.fixture(scope="module", params=BOARDS)
def host(request, build_board):
    """Path of `litepcie_host` of each board."""
    folder = ROOT / "build" / "sim_ddr_without_masks"
    if BOARDS[request.param]:
        folder = build_board(**BOARDS[request.param])
    else:
        assert ddr_without_masks.build(folder) == 0
    return folder / "simulator" / "litepcie_host"


def test_lengths_and_alignments(host, tmp_path):
    """Pieces with guard bytes around them, to the card and back."""
    steps = list(FILL)
    for seed, (h, e) in enumerate(OFFSETS, 3):
        places = [(i * 16384 + h, i * 16384 + e, length) for i, length in enumerate(LENGTHS)]
        steps += [{"do": "fill", "address": LOW, "bytes": 1 << 20, "seed": seed},
            transfer("reader", *((LOW + at, to, length) for at, to, length in places)),
            transfer("writer", *((HIGH + at, to, length) for at, to, length in places))]
    passes(host, tmp_path, [*steps, *GIVE], setup={"mps": 512, "mrrs": 4096})


@pytest.mark.parametrize("seed, args, setup", [(1, (), {}), (2, REORDER, {"mps": 128, "mrrs": 1024})])
def test_random_lists(host, tmp_path, seed, args, setup):
    passes(host, tmp_path, random_steps(seed), "--seed", str(seed), *args, setup=setup)


def test_pieces_that_touch(host, tmp_path):
    """Pieces of odd lengths without gaps on the card: several of them write each line of the memory."""
    rng, at, places = random.Random(1), 5, []
    while at < 60000:
        length = rng.choice((rng.randint(1, 9), rng.randint(1, 80), rng.randint(1, 700)))
        places.append((rng.randrange(1 << 20), at, length))
        at += length
    steps = [transfer("reader", *((LOW + n, to, length) for n, to, length in places[first:first + 50]))
        for first in range(0, len(places), 50)]
    passes(host, tmp_path, [*FILL, {"do": "fill", "address": LOW, "bytes": 2 << 20, "seed": 3}, *steps, *GIVE],
        *REORDER)


def test_complete_means_landed(host, tmp_path):
    """Reads back at once what a reader has just completed, from the same few rows, many times."""
    steps = [*PREPARE]
    for n in range(60):
        at, length = 4093 * n, 1 + 97 * n % 700
        steps.append(transfer("reader", (LOW + at, 64 * n + n % 7, length)))
        steps.append(transfer("writer", (HIGH + at, 64 * n + n % 7, length)))
    passes(host, tmp_path, [*steps, {"do": "verify"}])


def test_window(host, tmp_path):
    """The processor stores through the window between data that the engines write."""
    window, steps = 0x100000, [*FILL]
    for offset, data in ((0, "a0"), (6, "c2c3"), (9, "d4d5d6"), (64, "e7" * 64), (130, "f8" * 7), (1021, "0123456789")):
        steps.append({"do": "store", "offset": window + offset, "hex": data})
        steps.append({"do": "load", "offset": window + offset - offset % 4, "bytes": 16})
    steps += [{"do": "load", "offset": window + offset, "bytes": size}
        for offset, size in ((1, 1), (5, 3), (3, 61), (64, 128))]
    passes(host, tmp_path, [*steps, *GIVE])


def measured(host, folder, sequence, *args):
    out    = folder / "out.json"
    result = subprocess.run([host, "--sequence", sequence, "--length", "100000", "--iterations", "1", "--batch", "10",
        *args, "--json", out], capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(out.read_text())


# bench/ measures the speed of all shapes; this test notices when it gets worse.
def test_speed_at_odd_offsets(host, tmp_path):
    """Consecutive completions merge into whole lines, so only the ends of a transfer are partial writes."""
    offsets = ("--host-offset", "3", "--endpoint-offset", "33")
    if "without_masks" in str(host):    # Slower than its link: the memory runs at five eighths of the card's clock.
        odd, even = (measured(host, tmp_path, "read", *args)["read"]["average_bytes_per_second"]
            for args in (offsets, ()))
        assert odd > 0.95*even
    else:
        report = measured(host, tmp_path, "read-and-write", *offsets)
        shares = {direction: report[direction]["share_of_bound"] for direction in ("read", "write")}
        assert min(shares.values()) >= 0.97, shares
