#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""`make bench BENCH=--guest`: measures all points, prints them and writes guest.json."""

import json
import sys

from rich.table import Table

from litepcie_bench                import boards, summary
from litepcie_bench.guest_measure  import CARD, COUNTS, FLOOR, Counter, points
from litepcie_bench.progress       import Progress
from litepcie_soc.build            import processes
from litepcie_soc.build.simulation import build_name

TEXT_KEYS   = ("design", "source", "device", "interface", "sequence")
NUMBER_KEYS = ("transfer_bytes", "depth", "callers", "iterations", *COUNTS, "interrupts", "copied_bytes")

# What the driver must reach for an operation of 4 KiB at depth 32.
MOST_INSTRUCTIONS = 8000


def instructions(record):
    """Instructions of an operation, in the program and in the kernel."""
    return record["program_instructions"] + record["kernel_instructions"]


def check(record):
    """Raises ``ValueError`` if ``record`` is not a valid record."""
    for key, value in record.items():
        if key not in TEXT_KEYS + NUMBER_KEYS:
            raise ValueError(f"{key}: unknown key of a record")
        if key in NUMBER_KEYS and (isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0):
            raise ValueError(f"{key}: {value!r} is not a measured number")
    if record.get("device") not in (CARD, FLOOR) or record.get("sequence") not in ("read", "write"):
        raise ValueError(f"device or sequence: {record}")


def _key(record):
    return tuple(record[name] for name in ("interface", "transfer_bytes", "depth", "callers", "sequence"))


def rows(records):
    """Returns the cells of the table as text: a row for each point of the card, with its floor."""
    floor = {_key(record): record for record in records if record["device"] == FLOOR}
    found = []
    for record in records:
        if record["device"] == CARD:
            ram = floor.get(_key(record))
            found.append((*map(str, _key(record)), f"{instructions(record):,.0f}",
                f"{instructions(ram):,.0f}" if ram else "-", f"{record['system_calls']:.2f}",
                f"{record['mmio_loads']:.2f}", f"{record['mmio_stores']:.2f}", f"{record['interrupts']:.2f}",
                f"{record['copied_bytes']:.0f}"))
    return found


HEAD = ("interface", "bytes", "depth", "callers", "sequence", "instructions", "of a RAM disk", "system calls",
    "MMIO loads", "MMIO stores", "interrupts", "bytes copied")


def show(records):
    table = Table(title="Cost of an operation", caption="instructions of program and kernel, all processors")
    for name in HEAD:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows(records):
        table.add_row(*row)
    summary.console().print(table)


def run(folder, quick):
    """Measures, prints, and writes guest.json into `folder`; returns the exit status."""
    status, output = processes.run([sys.executable, boards.ROOT / "targets" / "sim.py", "--build"], cwd=boards.ROOT)
    if status:
        raise boards.BoardError(f"building the board failed: {(output.strip().splitlines() or ['no output'])[-1]}")
    chosen   = points(quick)
    progress = Progress("points", len(chosen))
    records  = []
    with Counter(boards.ROOT / "build" / build_name()) as counter:
        for point in chosen:
            records.append(counter.measure(point))
            check(records[-1])
            progress.step(str(point))
    progress.end()
    (folder / "guest.json").write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    show(records)
    print(f"{len(records)} points; {folder}/guest.json")
    return 0
