# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Test bench of an engine: models of its surroundings, and a driver that uses ring, doorbell and status block."""

import inspect
import random
import struct
from dataclasses import dataclass, field
from pathlib import Path

from litepcie_soc.common import pcie
from test.gateware.dma import dut as duts
from test.gateware.dma.dut import DATA_TAGS, MEMORY_SIZE
from test.gateware.dma.host import (HostMemory, MemoryReadModel, MemoryWriteModel, MsiModel, ReadPortModel, Timing,
    WritePortModel)
from test.gateware.simulation import fail, macros


HEADER = Path(__file__).resolve().parents[3] / "software" / "kernel" / "litepcie_regs.h"
REGS   = macros(HEADER.read_text())     # Of the committed header, as a driver sees them.


WAITS     = ("WAIT_DESCRIPTOR", "WAIT_TAG", "WAIT_LINK", "WAIT_DATA")
INTERRUPT = REGS["DESCRIPTOR_INTERRUPT"]
LINK      = REGS["DESCRIPTOR_LINK"]


@dataclass
class Descriptor:
    length:    int
    endpoint:  int
    host:      int
    interrupt: bool = False

    def pack(self):
        flags = INTERRUPT * self.interrupt
        return struct.pack("<IIQ", self.length | flags, self.endpoint, self.host)


@dataclass
class Link:
    """A LINK to ``table``, placed at ``address``. The table has Descriptors; its last entry may be a Link."""
    table:     list
    address:   int
    interrupt: bool = False
    length:    int  = None   # If it differs from the table's.

    def pack(self):
        length = len(self.table) if self.length is None else self.length
        return struct.pack("<IIQ", length | LINK | INTERRUPT * self.interrupt, 0, self.address)


@dataclass
class Status:
    completed: int
    reason:    int
    stopped:   int
    bytes:     int
    cycle:     int = field(default=0, compare=False)


def flatten(entries):
    """Descriptors in execution order."""
    for entry in entries:
        yield from flatten(entry.table) if isinstance(entry, Link) else [entry]


HOST_LOW   = 0x0010_0000          # Data below 4 GiB: headers of three dwords.
HOST_HIGH  = 0x12_3450_0000       # And above.
HOST_SIZE  = 128 << 10
RINGS      = 0x0020_0000
TABLES     = 0x3_0000_0000
TABLE_SIZE = 64 << 10
STATUS     = 0x0030_0040


