#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tests of the whole card with a split, little-endian PHY like that of UltraScale, and with 512 bit."""

import json
import subprocess

import pytest

from test.sim.scripts import HIGH, LOW, PREPARE, WIDE_BOARD, chosen, passes, random_steps, transfer

SHAPES = {"256": {**WIDE_BOARD, "data_width": 256, "tags": 64}, "512": WIDE_BOARD}
FULL   = pytest.mark.full

# Lengths and offsets near the sizes of words, payloads and pages.
LENGTHS = (1, 3, 4, 31, 32, 33, 52, 63, 64, 65, 128, 255, 256, 257, 500, 4095, 4096, 4097, 9000)
OFFSETS = ((0, 0), (1, 2), (3, 0), (4, 60), (63, 1), (4093, 33))


@pytest.fixture(scope="module", params=[pytest.param(name, marks=FULL) for name in SHAPES])
def host(request, build_board):
    """Path of `litepcie_host` of each board."""
    return build_board(**SHAPES[request.param]) / "simulator" / "litepcie_host"

# Moving bytes -------------------------------------------------------------------------------------

@pytest.mark.parametrize("setup", [{"mps": 128, "mrrs": 512}, {"mps": 512, "mrrs": 4096}])
def test_lengths_and_alignments(host, tmp_path, setup):
    steps = list(PREPARE)
    for h, e in OFFSETS:
        places = [(i * 16384 + h, i * 16384 + e, length) for i, length in enumerate(LENGTHS)]
        steps.append(transfer("reader", *((LOW + at, to, length) for at, to, length in places)))
        steps.append(transfer("writer", *((HIGH + at, to, length) for at, to, length in places)))
    passes(host, tmp_path, [*steps, {"do": "verify"}], setup=setup)


REORDER = ("--reorder", "--latency-jitter-ns", "2000", "--completion-bytes", "64")


@pytest.mark.parametrize("seed, args", [(1, ()), (1, REORDER), (2, ()), (2, REORDER)])
def test_random_lists(host, tmp_path, seed, args):
    passes(host, tmp_path, random_steps(seed), "--seed", str(seed), *args)


def test_window(host, tmp_path):
    """Byte enables of the processor's accesses, whose effects the engines then read."""
    window = 0x100000
    steps  = [*PREPARE, transfer("reader", (LOW, 0, 8192))]
    for offset, data in ((0, "a0"), (6, "c2c3"), (9, "d4d5d6"), (64, "e7" * 64), (130, "f8" * 7)):
        steps.append({"do": "store", "offset": window + offset, "hex": data})
    steps += [{"do": "load", "offset": window + offset, "bytes": size}
        for offset, size in ((0, 4), (1, 1), (5, 3), (0, 8), (3, 61), (64, 128), (4000, 96))]
    passes(host, tmp_path, [*steps, transfer("writer", (HIGH + 5, 0, 8192)), {"do": "verify"}])

# Faults -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("fault, reason", chosen([("poison", "POISONED")],
    [("ur", "UNSUPPORTED_REQUEST"), ("poison", "POISONED"), ("ca", "COMPLETER_ABORT")]))
def test_fault_stops_with_its_reason(host, tmp_path, fault, reason):
    read = transfer("reader", (LOW, 0, 4096), (LOW + 8192, 4096, 4096))
    passes(host, tmp_path, [*PREPARE,
        {"do": "inject", "fault": f"{fault}@17"},
        {**read, "reason": reason},
        {"do": "verify"},
        {"do": "configure", "engine": "reader"},
        read, transfer("writer", (HIGH, 0, 8192)),
        {"do": "verify"},
    ])

# Speed --------------------------------------------------------------------------------------------

# bench/ measures the speed of all shapes; this test notices when it gets worse.
@pytest.mark.parametrize("address_bits", ["64", pytest.param("32", marks=FULL)])
def test_speed_of_the_link(host, tmp_path, address_bits):
    out    = tmp_path / "out.json"
    result = subprocess.run([host, "--sequence", "read-and-write", "--length", "100000", "--iterations", "1",
        "--batch", "10", "--address-bits", address_bits, "--json", out], capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stderr) == (0, "")
    report = json.loads(out.read_text())
    shares = {direction: report[direction]["share_of_bound"] for direction in ("read", "write")}
    assert min(shares.values()) >= 0.97, shares
