#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What an operation on /dev/litepcie0 costs a program: instructions of the guest, counted by the emulator.

The floor is the same operation on a RAM disk of the same kernel (brd, with O_DIRECT from 512 bytes on), which copies
the data with the processor.

Streams, several memory channels, loads and stores are measured in time of the link, which the simulator counts: its
clock stands while nothing is under way.
"""

import itertools
import json
import os
import subprocess

from dataclasses import dataclass
from pathlib     import Path

from litepcie_bench import boards
from litepcie_sim.guest         import DEFAULT_KERNEL, Guest, GuestError
from litepcie_sim.guest.kernels import Kernel

HERE     = Path(__file__).resolve().parent / "guest"
BUILD    = boards.ROOT / "build" / "bench" / "guest"
UAPI     = boards.ROOT / "software" / "kernel" / "include" / "uapi"
PROGRAMS = ("cost", "stream", "pio")

CARD, FLOOR = "litepcie", "ram disk"
FILES       = {CARD: "/dev/litepcie0", FLOOR: "/dev/ram0"}
OPERATIONS  = {64: 512, 512: 4096, 4096: 512, 1 << 20: 32}  # By bytes of an operation.
COPIED      = "/sys/kernel/debug/litepcie/copied_bytes"
CONFIG      = "/sys/bus/pci/devices/0000:01:00.0/config"

# Entry of the interrupts that the plugin leaves out.
TIMER = "asm_sysvec_apic_timer_interrupt"

# Columns of the plugin's log.
COUNTS = ("program_instructions", "kernel_instructions", "system_calls", "mmio_loads", "mmio_stores")


@dataclass(frozen=True)
class Point:
    """A kind of operation.

    device  : `CARD` or `FLOOR`.
    how     : "sync", "vector", "uring", "fixed" or "polled": see cost.c.
    bytes   : of an operation.
    depth   : operations that a caller has outstanding.
    callers : threads, each with an open file of its own.
    sequence: "read" (card to host: pread) or "write".
    """
    device   : str
    how      : str
    bytes    : int
    depth    : int
    callers  : int
    sequence : str

    @property
    def operations(self):
        """Operations of one caller."""
        return max(OPERATIONS[self.bytes]//self.callers, self.depth)

    @property
    def command(self):
        return (f"cost {FILES[self.device]} {self.sequence} {self.how} {self.bytes} {self.depth} {self.callers} "
            f"{self.operations}")

    def __str__(self):
        return f"{self.device} {self.how} {self.sequence}, {self.bytes} B, depth {self.depth}, {self.callers} callers"


def points(quick=False):
    """Returns all points, or with `quick` those of one caller and 4096 bytes."""
    sizes = (64, 4096, 1 << 20)
    ways  = [("sync", 1), ("vector", 1), ("uring", 32), ("fixed", 32)]
    found = [Point(device, how, size, depth, callers, sequence)
        for device, (how, depth), size, callers, sequence
        in itertools.product(FILES, ways, sizes, (1, 4), ("read", "write"))]
    # A RAM disk takes whole sectors only, so four pieces of 16 or 1024 bytes need its page cache.
    found = [point for point in found if point.how != "vector" or point.bytes >= 4096 and point.callers == 1]
    found += [Point(CARD, "polled", 4096, depth, 1, sequence) for depth in (1, 32) for sequence in ("read", "write")]
    return [point for point in found if not quick or (point.bytes, point.callers) == (4096, 1)]


def build():
    """Compiles the plugin and the guest's programs; returns the plugin's path."""
    BUILD.mkdir(parents=True, exist_ok=True)
    plugin = BUILD / "count.so"
    common = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*common, "-shared", "-fPIC", "-o", plugin, HERE / "count.c"], check=True)
    for name in PROGRAMS:
        subprocess.run([*common, "-static", "-pthread", "-I", UAPI, "-o", BUILD / name, HERE / f"{name}.c"],
            check=True)
    return plugin


class Counter:
    """A guest whose emulator counts, as a context manager.

    Parameters
    ----------
    board   : build folder of targets/sim.py.
    profile : path of a file for the executed blocks of the last point, or None.

    Attributes: `guest` (litepcie_sim.guest.Guest); `timer`, a file without which timer interrupts count too.
    """
    def __init__(self, board, kernel=DEFAULT_KERNEL, profile=None):
        plugin      = build()
        disk        = Kernel(kernel).driver("brd")
        self._log   = BUILD / "counts"
        self._stats = BUILD / "stats.json"
        self._pipe  = BUILD / "pipe"
        self.timer  = BUILD / "timer"
        for path in (self._log, self._pipe, self.timer):
            path.unlink(missing_ok=True)
        os.mkfifo(self._pipe)
        words = f"{plugin},log={self._log},timer={self.timer}" + (f",profile={profile}" if profile else "")
        self.guest = Guest(board, kernel=kernel, plugin=words, log=BUILD / "console.log",
            simulator_arguments=["--stats", str(self._stats), "--inject-pipe", str(self._pipe)],
            files=[*[(BUILD / name, f"/bin/{name}") for name in PROGRAMS], (disk, "/lib/modules/brd.ko")])

    def __enter__(self):
        self.guest.__enter__()
        self.timer.write_text(self.run(f"grep ' {TIMER}$' /proc/kallsyms").split()[0], encoding="utf-8")
        self.run("insmod /lib/modules/brd.ko rd_nr=1 rd_size=65536"
            " && dd if=/dev/zero of=/dev/ram0 bs=1M count=64 2>/dev/null")
        return self

    def __exit__(self, *what):
        return self.guest.__exit__(*what)

    def run(self, command):
        """Runs `command` in the guest; its output. Raises GuestError if it fails."""
        result = self.guest.run(command, timeout=600)
        if result.status:
            raise GuestError(f"{command}: {result.output.strip()}")
        return result.output

    def link(self):
        """What the simulator has counted: the file of its option --stats."""
        self._stats.unlink(missing_ok=True)
        self._pipe.write_text("stats\n")
        self.run(f"cat {CONFIG} > /dev/null")
        return json.loads(self._stats.read_text(encoding="utf-8"))

    def count(self, command):
        """Runs a command with one pair of marks; returns its output and its figures by name (`COUNTS`)."""
        before = len(self._lines())
        output = self.run(command)
        lines  = self._lines()[before:]
        if len(lines) != 1:
            raise GuestError(f"the emulator saw {len(lines)} pairs of marks instead of one: {command}")
        return output, dict(zip(COUNTS, map(int, lines[0].split())))

    def measure(self, point):
        """Returns the record of `point`: figures for each operation."""
        copied         = int(self.run(f"cat {COPIED}"))
        output, counts = self.count(point.command)
        copied         = int(self.run(f"cat {COPIED}")) - copied
        count  = point.operations*point.callers
        record = {"design": "litepcie_soc", "source": "bench --guest", "device": point.device, "interface": point.how,
            "transfer_bytes": point.bytes, "depth": point.depth, "callers": point.callers, "sequence": point.sequence,
            "iterations": count, **{name: value/count for name, value in counts.items()}}
        if point.device == CARD:
            # The operations of the warm-up copy as much.
            warm = point.callers*(point.depth*2 if point.bytes < 1 << 20 else 1)
            record |= {"interrupts": int(output)/count, "copied_bytes": copied/(count + warm)}
        return record

    def _lines(self):
        return self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []

# Streams, several memory channels, loads and stores -----------------------------------------------

MIB       = 1 << 20
STREAM    = "/dev/litepcie0_stream1"  # Sends a pattern, and takes everything.
MEBIBYTES = 16

# Bytes of a load or store of each way of pio.c; None: the driver does them.
PIO_WAYS  = {"word4": 4, "word8": 8, "combined4": 4, "combined8": 8, "combined16": 16, "string": 8, "call": None,
    "calls": None}
PIO_BYTES = 4096

# Bytes per second of a link of generation 1 with one lane, after 8b/10b; of a read request on it; latency of the host.
GEN1_X1 = 250e6
REQUEST = 20
LATENCY = 1e-6


def link_rate(sequence, tlps, wire, payload=64):
    """Returns the bytes per second of stores or loads over Gen1 x1, at most.

    Stores are posted, so their TLPs leave one after the other. The processor waits for each load: the host's latency,
    the request and the completion on the link.
    """
    waits = tlps*(LATENCY + REQUEST/GEN1_X1) if sequence == "read" else 0
    return payload/(waits + wire/GEN1_X1)


def _base(interface, sequence, **others):
    return {"design": "litepcie_soc", "source": "bench --guest", "device": CARD, "interface": interface,
        "sequence": sequence, **others}


def stream(counter, how, sequence):
    """Returns the record of a stream, by "call", "ring" or "direct" (O_DIRECT): figures for each MiB."""
    output, counts = counter.count(f"stream {STREAM} {sequence} {how} {MEBIBYTES}")
    interrupts, moved, copied = map(int, output.split())
    return _base(f"stream {how}", sequence, transfer_bytes=MIB, iterations=MEBIBYTES,
        **{name: value*MIB/moved for name, value in counts.items()}, interrupts=interrupts*MIB/moved,
        copied_bytes=copied*MIB/moved)


def channels(counter, number, sequence, size=512, depth=32):
    """Returns the record of small transfers on a card with `number` memory channels."""
    point  = Point(CARD, "uring", size, depth, 1, sequence)
    before = counter.link()
    counter.count(point.command)
    after  = counter.link()
    count  = point.operations + 2*depth  # With the warm-up.
    cycles = after["cycles"] - before["cycles"]
    return _base("channels", sequence, transfer_bytes=size, depth=depth, callers=1, iterations=count, channels=number,
        transfers_per_second=count*after["board"]["clock_hz"]/cycles)


def _traffic(stats, sequence):
    """TLPs of the host's loads or stores, and their bytes on the link in the direction of the data."""
    name, end = ("MWr32", "to_card") if sequence == "write" else ("CplD", "to_host")
    count     = stats[end]["tlps"].get(name, {"tlps": 0, "payload_bytes": 0, "wire_bytes": 0})
    return count["tlps"], count["payload_bytes"], count["wire_bytes"]


def pio(counter, way, sequence):
    """Returns the record of loads or stores of the processor: figures for 64 bytes of data.

    The first loads of the program touch the pages of its mapping; these are in the figures of loads.
    """
    before    = counter.link()
    _, counts = counter.count(f"pio {way} {sequence} {PIO_BYTES}")
    after     = counter.link()
    tlps, payload, wire = (b - a for a, b in zip(_traffic(before, sequence), _traffic(after, sequence)))
    if payload < PIO_BYTES:
        raise GuestError(f"pio {way} {sequence}: {payload} bytes crossed the link instead of {PIO_BYTES}")
    return _base(f"pio {way}", sequence, transfer_bytes=64, iterations=PIO_BYTES//64, tlps=tlps*64/payload,
        wire_bytes=wire*64/payload, link_bytes_per_second=link_rate(sequence, tlps, wire, payload),
        **{name: counts[name]*64/PIO_BYTES for name in ("program_instructions", "kernel_instructions", "system_calls")})