class Bench:
    """One engine of the DUT. The other one does nothing."""
    def __init__(self, direction="reader", data_width=128, *, seed=1, mps=256, mrrs=512, latency=20, jitter=0,
        stall=0.0, reorder=False, ring_log2=6, ring=RINGS, status=STATUS, **kwargs):
        self.direction  = direction
        self.options    = dict(direction=direction, data_width=data_width, seed=seed, mps=mps, mrrs=mrrs,
            latency=latency, jitter=jitter, stall=stall, reorder=reorder, **kwargs)
        self.options.pop("top_class", None)
        self.data_width = data_width
        self.mps        = mps
        self.mrrs       = mrrs
        self.rng        = random.Random(seed)
        self.timing     = Timing(self.rng, latency, jitter, stall, reorder)
        self.now        = 0
        self.dut        = duts.model(data_width, **kwargs)
        self.memory     = bytearray(self.rng.randbytes(MEMORY_SIZE))
        self.ring_log2  = ring_log2
        self.ring       = ring
        self.status     = status
        self.first      = kwargs.get("first_count", 0)
        self.fetch_tags = kwargs.get("fetch_tags", duts.DESCRIPTOR_TAGS)
        self.doorbell   = self.first
        self.pushed     = []
        self.blocks     = []
        self.add_host()
        self.add_models()
        for name in ("reader", "writer"):
            self.dut.set(f"{name}_max_payload_size", mps)
            self.dut.set(f"{name}_max_request_size", mrrs)
            self.dut.set(f"{name}_can_send", 1)

    def add_host(self):
        self.host = HostMemory()
        self.low  = self.host.add(HOST_LOW,  self.rng.randbytes(HOST_SIZE))
        self.high = self.host.add(HOST_HIGH, self.rng.randbytes(HOST_SIZE))
        self.host.add(self.ring & ~15, bytes(16 << self.ring_log2))
        self.host.add(TABLES, bytes(TABLE_SIZE))
        self.host.add(self.status & ~15, bytes(16))

    def add_models(self, memory=True):
        name = self.direction
        self.descriptors = ReadPortModel(self, f"{name}_descriptor", self.fetch_tags, None)
        self.blocks_port = WritePortModel(self, f"{name}_status")
        self.blocks_port.on_sent = self.on_block
        if name == "reader":
            self.data = ReadPortModel(self, "reader_data", DATA_TAGS, MEMORY_SIZE)
        else:
            self.data = WritePortModel(self, "writer_data")
        self.msi    = MsiModel(self, name)
        self.models = [self.descriptors, self.blocks_port, self.data, self.msi]
        if memory:
            self.models.append((MemoryWriteModel if name == "reader" else MemoryReadModel)(self))

    def fail(self, what, expected, found, **where):
        """Fails the test, with cycle and options of this bench."""
        __tracebackhide__ = True
        fail(what, expected=expected, found=found, cycle=self.now, bench=self.options, **where)

    def on_block(self, address, data):
        if (address, len(data)) != (self.status, 16):
            self.fail("place of a status block", f"16 bytes at {self.status:#x}", f"{len(data)} bytes", address=address)
        completed, reason, total = struct.unpack("<IIQ", data)
        self.blocks.append(Status(completed, reason & 0xff, reason >> 8, total, self.now))

    # Time -----------------------------------------------------------------------------------------

    def cycle(self):
        for model in self.models:
            model.drive()
        self.dut.settle()
        for model in self.models:
            model.clock()
        self.now += 1
        self.dut.edge()

    def cycles(self, count):
        for _ in range(count):
            self.cycle()

    def until(self, condition, limit=20000):
        """Runs until ``condition``; returns the cycles it took."""
        start = self.now
        while not condition():
            self.cycle()
            if self.now - start >= limit:
                self.fail("the engine is too late", f"{source_of(condition)} within {limit} cycles", self.state())
        return self.now - start

    def state(self):
        names = ("STATUS", "DOORBELL", "COMPLETED", "STOPPED_BYTES")
        return {name: hex(self.read(name)) for name in names} | {"blocks": self.blocks[-3:]}

    # Registers ------------------------------------------------------------------------------------

    def offset(self, name):
        return (duts.CSR_PAGING * (self.direction == "writer") + REGS[f"ENGINE_{name}"]) // 4

    def write(self, name, value):
        self.dut.set("csr_adr", self.offset(name))
        self.dut.set("csr_dat_w", value)
        self.dut.set("csr_we", 1)
        self.cycle()
        self.dut.set("csr_we", 0)

    def read(self, name):
        self.dut.set("csr_adr", self.offset(name))
        self.dut.set("csr_re", 1)
        self.cycle()
        self.dut.set("csr_re", 0)
        value = self.dut.get("csr_dat_r")
        self.cycle()
        return value

    def read64(self, name):
        low = self.read(f"{name}_LO")
        return low | self.read(f"{name}_HI") << 32

    def flag(self, name):
        return bool(self.read("STATUS") & REGS[f"ENGINE_STATUS_{name}"])

    @property
    def reason(self):
        return self.read("STATUS") >> 8 & 0xff

    def bus_master(self, on):
        """Switches bus mastering on or off: without it, the transaction layer drops what is written."""
        self.dut.set(f"{self.direction}_can_send", on)
        self.blocks_port.drop = not on
        if self.direction == "writer":
            self.data.drop = not on

    # Driver ---------------------------------------------------------------------------------------

    def start(self, moderation=0, interrupt=0):
        self.write("RING_LO", self.ring & 0xffffffff)
        self.write("RING_HI", self.ring >> 32)
        self.write("RING_LOG2", self.ring_log2)
        self.write("STATUS_ADDRESS_LO", self.status & 0xffffffff)
        self.write("STATUS_ADDRESS_HI", self.status >> 32)
        self.write("MODERATION", moderation)
        self.write("INTERRUPT", interrupt)
        self.enable()

    def enable(self, on=True):
        self.write("CONTROL", REGS["ENGINE_CONTROL_ENABLE"] if on else 0)

    def reset(self, limit=5000):
        self.write("CONTROL", REGS["ENGINE_CONTROL_RESET"])
        self.until(lambda: not self.flag("RESETTING"), limit)
        self.doorbell = self.first = 0
        self.pushed   = []
        self.blocks   = []

    def place(self, entry, address):
        self.host.write(address, entry.pack())
        if isinstance(entry, Link):
            for n, inner in enumerate(entry.table):
                self.place(inner, entry.address + 16 * n)

    def push(self, *entries, ring=True):
        """Puts entries into the next slots, and rings the doorbell."""
        for entry in entries:
            slot = self.doorbell % (1 << self.ring_log2)
            self.place(entry, self.ring + 16 * slot)
            self.doorbell = (self.doorbell + 1) & 0xffffffff
            self.pushed.append(entry)
        if ring:
            self.write("DOORBELL", self.doorbell)

    @property
    def completed(self):
        return self.blocks[-1].completed if self.blocks else self.first

    def finish(self, limit=20000):
        """Runs until the status block says that everything is complete."""
        return self.until(lambda: self.blocks and self.completed == self.doorbell, limit)

    def execute(self, *entries, limit=20000):
        self.push(*entries)
        return self.finish(limit)

    def feed(self, entries, limit=20000):
        """Keeps the ring full of ``entries`` until all are complete."""
        entries, size = list(entries), 1 << self.ring_log2
        while entries:
            room = size - (self.doorbell - self.completed & 0xffffffff)
            if room:
                self.push(*entries[:room])
                entries = entries[room:]
            else:
                before = self.completed
                self.until(lambda: self.completed != before, limit)
        self.finish(limit)

    def stop(self, limit=5000):
        """Runs until the engine stopped and its status block and MSI arrived; returns the block."""
        messages = len(self.msi.times)
        self.until(lambda: self.blocks and self.blocks[-1].reason, limit)
        self.until(lambda: len(self.msi.times) > messages, limit)
        assert self.flag("STOPPED") and not self.flag("RUNNING")
        block = self.blocks[-1]
        assert block.reason  == self.reason
        assert block.stopped == self.read("STOPPED_BYTES")
        assert block.completed == self.read("COMPLETED")
        return block

    # What must be in memory afterwards ------------------------------------------------------------

    def expect(self):
        """Takes the snapshot that ``check`` compares with. Call it before pushing descriptors."""
        self.before = (bytes(self.memory), bytes(self.low), bytes(self.high))

    def check(self, descriptors, touched=()):
        """Memories changed only by ``descriptors``; the data of ``touched`` may have landed or not."""
        memory, low, high = (bytearray(image) for image in self.before)
        for descriptor in descriptors:
            image, base = (low, HOST_LOW) if descriptor.host < HOST_HIGH else (high, HOST_HIGH)
            at, end   = descriptor.host - base, descriptor.host - base + descriptor.length
            to, to_end = descriptor.endpoint, descriptor.endpoint + descriptor.length
            if self.direction == "reader":
                memory[to:to_end] = image[at:end]
            else:
                image[at:end] = memory[to:to_end]
        for descriptor in touched:
            start, end = descriptor.endpoint, descriptor.endpoint + descriptor.length
            memory[start:end] = self.memory[start:end]
        for name, base, found, expected in (("endpoint memory", 0, self.memory, memory),
            ("host memory", HOST_LOW, self.low, low), ("host memory", HOST_HIGH, self.high, high)):
            if found != expected:
                at = next(n for n, (a, b) in enumerate(zip(found, expected)) if a != b)
                self.fail(f"{name} differs", expected[at:at + 16].hex(" "), found[at:at + 16].hex(" "),
                    address=base + at, descriptor=self.descriptor_at(descriptors, base + at))

    def descriptor_at(self, descriptors, address):
        """The descriptor that an address of its destination belongs to, as text."""
        side = "endpoint" if self.direction == "reader" else "host"
        for n, descriptor in enumerate(descriptors):
            if 0 <= address - getattr(descriptor, side) < descriptor.length:
                return f"{n} ({descriptor.length} bytes, host {descriptor.host:#x}, endpoint {descriptor.endpoint:#x})"
        return "none"

    def place_apart(self, lengths, guard=40):
        """Descriptors of ``lengths`` at separate addresses, with guard bytes between them."""
        endpoint, host = self.rng.randrange(64), {HOST_LOW: self.rng.randrange(4096), HOST_HIGH: 7}
        descriptors = []
        for length in lengths:
            base = self.rng.choice((HOST_LOW, HOST_HIGH))
            descriptors.append(Descriptor(length, endpoint, base + host[base]))
            endpoint   += length + self.rng.randint(1, guard)
            host[base] += length + self.rng.randint(1, guard)
        assert endpoint <= MEMORY_SIZE and max(host.values()) <= HOST_SIZE
        self.rng.shuffle(descriptors)
        return descriptors

    def random_lengths(self, count, longest=3000):
        return [self.rng.randint(1, self.rng.choice((8, 100, longest))) for _ in range(count)]


def started(*args, bench=Bench, **kwargs):
    """A bench whose engine runs, with the snapshot that `check` compares with."""
    one = bench(*args, **kwargs)
    one.start()
    one.expect()
    return one


def source_of(condition):
    """Text of a condition, if it is a lambda alone in its line."""
    try:
        text = inspect.getsource(condition).strip()
    except OSError:
        return "the condition"
    return text.partition("lambda: ")[2].rstrip("),") or text


REASON = {name[len("REASON_"):]: getattr(pcie, name) for name in dir(pcie)
    if name.startswith("REASON_") and name != "REASON_BITS"}
