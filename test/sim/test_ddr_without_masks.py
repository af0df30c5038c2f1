#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The whole card with memory chips without data masks: bytes that DMA and stores do not write keep their values."""

import json
import random
import subprocess

from pathlib import Path

import pytest

from test.sim import ddr_without_masks
from test.sim.scripts import HIGH, LOW, MEMORY, PREPARE, passes, random_steps, transfer

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[2]

# Every byte of the card that the scripts use is known, and is read back at the end.
FILL     = [*PREPARE, transfer("reader", *((LOW + at, at, 1 << 18) for at in range(0, MEMORY, 1 << 18)))]
GIVE     = [transfer("writer", *((HIGH + at, at, 1 << 18) for at in range(0, MEMORY, 1 << 18))), {"do": "verify"}]
LENGTHS  = (1, 2, 3, 4, 31, 63, 64, 65, 127, 500, 4095, 4096, 4097, 9001)
REORDERS = ("--reorder", "--latency-jitter-ns", "2000", "--completion-bytes", "64")


@pytest.fixture(scope="module")
def host():
    folder = ROOT / "build" / "sim_ddr_without_masks"
    assert ddr_without_masks.build(folder) == 0
    return folder / "simulator" / "litepcie_host"


# Moving bytes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("args", [(), REORDERS], ids=["order", "reorder"])
@pytest.mark.parametrize("host_offset, offset", [(0, 0), (0, 1), (3, 0), (61, 33), (4093, 63)])
def test_lengths_and_offsets(host, tmp_path, host_offset, offset, args):
    """Pieces with guard bytes around them, to the card and back."""
    places = [(n * 16384 + host_offset, n * 16384 + offset, length) for n, length in enumerate(LENGTHS, 1)]
    passes(host, tmp_path, [*FILL,
        {"do": "fill", "address": LOW, "bytes": 1 << 20, "seed": 3},
        transfer("reader", *((LOW + at, to, length) for at, to, length in places)),
        transfer("writer", *((HIGH + at, to, length) for at, to, length in places)), {"do": "verify"}, *GIVE], *args)


@pytest.mark.parametrize("args", [(), REORDERS], ids=["order", "reorder"])
def test_pieces_that_touch(host, tmp_path, args):
    """Pieces of odd lengths without gaps on the card: several of them write each line."""
    rng, at, places = random.Random(1), 5, []
    while at < 60000:
        length = rng.choice((rng.randint(1, 9), rng.randint(1, 80), rng.randint(1, 700)))
        places.append((rng.randrange(1 << 20), at, length))
        at += length
    steps = [transfer("reader", *((LOW + n, to, length) for n, to, length in places[first:first + 50]))
        for first in range(0, len(places), 50)]
    passes(host, tmp_path, [*FILL, {"do": "fill", "address": LOW, "bytes": 2 << 20, "seed": 3}, *steps, *GIVE], *args)


@pytest.mark.parametrize("args", [(), REORDERS], ids=["order", "reorder"])
def test_random_lists(host, tmp_path, args):
    """Random lists of descriptors for both engines, also at the same time."""
    for seed in (1, 2):
        passes(host, tmp_path, random_steps(seed), "--seed", str(seed), *args)


def test_window(host, tmp_path):
    """The processor stores through the window between data that the engines write."""
    window = 0x100000
    steps  = [*FILL]
    for offset, data in ((0, "a0"), (6, "c2c3"), (9, "d4d5d6"), (64, "e7" * 64), (130, "f8" * 7), (1021, "0123456789")):
        steps.append({"do": "store", "offset": window + offset, "hex": data})
        steps.append({"do": "load", "offset": window + offset - offset % 4, "bytes": 16})
    passes(host, tmp_path, [*steps, *GIVE])

# Speed --------------------------------------------------------------------------------------------


def test_speed_at_odd_offsets(host, tmp_path):
    """Consecutive completions merge into whole lines, so only the ends of a transfer are partial writes."""
    def rate(*args):
        out    = tmp_path / "out.json"
        result = subprocess.run([host, "--sequence", "read", "--length", "100000", "--iterations", "1", "--batch", "10",
            *args, "--json", out], capture_output=True, text=True, timeout=120)
        assert (result.returncode, result.stderr) == (0, "")
        return json.loads(out.read_text())["read"]["average_bytes_per_second"]
    assert rate("--host-offset", "3", "--endpoint-offset", "33") > 0.95 * rate()
