#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs many random loads that the host disturbs, on boards of both shapes of the PHY and of SEAMS, and prints what
failed.

docs/contracts/simulator.md describes the loads. Exit status: 0 if all passed, 1 if one failed or a board could not be
built.
"""

import json
import os
import re
import sys
import tempfile
import time

from pathlib import Path

from litepcie_bench import boards
from litepcie_bench.stress_boards import SEAMS
from litepcie_soc.board.user_options import build_name
from litepcie_soc.build import processes
from litepcie_soc.build.command_line import Parser, number, run
from litepcie_soc.common.pcie import RCB_BYTES

MEMORY = 1 << 20
BOARDS = [
    {"streams": 2, "channels": 2, "user_core": True},
    {"channels": 2, "gen": 1, "lanes": 1, "data_width": 64, "tags": 32},
    {"completion_space": (72, 13600)},      # The buffer of 7-series at Gen2 x4.
    {"channels": 3, "gen": 3, "lanes": 8, "data_width": 256, "phy": "split", "endianness": "little", "tags": 256},
]
AT_ONCE   = 50   # Seeds of one process.
TIMEOUT_S = 900  # For one process.

# Room that unanswered reads keep ------------------------------------------------------------------

# Tells from the TLPs of a random load whether reads without an answer kept too much of the completion buffer.
#
# A read whose completions were lost keeps their room for 67 seconds, because they may still come. While nothing else
# is outstanding, a read that does not fit beside them ends at once with TIMEOUT (docs/contracts/transaction-layer.md).
# In a buffer as small as that of a hard block this can happen in the clean run after a load, and is no fault of the
# card. It also happens if the completions come after the read was refused.

READ       = re.compile(r" < MRd\d+ length (\d+) requester 0100 tag (\w+) address 0x(\w+)")
COMPLETION = re.compile(r" > Cpl(D?)\S* length (\d+) .*status (\d) byte count (\d+) requester 0100 tag (\w+)")

# Cycles after which a read that still lacks completions is one of an earlier load: the clean run's own take hundreds.
LATE = 4000

# Events after which no completion of before can come, and no room is kept.
FREED = ("link-down", "hot-reset")


def blocks_of(address, length):
    """Blocks of one Read Completion Boundary that a read touches."""
    return -(-(address % RCB_BYTES + length)//RCB_BYTES)


def kept_and_largest(trace):
    """Returns (most blocks that unanswered reads kept, blocks of the largest read) of the lines of `--trace`.

    Kept is the room of reads without an answer at the end, or at any time that of reads sent LATE cycles earlier.
    """
    missing, kept, largest = {}, 0, 0    # By tag: address of the next byte, bytes that are missing, cycle of the read.
    for line in trace:
        cycle = int(line.split()[0])
        kept  = max(kept, sum(blocks_of(*read[:2]) for read in missing.values() if cycle - read[2] > LATE))
        if found := READ.search(line):
            address, length = int(found[3], 16), 4*int(found[1])
            missing[found[2]] = address, length, cycle
            largest = max(largest, blocks_of(address, length))
        elif (found := COMPLETION.search(line)) and found[5] in missing:
            address, length, sent = missing.pop(found[5])
            came = 4*int(found[2]) if found[1] else length
            if found[3] == "0" and came < length:
                missing[found[5]] = address + came, length - came, sent
    return max(kept, sum(blocks_of(*read[:2]) for read in missing.values())), largest


def explains(failure, trace, room):
    """Returns in words why the clean run of a load may end with TIMEOUT, or "" if it may not.

    failure : dict of `litepcie_host --stress --json`: `event`, `phase`, `message`.
    trace   : lines of `--trace` of this load.
    room    : int, blocks of the completion buffer.
    """
    if failure["phase"] != "clean run" or "stopped: TIMEOUT" not in failure["message"] or failure["event"] in FREED:
        return ""
    kept, largest = kept_and_largest(trace)
    return f"unanswered reads keep {kept} of {room} blocks, and a read needs up to {largest}" \
        if kept and kept + largest > room else ""

# Runs ---------------------------------------------------------------------------------------------


def build(options):
    """Builds a board; returns its ``litepcie_host``. Raises ``BoardError``."""
    options = {**options, "memory_size": MEMORY}
    folder  = boards.ROOT / "build" / build_name(**options)
    line    = [sys.executable, boards.ROOT / "targets" / "sim.py", "--build", "--optimize", "--output-dir", folder]
    for name, value in options.items():
        values = [] if value is True else [",".join(map(str, value)) if isinstance(value, tuple) else str(value)]
        line  += [f"--{name.replace('_', '-')}", *values]
    return built(line, folder)


def build_seams(name):
    """As `build`, for the board ``name`` of SEAMS."""
    folder = boards.ROOT / "build" / f"stress_{name}"
    return built([sys.executable, "-m", "litepcie_bench.stress_boards", name, folder], folder)


def built(line, folder):
    status, output = processes.run(line, cwd=boards.ROOT)
    if status:
        raise boards.BoardError(f"building {folder.name} failed:\n{output}")
    return folder / "simulator" / "litepcie_host"


def room_of(host):
    """Blocks of the hard block's buffer, from the name of a board's folder; None if this does not limit reads."""
    found = re.search(r"_space(\d+)x(\d+)(?!.*_fabric)", host.parents[1].name)
    return found and min(int(found[1]), int(found[2])//RCB_BYTES)


def unexplained(host, failures):
    """The failures that the room which unanswered reads keep does not explain."""
    room = room_of(host)
    if not room:
        return failures
    left = []
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace"
        for one in failures:
            processes.run([host, "--stress", "1", "--seed", str(one["seed"]), "--trace", trace], timeout=TIMEOUT_S,
                quiet=True)
            with trace.open(encoding="utf-8") as lines:
                if not explains(one, lines, room):
                    left.append(one)
    return left


def measure(job):
    """Runs the seeds of a job, (host program, first seed, number of seeds); returns what to print and the summary."""
    host, first, seeds = job
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "stress.json"
        _, text = processes.run([host, "--stress", str(seeds), "--seed", str(first), "--json", out],
            timeout=TIMEOUT_S, quiet=True)
        board = host.parents[1].name
        if not out.exists():
            return f"{board}, seeds from {first}: {text}", {}
        summary = json.loads(out.read_text())
    lines = [f"{board}: seed {one['seed']}, event {one['event']}, {one['phase']}: {one['message']}"
        for one in unexplained(host, summary["failures"])]
    return "\n".join(lines), summary


def main(argv=None):
    parser = Parser(prog="stress", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=number, default=2000, metavar="N", help="Seeds of all boards together (2000).")
    parser.add_argument("--first", type=number, default=1, metavar="SEED", help="The first seed (1).")
    args  = parser.parse_args(argv)
    if args.seeds < 1 or args.first < 0:
        parser.error(f"--seeds {args.seeds} --first {args.first}: give at least 1 seed, and a first one from 0")
    began = time.monotonic()
    try:
        hosts = [*map(build, BOARDS), *map(build_seams, SEAMS)]
    except boards.BoardError as error:
        print(f"stress: error: {error}", file=sys.stderr)
        return 1
    jobs = [(hosts[n % len(hosts)], args.first + first, min(AT_ONCE, args.seeds - first))
        for n, first in enumerate(range(0, args.seeds, AT_ONCE))]
    totals, failed = {}, []

    def done(result):
        text, summary = result
        if text:
            print(text, flush=True)
            failed.append(text)
        for name in ("seeds", "cycles", "faults", "timeouts", "unexpected_completions", "bytes", "side_bytes"):
            totals[name] = totals.get(name, 0) + summary.get(name, 0)

    boards.side_by_side(measure, jobs, os.cpu_count(), done)
    print(f"{totals['seeds']} random loads in {time.monotonic() - began:.0f} s, {len(failed)} of {len(jobs)} runs with "
        f"failures; " + ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in totals.items()))
    return 1 if failed or totals["seeds"] != args.seeds else 0


if __name__ == "__main__":
    sys.exit(run(main, "stress"))
