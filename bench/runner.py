#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs points with the host programs, one process per processor."""

import json
import os
import subprocess
import tempfile

from dataclasses import dataclass
from pathlib import Path

from litepcie_bench import boards, lone, parallel, stock_best
from litepcie_bench.points import OURS, STOCK, UNEXTENDED_TAGS, Point
from litepcie_soc.build import processes

TIMEOUT_S = 300


@dataclass(frozen=True)
class Result:
    """Result of a point: the JSON of the host program, or the reason why there is none."""
    point:   Point
    data:    dict
    failure: str = ""


def command(point, json_path):
    """Returns the command line that measures a point."""
    line = [boards.host_program(point.board)]
    if point.phy != "soft":
        line += ["--gen", point.gen, "--lanes", point.lanes, "--clock-hz", point.clock_hz]
    line += ["--sequence", point.sequence, "--length", point.bytes, "--mps", point.mps,
        "--mrrs", point.mrrs, "--latency-ns", point.latency_ns, "--json", json_path]
    if point.sequence == "pio":
        line += ["--store-bytes", point.store]
    else:
        # One descriptor per transfer. The bound needs this: no TLP spans two descriptors.
        line += ["--descriptor-bytes", point.bytes, "--iterations", point.iterations,
            "--batch", point.batch]
    if point.direct:
        line.append("--direct")
    if point.fill:
        line.append("--count-table")
    # Completions of MPS bytes are the default.
    if point.completion and point.completion < point.mps:
        line += ["--completion-bytes", point.completion]
    return [str(word) for word in line + host_options(point)]


def host_options(point):
    """Returns the arguments for conditions of host and link that differ from the default."""
    line = []
    if point.design == OURS and point.tags == UNEXTENDED_TAGS and point.phy != "soft":
        line += ["--extended-tag", "off"]
    if point.hardware and point.hardware.crossing_ns:
        line += ["--latency-extra-ns", point.hardware.crossing_ns]
    if point.host != "ideal":
        line += ["--host", point.host]
    if point.address_bits != 32:
        line += ["--address-bits", point.address_bits]
    if point.design == STOCK and point.hardware and stock_best.safe(point.hardware, point.pending):
        line += ["--completion-headers", point.hardware.space[0], "--completion-data", point.hardware.space[1]]
    if point.hardware and point.hardware.block_width:
        line += ["--block-width", point.hardware.block_width, "--block-clock-hz", point.hardware.block_clock_hz]
    if point.update_fc != "guideline":
        line += ["--update-fc", point.update_fc]
    if point.acks != "interval" and point.phy != "soft":
        line += ["--acks", point.acks]
    if point.jitter_ns:
        line += ["--latency-jitter-ns", point.jitter_ns]
    if point.reorder:
        line.append("--reorder")
    if point.outlier_ns:
        line += ["--latency-outlier-ns", point.outlier_ns, "--latency-outlier-every",
            point.outlier_every]
    if point.lcrc_every:
        line += ["--lcrc-every", point.lcrc_every]
    return line


def measure(point):
    """Runs one point and returns its ``Result``."""
    with tempfile.TemporaryDirectory() as folder:
        path, trace = Path(folder) / "result.json", Path(folder) / "trace"
        try:
            line   = command(point, path) + (["--trace", str(trace)] if point.sweep == "lone" else [])
            status, errors = processes.run(line, timeout=TIMEOUT_S, quiet=True)
        except subprocess.TimeoutExpired:
            return Result(point, {}, f"no result after {TIMEOUT_S} s")
        except OSError as error:
            return Result(point, {}, f"{error.filename}: {error.strerror}")
        if status or not path.exists():
            lines = errors.strip().splitlines() or [f"exit status {status}"]
            return Result(point, {}, lines[0])
        data = json.loads(path.read_text())
        if point.sweep == "lone":
            data["lone"] = lone.read(trace.read_text())
        return Result(point, data)


def measure_all(points, done, waiting):
    """Returns the results in the order of ``points``; calls ``done(result)`` after each, and ``waiting(points)`` with
    those that are under way while none ends."""
    results = parallel.side_by_side(measure, points, os.cpu_count(), done, waiting)
    return [results[point] for point in points]
