#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs points with the host programs, one process per processor, and measures the speed of the simulator itself."""

import json
import os
import platform
import subprocess
import tempfile

from dataclasses import dataclass
from pathlib import Path

from litepcie_bench import boards, figures
from litepcie_bench.points import OURS, STOCK, UNEXTENDED_TAGS, Point, SimulatedBoard
from litepcie_bench.waits import read_lone
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
    if point.design == STOCK and point.hardware and figures.safe(point.hardware, point.pending):
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
            data["lone"] = read_lone(trace.read_text())
        return Result(point, data)


def measure_all(points, done, waiting):
    """Returns the results in the order of ``points``; calls ``done(result)`` after each, and ``waiting(points)`` with
    those that are under way while none ends."""
    results = boards.side_by_side(measure, points, os.cpu_count(), done, waiting)
    return [results[point] for point in points]

# Speed of the simulator on one core, and the machine that ran it ----------------------------------

SPEED_BOARD     = SimulatedBoard(OURS, 128)
SPEED_GOAL      = 1.5e6   # Cycles in a second.
SPEED_RUNS      = 5       # The best counts: others only disturb.
SPEED_TIMEOUT_S = 60


@dataclass(frozen=True)
class Speed:
    """cycles : in a second of the processor's time; machine : its processor; load : processes that wanted to run."""
    cycles:  float
    machine: str
    load:    float

    def __str__(self):
        return f"simulator: {self.cycles/1e6:.2f} M cycles per second of one core, default board, both directions at " \
            f"once, best of {SPEED_RUNS} runs (goal {SPEED_GOAL/1e6:g}); {self.machine}, load {self.load:.1f}"


def machine(cpuinfo=Path("/proc/cpuinfo")):
    """Returns the name of the processor and how many there are."""
    try:
        names = [line.partition(":")[2].strip() for line in cpuinfo.read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")]
    except OSError:
        names = []
    return f"{names[0] if names else platform.machine()} x {os.cpu_count()}"


def measure_speed():
    """Returns the ``Speed``, or None if the default board is not built or does not run."""
    program = boards.host_program(SPEED_BOARD)
    if not program.exists():
        return None
    found = []
    with tempfile.TemporaryDirectory() as folder:
        stats = Path(folder) / "stats.json"
        line  = [program, "--sequence", "read-and-write", "--iterations", 1, "--batch", 40, "--stats", stats]
        load  = os.getloadavg()[0]
        for _ in range(SPEED_RUNS):
            status, _ = processes.run([str(word) for word in line], timeout=SPEED_TIMEOUT_S, quiet=True)
            if status:
                return None
            found.append(json.loads(stats.read_text(encoding="utf-8"))["cycles_per_processor_second"])
    return Speed(max(found), machine(), load)
