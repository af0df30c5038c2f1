#!/usr/bin/env python3
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Prints what each way to take a stream reaches by itself: the table of docs/capture.md.

    build/venv/bin/python -m tools.capture_rates [SECONDS]

On the mock card, whose stream always has packets of 64 KiB of random bytes: no driver, no link, no disk. Files are in
/dev/shm. The median of five runs of SECONDS (2) each.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile

from pathlib import Path

from tools import mock_card

RUNS   = 5
RECORD = (sys.executable, "-m", "liblitepcie.capture", "record")

# Reads arrays of samples of 16 bits for so many seconds.
SAMPLES = """
import sys, time
from liblitepcie import Card
moved, began = 0, time.monotonic()
with Card(0) as card, card.stream(0, "r") as stream:
    for array in stream.samples("<i2"):
        moved += array.nbytes
        if time.monotonic() - began > float(sys.argv[1]):
            break
print(f"{moved/(time.monotonic() - began)/1e6:.1f} MB/s")
"""

WAYS = [
    ("read(), 64 KiB",            lambda file, time: ("litepcie_util", "stream", "record", "--file", "/dev/null",
        "--time", time)),
    ("Python, arrays of samples", lambda file, time: (sys.executable, "-c", SAMPLES, time)),
    ("Python, bytes in a file",   lambda file, time: (*RECORD, file, "--time", time)),
    ("Parquet",                   lambda file, time: (*RECORD, f"{file}.parquet", "--time", time, "--compression",
        "none")),
    ("Parquet, zstd",             lambda file, time: (*RECORD, f"{file}.parquet", "--time", time)),
]


def rate(command, environment):
    """The last rate in MB/s that a command prints."""
    said = subprocess.run(command, env=environment, capture_output=True, text=True)
    rates = re.findall(r"([\d.]+) MB/s", said.stdout + said.stderr)
    if said.returncode or not rates:
        sys.exit(f"capture_rates: {' '.join(map(str, command))}: {(said.stderr or said.stdout).strip()}")
    return float(rates[-1])


def main(seconds="2"):
    mock_card.prepare()
    environment = mock_card.environment()
    print(f"{os.cpu_count()} processors; median of {RUNS} runs of {seconds} s")
    for name, command in WAYS:
        rates = []
        for _ in range(RUNS):
            with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
                rates.append(rate(command(Path(folder) / "samples", seconds), environment))
        print(f"{name:<26} {statistics.median(rates):7.0f} MB/s  ({min(rates):.0f} to {max(rates):.0f})")


if __name__ == "__main__":
    main(*sys.argv[1:])
