# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The whole card with scripts of litepcie_host, some of them on boards of other widths, PHYs and memories.

LITEPCIE_DDR=1 runs all tests of the default board on the one with DDR3.
"""

import itertools
import random

from pathlib import Path

import pytest

from litepcie_soc.soc import identity
from test.sim import ddr_without_masks
from test.sim.scripts import (HIGH, LOW, MEMORY, PREPARE, REORDER, SLOW_BOARD, WIDE_BOARD, chosen, do,
    measured, passes, random_steps, run_script, transfer)

# Registers of litepcie_regs.h.
TIMEOUT_US, READER, WRITER = 0x0030, 0x1000, 0x1800
STATUS, SCRATCH, IDLE      = 0x04, 0x28, 2
ERRORS = {"UNSUPPORTED_REQUEST": 0x800, "COMPLETER_ABORT": 0x804, "POISONED": 0x808,
    "UNEXPECTED": 0x80c, "TIMEOUT": 0x810, "BAD_LENGTH": 0x814}


ROOT   = Path(__file__).resolve().parents[2]
BOARDS = {
    "default": {},
    "64":   SLOW_BOARD,
    "256":  {"gen": 3, "lanes": 8, "data_width": 256},
    "512":  WIDE_BOARD,      # Split and little-endian, as UltraScale.
    "ddr":  {"with_ddr": True},
    # 512 bit: bytes that DMA and stores do not write keep their values.
    "ddr without masks": None}


@pytest.fixture(scope="module", params=[pytest.param(name, marks=pytest.mark.full) if name != "default" else name
    for name in BOARDS])
def any_host(request, board, build_board):
    """Path of `litepcie_host` of each board."""
    options, folder = BOARDS[request.param], board
    if options is None:
        folder = ROOT / "build" / "sim_ddr_without_masks"
        assert ddr_without_masks.build(folder) == 0
    elif options:
        folder = build_board(**options)
    return folder / "simulator" / "litepcie_host"


# Every byte of the card that the scripts use is known, and is read back at the end.
FILL = [*PREPARE, transfer("reader", *((LOW + at, at, 1 << 18) for at in range(0, MEMORY, 1 << 18)))]
GIVE = [transfer("writer", *((HIGH + at, at, 1 << 18) for at in range(0, MEMORY, 1 << 18))), do("verify")]

HOSTS = {
    "reorder":  (REORDER, {}),
    "slow":     (("--latency-ns", "4000", "--rcb", "128"), {"mps": 512, "mrrs": 4096}),
    "small":    (("--latency-ns", "300", "--reorder"), {"mps": 128, "mrrs": 128}),
    "noisy":    (("--lcrc-every", "7", "--update-fc", "minimum", "--latency-outlier-ns", "20000",
                  "--latency-outlier-every", "50"), {}),
    "few tags": (("--latency-ns", "100", "--completion-bytes", "64"),
                 {"mps": 128, "mrrs": 1024, "extended_tag": False})}


@pytest.mark.parametrize("seed, options", chosen([(0, "reorder"), (2, "few tags")],
    list(enumerate(("reorder", "noisy", "few tags", "small", "slow")))))
def test_random_lists(any_host, tmp_path, options, seed):
    args, setup = HOSTS[options]
    passes(any_host, tmp_path, random_steps(seed), "--seed", str(seed), *args, setup=setup)


# Near the sizes of words, payloads and pages.
LENGTHS = (1, 2, 3, 4, 31, 33, 63, 64, 65, 255, 257, 4095, 4096, 4097)


def test_lengths_and_alignments(any_host, tmp_path):
    """Pieces with guard bytes around them, to the card and back."""
    steps   = list(FILL)
    offsets = itertools.product((0, 1, 2, 3, 61, 4093), (0, 1, 2, 3, 15))
    for seed, (host_offset, endpoint_offset) in enumerate(offsets, 3):
        places = [(i * 8192 + host_offset, i * 8192 + endpoint_offset, length) for i, length in enumerate(LENGTHS)]
        steps += [do("fill", address=LOW, bytes=1 << 17, seed=seed),
            transfer("reader", *((LOW + h, e, length) for h, e, length in places)),
            transfer("writer", *((HIGH + h, e, length) for h, e, length in places))]
    passes(any_host, tmp_path, [*steps, *GIVE], setup={"mps": 512, "mrrs": 4096})


@pytest.mark.full
def test_largest_descriptor(host, tmp_path):
    length = 4 << 20
    passes(host, tmp_path, [*PREPARE,
        transfer("reader", (LOW, 0, length)), transfer("writer", (HIGH, 0, length)), do("verify")])


TRANSFER = transfer("reader", (LOW, 0, 4096), (LOW + 8192, 4096, 4096))

FAULTS = {"ur": "UNSUPPORTED_REQUEST", "ca": "COMPLETER_ABORT", "poison": "POISONED", "drop": "TIMEOUT",
    "late": "TIMEOUT", "short": "BAD_LENGTH", "duplicate": "BAD_LENGTH"}


def clean_restart():
    """Returns steps that start the engine again after a stop, and check a transfer."""
    return [do("configure", engine="reader"), TRANSFER, transfer("writer", (HIGH, 0, 8192)), do("verify")]


# Completion 1 answers the descriptor fetch; completions 2 to 33 are the data.
@pytest.mark.parametrize("faults, args", [
    ("ur@1 duplicate@2 ur@17 ca@17 poison@17 drop@17 late@17 short@17", ()),
    pytest.param("drop@9 ur@33 ca@33 poison@33 drop@33 late@33 short@33", ("--reorder", "--latency-jitter-ns", "500"),
        marks=pytest.mark.full),
], ids=["order", "reorder"])
def test_faults_stop_with_their_reasons(host, tmp_path, faults, args):
    steps = [*PREPARE, do("write_register", offset=TIMEOUT_US, value=20),
        do("run", cycles=80000),  # The step of the timer that began with the old timeout ends.
    ]
    reasons = [FAULTS[fault.split("@")[0]] for fault in faults.split()]
    for n, (fault, reason) in enumerate(zip(faults.split(), reasons), 1):
        steps += [do("configure", engine="reader"), do("inject", fault=fault),
            {**TRANSFER, "reason": reason}, do("verify"),
            do("read_register", offset=ERRORS[reason], expect=reasons[:n].count(reason)),
            do("run", cycles=20000),  # Late completions arrive in this time.
            *clean_restart()]
    moved = [step for step in passes(host, tmp_path, steps, *args) if "interrupts" in step]
    stops = [n for n, step in enumerate(moved) if step["reason"] != "NONE"]
    assert [moved[n]["reason"] for n in stops] == reasons
    assert all(moved[n]["completed"] <= 1 for n in stops), moved
    since = [moved[n]["interrupts"] - (moved[n - 1]["interrupts"] if n else 0) for n in stops]
    assert since == [1]*len(stops), moved


def test_duplicate_of_a_last_completion_changes_nothing(host, tmp_path):
    passes(host, tmp_path, [*PREPARE, do("inject", fault="duplicate@17"), TRANSFER,
        do("read_register", offset=ERRORS["UNEXPECTED"], expect=1), transfer("writer", (HIGH, 0, 8192)), do("verify")])


def test_outside_host_memory(host, tmp_path):
    """Reads are refused. Writes are lost, and the card does not notice, as on a real machine."""
    status, errors, _ = run_script(host, tmp_path, [*PREPARE,
        {**transfer("reader", (0x50000000, 0, 64)), "reason": "UNSUPPORTED_REQUEST"},
        transfer("writer", (0x50000000, 0, 64)), do("verify"), *clean_restart()])
    assert status == 0
    assert errors.count("outside a live mapping: address 0x50000000, 64 bytes") == 2


def test_window_and_dma_see_the_same_memory(any_host, tmp_path):
    """The processor stores through the window between data that the engines write."""
    window, steps = 0x100000, [*FILL]
    for offset, size in ((0, 4), (1, 1), (2, 2), (5, 3), (0, 8), (0, 64), (3, 61), (64, 128), (4000, 96)):
        steps.append(do("load", offset=window + offset, bytes=size))
    for offset, data in ((0, "a0"), (1, "b1"), (6, "c2c3"), (9, "d4d5d6"), (64, "e7" * 64), (130, "f8" * 7),
            (1021, "0123456789")):
        steps += [do("store", offset=window + offset, hex=data),
            do("load", offset=window + offset - offset % 4, bytes=16)]
    passes(any_host, tmp_path, [*steps, *GIVE])


@pytest.mark.full
def test_pieces_that_touch(any_host, tmp_path):
    """Pieces of odd lengths without gaps on the card: several of them write each line of the memory."""
    rng, at, places = random.Random(1), 5, []
    while at < 60000:
        length = rng.choice((rng.randint(1, 9), rng.randint(1, 80), rng.randint(1, 700)))
        places.append((rng.randrange(1 << 20), at, length))
        at += length
    steps = [transfer("reader", *((LOW + n, to, length) for n, to, length in places[first:first + 50]))
        for first in range(0, len(places), 50)]
    passes(any_host, tmp_path, [*FILL, do("fill", address=LOW, bytes=2 << 20, seed=3), *steps, *GIVE], *REORDER)


@pytest.mark.full
def test_complete_means_landed(any_host, tmp_path):
    """Reads back at once what a reader has just completed, from the same few rows, many times."""
    steps = [*PREPARE]
    for n in range(60):
        at, length = 4093 * n, 1 + 97 * n % 700
        steps.append(transfer("reader", (LOW + at, 64 * n + n % 7, length)))
        steps.append(transfer("writer", (HIGH + at, 64 * n + n % 7, length)))
    passes(any_host, tmp_path, [*steps, do("verify")])


@pytest.mark.full
def test_speed_at_odd_offsets(any_host, tmp_path):
    """Consecutive completions merge into whole lines, so only the ends of a transfer are partial writes.

    bench/ measures the speed of all shapes; this test notices when it gets worse.
    """
    fixed   = ("--length", 100000, "--iterations", 1, "--batch", 10, "--sequence")
    offsets = ("--host-offset", 3, "--endpoint-offset", 33)
    if "without_masks" in str(any_host):    # Slower than its link: the memory runs at five eighths of the card's clock.
        odd, even = (measured(any_host, tmp_path, *fixed, "read", *args)["read"]["average_bytes_per_second"]
            for args in (offsets, ()))
        assert odd > 0.95*even
    else:
        report = measured(any_host, tmp_path, *fixed, "read-and-write", *offsets)
        assert min(report[direction]["share_of_bound"] for direction in ("read", "write")) >= 0.97, report


def registers_are_initial():
    """Steps that read every register the host can write, and every counter."""
    for base in (READER, WRITER):
        for offset in range(0, 26*4, 4):
            yield do("read_register", offset=base + offset, expect=IDLE if offset == STATUS else 0)
    yield do("read_register", offset=SCRATCH, expect=0)
    yield do("read_register", offset=TIMEOUT_US, expect=identity.TIMEOUT_US)


def pieces(size, count=8):
    return [{"host": HIGH + i*size, "endpoint": i*size, "length": size} for i in range(count)]


CLEAN_RUN = [do("configure", engine="reader"), do("configure", engine="writer"),
    transfer("reader", (LOW + 1, 3, 20000)), transfer("writer", (HIGH + 5, 3, 20000)), do("verify")]
BOTH   = ("reader", "writer")
# What it stops, and the step.
RESETS = {"reader": (("reader",), do("reset_engine", engine="reader")), "card": (BOTH, do("reset_card")),
    "writer": (("writer",), do("reset_engine", engine="writer")), "function level reset": (BOTH, do("function_reset")),
    "link down": (BOTH, do("link_down", cycles=40))}


@pytest.mark.parametrize("cycles, reset", chosen(
    [(150, "reader"), (300, "writer"), (200, "card"), (150, "function level reset"), (700, "link down")],
    [(150, "reader"), (300, "writer"), (200, "card"), (150, "function level reset"), (700, "link down"),
        (1500, "function level reset"), (10, "link down")]))
def test_reset_in_the_middle(host, tmp_path, cycles, reset):
    """No engine runs after it, no register of the function remembers, and the next transfer is right."""
    engines, step = RESETS[reset]
    passes(host, tmp_path, [*PREPARE, do("write_register", offset=SCRATCH, value=0x12345678),
        do("write_register", offset=TIMEOUT_US, value=500),
        do("configure", engine="reader", moderation_count=3, moderation_us=50), transfer("reader", (LOW, 0, 65536)),
        *(do("post", engine=engine, descriptors=pieces(8192)) for engine in engines),
        *(do("doorbell", engine=engine) for engine in engines), do("run", cycles=cycles), step,
        # The engines must not write any more.
        do("fill", address=HIGH, bytes=65536, seed=9), do("run", cycles=20000), do("verify"),
        *(registers_are_initial() if reset in ("function level reset", "link down") else ()), *CLEAN_RUN])


def test_function_level_reset_does_not_wait_for_completions(host, tmp_path):
    results = passes(host, tmp_path, [*PREPARE, do("inject", fault="drop@3"),
        do("post", engine="reader", descriptors=pieces(8192)),
        do("doorbell", engine="reader"), do("run", cycles=2000), do("function_reset"), *CLEAN_RUN])
    before, after = (step["cycle"] for step in results if step["do"] in ("run", "function_reset"))
    assert after - before < 10000


# Errors that the card finds reach Device Status and AER (PCIe 4.0 7.5.3.5, 7.8.4), each in its own bit.
DEVICE_STATUS = 0x6a
UNCORRECTABLE, CORRECTABLE, CORRECTABLE_MASK = 0x104, 0x110, 0x114
POISONED, COMPLETION_TIMEOUT, UNEXPECTED_COMPLETION = (1 << bit for bit in (12, 14, 16))
ADVISORY      = 1 << 13                 # Advisory Non-Fatal Error.
CED           = 1                       # Correctable Error Detected.


def reported(error, device_status=CED):
    """Steps that read which errors the card reported."""
    return [do("config_read", offset=DEVICE_STATUS, bytes=2, expect=device_status),
        do("config_read", offset=UNCORRECTABLE, bytes=4, expect=error),
        do("config_read", offset=CORRECTABLE, bytes=4, expect=ADVISORY if error else 0)]


def test_errors_are_reported(host, tmp_path):
    """With MRRS 128 each request has one completion, and a duplicate is unexpected. Advisory errors are not masked."""
    steps = [*PREPARE, do("config_write", offset=CORRECTABLE_MASK, value=0, bytes=4),
        do("write_register", offset=TIMEOUT_US, value=100)]
    for fault, reason, error in (
        ("ur@5",        "UNSUPPORTED_REQUEST", 0),      # An error of the completer, which reports it.
        ("poison@5",    "POISONED",            POISONED),
        ("drop@5",      "TIMEOUT",             COMPLETION_TIMEOUT),
        ("duplicate@2", None,                  UNEXPECTED_COMPLETION)):
        steps += [*reported(0, 0), do("inject", fault=fault),
            transfer("reader", (LOW, 0, 4096), **({"reason": reason} if reason else {})),
            *reported(error, CED if error else 0),
            # Writing a one clears a bit.
            *(do("config_write", offset=offset, value=0xffffffff, bytes=4)
                for offset in (UNCORRECTABLE, CORRECTABLE)),
            do("config_write", offset=DEVICE_STATUS, value=0xf, bytes=2), do("configure", engine="reader")]
    passes(host, tmp_path, steps, setup={"mps": 128, "mrrs": 128})
