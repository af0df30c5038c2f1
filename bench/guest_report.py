#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""`make bench BENCH=--guest`: measures all points, prints them, and writes guest.json and results.json."""

import json
import sys

from rich.table import Table

from litepcie_bench                  import boards, guest_measure, summary
from litepcie_bench.boards           import Progress
from litepcie_bench.guest_measure    import CARD, COUNTS, FLOOR, MIB, Counter, points
from litepcie_soc.board.user_options import build_name
from litepcie_soc.build              import processes

SOURCE      = "bench --guest"
TEXT_KEYS   = ("design", "source", "device", "interface", "sequence")
NUMBER_KEYS = ("transfer_bytes", "depth", "callers", "iterations", *COUNTS, "interrupts", "copied_bytes", "channels",
    "transfers_per_second", "tlps", "wire_bytes", "link_bytes_per_second")

# What the driver must reach for an operation of 4 KiB at depth 32, by interface.
MOST_INSTRUCTIONS = {"uring": 5200, "fixed": 4000}

# Options of the boards besides the default one.
CHANNELS = {"channels": 4}
EXTRAS   = {"streams": 2, "patterns": 1, "user_core": True}

OPERATIONS = ("sync", "vector", "uring", "fixed", "polled")

# Says beside the figures of a guest why there is no time among them.
NO_TIME = "Only counts: the guest's processor is emulated and waits for the simulated card, so its wall clock tells " \
    "how fast the simulation is, not how fast a program would be."

# The figures that docs/processor.md shows: a copy of guest.json.
FIGURES = boards.ROOT / "bench" / "guest" / "figures.json"


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

# Tables -------------------------------------------------------------------------------------------


def _key(record):
    return tuple(record[name] for name in ("interface", "transfer_bytes", "depth", "callers", "sequence"))


def _size(bytes):
    return f"{bytes >> 20} MiB" if bytes >= 1 << 20 else f"{bytes >> 10} KiB" if bytes >= 1024 else f"{bytes} B"


def _pair(of, records):
    """A cell for a read and a write, which may be the same."""
    return " / ".join(dict.fromkeys(of(record) for record in records if record))


def operations(records):
    """A row for each kind of operation of the card, with the instructions of the same on a RAM disk."""
    by_key = {(record["device"], *_key(record)): record for record in records if record["interface"] in OPERATIONS}
    cost   = lambda device, *key: _pair(lambda record: f"{instructions(record):,.0f}",
        [by_key.get((device, *key, sequence)) for sequence in ("read", "write")]) or "-"
    found  = []
    for device, *key, sequence in by_key:
        *kind, callers = key
        if (device, callers, sequence) != (CARD, 1, "read"):
            continue
        both  = [by_key.get((CARD, *key, way)) for way in ("read", "write")]
        polls = kind[0] == "polled"  # The instructions are those of waiting.
        found.append((kind[0], _size(kind[1]), kind[2], *(["-"]*3 if polls else
            [cost(CARD, *key), cost(CARD, *kind, 4), cost(FLOOR, *key)]),
            *(_pair(lambda record, name=name: f"{record[name]:.2f}", both)
                for name in ("system_calls", "interrupts", "mmio_stores"))))
    return found


def mebibytes(records):
    """What a program sees of a MiB, moved by one caller in operations of one size."""
    found = []
    for record in records:
        if record["device"] == CARD and record["interface"] in ("sync", "uring", "fixed") and record["callers"] == 1:
            count = MIB/record["transfer_bytes"]
            found.append((record["interface"], record["sequence"], _size(record["transfer_bytes"]),
                *(f"{count*value:,.{digits}f}" for value, digits in ((record["system_calls"], 1),
                    (instructions(record), 0), (record["interrupts"], 1), (record["mmio_stores"], 1)))))
    return found


def streams(records):
    return [(record["interface"].split()[1], record["sequence"], f"{record['copied_bytes']/MIB:.2f}",
        *(f"{value:,.{digits}f}" for value, digits in ((instructions(record), 0), (record["system_calls"], 2),
            (record["interrupts"], 2), (record["mmio_stores"], 2))))
        for record in records if record["interface"].startswith("stream")]


def channels(records):
    return sorted((record["channels"], record["sequence"], f"{record['transfers_per_second']/1e6:.2f}")
        for record in records if record["interface"] == "channels")


