#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs points with the host programs, in as many processes as there are processors."""

import json
import os
import subprocess
import tempfile

from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from litepcie_bench import boards
from litepcie_bench.points import Point

TIMEOUT_S = 300


@dataclass(frozen=True)
class Result:
    """What a host program said of a point: its JSON, or why there is none."""
    point:   Point
    data:    dict
    failure: str = ""


def command(point, json_path):
    """Arguments that measure a point."""
    line = [boards.host_program(point.design, point.width),
        "--gen", point.gen, "--lanes", point.lanes, "--clock-hz", point.clock_hz,
        "--sequence", point.sequence, "--length", point.bytes, "--mps", point.mps,
        "--mrrs", point.mrrs, "--latency-ns", point.latency_ns, "--json", json_path]
    if point.sequence == "pio":
        line += ["--store-bytes", point.store]
    else:
        # One descriptor a transfer; said, for the bound to know that no TLP spans two.
        line += ["--descriptor-bytes", point.bytes, "--iterations", point.iterations,
            "--batch", point.batch]
    if point.fill:
        line.append("--count-table")
    # Completions of 256 bytes are those that MPS allows.
    if point.completion and point.completion < point.mps:
        line += ["--completion-bytes", point.completion]
    return [str(word) for word in line]


def measure(point):
    """Runs one point."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.json"
        try:
            done = subprocess.run(command(point, path), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return Result(point, {}, f"not over after {TIMEOUT_S} s")
        if done.returncode or not path.exists():
            lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            return Result(point, {}, lines[0])
        return Result(point, json.loads(path.read_text()))


def measure_all(points, done):
    """Results in the order of ``points``; calls ``done(result)`` as each comes."""
    results = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(measure, point) for point in points]
        try:
            for job in as_completed(jobs):
                result = job.result()
                results[result.point] = result
                done(result)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [results[point] for point in points]