def pio(records):
    """A row for all ways with the same figures."""
    found = {}
    for record in (record for record in records if record["interface"].startswith("pio")):
        cells = (record["sequence"], f"{record['tlps']:.2f}", f"{record['wire_bytes']:.0f}",
            f"{record['link_bytes_per_second']/1e6:.1f}", f"{record['system_calls']:.2f}")
        found.setdefault(cells, []).append(record["interface"].split()[1])
    return [(", ".join(ways), *cells) for cells, ways in found.items()]


TABLES = {
    "operations": (operations, ("interface", "bytes", "depth", "instructions: read / write", "with 4 callers",
        "RAM disk", "system calls", "interrupts", "MMIO stores")),
    "mebibytes" : (mebibytes, ("interface", "sequence", "bytes of an operation", "system calls", "instructions",
        "interrupts", "MMIO stores")),
    "streams"   : (streams, ("by", "sequence", "copies", "instructions", "system calls", "interrupts",
        "MMIO stores")),
    "channels"  : (channels, ("channels", "sequence", "million transfers per second")),
    "pio"       : (pio, ("way", "sequence", "TLPs", "bytes on the link", "MB/s at Gen1 x1", "system calls")),
}


def show(records):
    for title, (rows, heads) in TABLES.items():
        table = Table(title=title)
        for name in heads:
            table.add_column(name, justify="right", no_wrap=True)
        for row in rows(records):
            table.add_row(*map(str, row))
        summary.console().print(table)

# Measurement --------------------------------------------------------------------------------------


def build(options):
    """Builds a board; returns its folder."""
    words = [word for name, value in options.items()
        for word in [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]]
    folder = boards.ROOT / "build" / build_name(**options)
    status, output = processes.run([sys.executable, boards.ROOT / "targets" / "sim.py", "--build", "--optimize",
        "--output-dir", folder, *words], cwd=boards.ROOT)
    if status:
        raise boards.BoardError(f"building the board failed: {(output.strip().splitlines() or ['no output'])[-1]}")
    return folder


def _steps(quick):
    """Yields (options of a board, [(text, function of a Counter that returns a record)])."""
    def channel_steps(number):
        return [(f"{number} channels, {sequence}",
            lambda counter, sequence=sequence: guest_measure.channels(counter, number, sequence))
            for sequence in ("read", "write")]

    yield EXTRAS, [
        *[(f"stream by {how}, {sequence}",
            lambda counter, how=how, sequence=sequence: guest_measure.stream(counter, how, sequence))
            for how in ("call", "ring", "direct") for sequence in ("read", "write")],
        *[(f"{way}, {sequence}",
            lambda counter, way=way, sequence=sequence: guest_measure.pio(counter, way, sequence))
            for sequence in ("write", "read") for way in guest_measure.PIO_WAYS]]
    yield CHANNELS, channel_steps(CHANNELS["channels"])
    yield {}, [(str(point), lambda counter, point=point: counter.measure(point)) for point in points(quick)] \
        + channel_steps(1)


def measure(quick, save=lambda records: None):
    """Returns the records of all points; `save` gets those so far after each board."""
    steps    = list(_steps(quick))
    progress = Progress("points", sum(len(some) for _, some in steps))
    records  = []
    for options, some in steps:
        with Counter(build(options)) as counter:
            for text, step in some:
                records.append(step(counter))
                check(records[-1])
                progress.step(text)
        save(records)
    progress.end()
    return records


def lines(records):
    """The text of a JSON file with one record in a line."""
    return "[\n" + ",\n".join(json.dumps(record) for record in records) + "\n]\n"


def kept(folder):
    """Records of this report that an earlier run has written into `folder`."""
    path = folder / "guest.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def known(folder):
    """Records that an earlier run has written into `folder`, or else those of docs/processor.md."""
    return kept(folder) or json.loads(FIGURES.read_text(encoding="utf-8"))


def run(folder, quick):
    """Measures, prints, and writes guest.json and results.json into `folder`; returns the exit status."""
    def save(records):
        (folder / "guest.json").write_text(lines(records), encoding="utf-8")

    records = measure(quick, save)
    results = folder / "results.json"
    others  = json.loads(results.read_text(encoding="utf-8")) if results.exists() else []
    others  = [record for record in others if record["source"] != SOURCE]
    results.write_text(json.dumps(others + records, indent=1) + "\n", encoding="utf-8")
    show(records)
    print(f"{len(records)} points; {folder}/guest.json, results.json")
    return 0
