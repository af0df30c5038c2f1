# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Models of an engine's surroundings, in plain Python: host memory, its ports, endpoint memory, MSI. ``drive`` sets the
inputs of a cycle; ``clock`` evaluates it, and calls ``Bench.fail`` if it violates the contract of a port."""

from collections import deque
from types import SimpleNamespace

from test.gateware.dma.dut import MEMORY_SIZE


class HostMemory:
    """Regions of bytes. An access outside of them raises ``LookupError``."""
    def __init__(self):
        self.regions = []

    def add(self, base, content):
        self.regions.append((base, bytearray(content)))
        return self.regions[-1][1]

    def find(self, address, length):
        for base, content in self.regions:
            if base <= address and address + length <= base + len(content):
                return content, address - base
        raise LookupError(", ".join(f"{base:#x} to {base + len(content):#x}" for base, content in self.regions))

    def read(self, address, length):
        content, offset = self.find(address, length)
        return bytes(content[offset:offset + length])

    def write(self, address, data):
        content, offset = self.find(address, len(data))
        content[offset:offset + len(data)] = data


class Timing:
    """Timing of the surroundings: latencies in cycles, and probabilities of a stall in a cycle."""
    def __init__(self, rng, latency=20, jitter=0, stall=0.0, reorder=False):
        self.rng     = rng
        self.latency = latency
        self.jitter  = jitter
        self.stall   = stall
        self.reorder = reorder

    def stalls(self):
        return self.stall and self.rng.random() < self.stall

    def due(self, now):
        return now + self.latency + (self.rng.randrange(self.jitter + 1) if self.jitter else 0)


class PortModel:
    """A port of the transaction layer: ``name`` is that of its signals, before their last parts."""
    def __init__(self, bench, name):
        self.bench = bench
        self.name  = name
        self.bytes = bench.data_width // 8

    def fail(self, what, expected, found, **where):
        __tracebackhide__ = True
        self.bench.fail(f"{self.name}: {what}", expected, found, port=self.name, **where)

    def check_place(self, address, length, most, limit):
        """A request is in host memory, is no longer than the ``limit`` of that name, and in one page."""
        where = dict(address=address, length=length)
        if not 1 <= length <= most:
            self.fail("length of a request", f"1 to {most} bytes ({limit})", length, **where)
        if address // 4096 != (address + length - 1) // 4096:
            self.fail("a request crosses 4 KiB", "one page", f"up to {address + length - 1:#x}", **where)
        try:
            self.bench.host.read(address, length)
        except LookupError as e:
            self.fail("an access outside of the memory that the host gave", e, f"{address:#x}", **where)


class ReadPortModel(PortModel):
    """Answers requests like the transaction layer: data in any order, retirement in order.

    ``faults`` is a list of (address of a byte, reason): a request that includes the byte fails there. Whole
    completions of 64 bytes before the byte still land.
    """
    def __init__(self, bench, name, tags, space):
        PortModel.__init__(self, bench, name)
        self.tags     = tags
        self.space    = space           # Bytes of the client's address space; None if addresses wrap.
        self.waiting  = []              # Requests with data to deliver.
        self.issued   = deque()         # Requests not retired, in order.
        self.beats    = deque()         # Beats of the completion in progress.
        self.faults   = []
        self.requests = []              # All requests: (cycle, address, length).
        self.offered  = False

    def drive(self):
        dut, timing = self.bench.dut, self.bench.timing
        self.room = len(self.issued) < self.tags
        self.can  = self.room and not timing.stalls()
        dut.set(f"{self.name}_request_ready", self.can)
        dut.set(f"{self.name}_no_tag", self.pending_request and not self.room)
        if not self.beats:
            self.choose()
        self.offered = bool(self.beats) and (self.offered or not timing.stalls())
        dut.set(f"{self.name}_data_valid", self.offered)
        if self.offered:
            address, dat, be, _ = self.beats[0]
            dut.set(f"{self.name}_data_address", address)
            dut.set(f"{self.name}_data_dat", dat)
            dut.set(f"{self.name}_data_be", be)
        self.retiring = bool(self.issued) and self.issued[0].over and not timing.stalls()
        dut.set(f"{self.name}_retire_valid", self.retiring)
        if self.retiring:
            dut.set(f"{self.name}_retire_reason", self.issued[0].reason)
            dut.set(f"{self.name}_retire_bytes", self.issued[0].landed)

    pending_request = False

    @property
    def idle(self):
        return not self.issued

    def clock(self):
        dut = self.bench.dut
        if self.retiring:
            self.issued.popleft()
        if self.offered and dut.get(f"{self.name}_data_ready"):
            self.offered = False
            request = self.beats.popleft()[3]
            if not self.beats and request.left == 0:
                request.over = True
        valid = dut.get(f"{self.name}_request_valid")
        if valid and self.can:
            self.accept()
        self.pending_request = valid and not self.can

    def accept(self):
        bench, get = self.bench, self.bench.dut.get
        address     = get(f"{self.name}_request_address")
        length      = get(f"{self.name}_request_length")
        destination = get(f"{self.name}_request_destination")
        self.check_place(address, length, bench.mrrs, "MRRS")
        if self.space is not None and destination + length > self.space:
            self.fail("a request ends past the memory of the card", f"at most {self.space:#x}",
                f"{destination + length:#x}", address=address, length=length, destination=destination)
        self.requests.append((bench.now, address, length))
        request = SimpleNamespace(address=address, length=length, destination=destination,
            over=False, left=length, reason=0, landed=length, due=bench.timing.due(bench.now))
        for byte, reason in self.faults:
            if address <= byte < address + length:
                request.reason = reason
                request.landed = request.left = max(0, (byte & ~63) - address)
        self.issued.append(request)
        self.waiting.append(request)

    def choose(self):
        """Begins a completion of the oldest request, or with ``reorder`` of any that is due."""
        due = [request for request in self.waiting if request.due <= self.bench.now]
        if not due:
            return
        timing  = self.bench.timing
        request = timing.rng.choice(due) if timing.reorder else due[0]
        if request.left == 0:
            request.over = True
            self.waiting.remove(request)
            return
        length = request.left
        done   = request.landed - length
        if timing.reorder:    # Completions split at any multiple of 64.
            first  = 64 - (request.address + done) % 64
            length = timing.rng.choice([n for n in range(first, length, 64)] + [length])
        data = self.bench.host.read(request.address + done, length)
        request.left -= length
        if request.left == 0:
            self.waiting.remove(request)
        place = request.destination + done
        while data:
            lane = place % self.bytes
            part = data[:self.bytes - lane]
            # Lanes that are not enabled carry garbage.
            word = bytes(timing.rng.randbytes(lane)) + part
            word = word + timing.rng.randbytes(self.bytes - len(word))
            self.beats.append((place // self.bytes, int.from_bytes(word, "little"),
                ((1 << len(part)) - 1) << lane, request))
            data   = data[len(part):]
            place += len(part)


class WritePortModel(PortModel):
    """Accepts packets like the transaction layer; writes host memory when the PHY has accepted them."""
    def __init__(self, bench, name):
        PortModel.__init__(self, bench, name)
        self.packet  = None
        self.waiting = deque()    # (due, address, data).
        self.packets = []         # All packets: (cycle of the last beat, address, length).
        self.beats   = 0
        self.drop    = False
        self.room    = 64         # Most packets between here and the PHY.
        self.on_sent = lambda address, data: None

    def drive(self):
        bench, dut = self.bench, self.bench.dut
        self.ready = not bench.timing.stalls() and len(self.waiting) < self.room
        self.sent  = bool(self.waiting) and self.waiting[0][0] <= bench.now
        dut.set(f"{self.name}_sink_ready", self.ready)
        dut.set(f"{self.name}_sent", self.sent)
        dut.set(f"{self.name}_dropped", self.sent and self.drop)

    def clock(self):
        get = self.bench.dut.get
        if self.sent:
            _, address, data = self.waiting.popleft()
            if not self.drop:
                self.bench.host.write(address, data)
                self.on_sent(address, data)
        if not (self.ready and get(f"{self.name}_sink_valid")):
            return
        self.beats += 1
        header = (get(f"{self.name}_sink_address"), get(f"{self.name}_sink_length"))
        dat    = get(f"{self.name}_sink_dat").to_bytes(self.bytes, "little")
        address, length = header
        where = dict(address=address, length=length, packet=len(self.packets))
        first, last = [bool(get(f"{self.name}_sink_{name}")) for name in ("first", "last")]
        if first != (self.packet is None):
            self.fail("`first` is wrong", f"first = {int(not first)}", f"first = {int(first)}", **where)
        if self.packet is None:
            self.check_place(*header, self.bench.mps, "MPS")
            dword = (16 if address >> 32 else 12) % self.bytes
            lane  = (dword + address % 4) % self.bytes
            if any(dat[dword:lane]):
                self.fail("bytes before the first one", "zeros", dat[dword:lane].hex(" "), **where)
            self.packet = (header, bytearray(dat[lane:]))
        else:
            if self.packet[0] != header:
                self.fail("address and length changed within a packet", self.packet[0], header, **where)
            self.packet[1].extend(dat)
        whole = len(self.packet[1]) >= length
        if last != whole:
            self.fail("`last` is wrong", f"last = {int(whole)}", f"last = {int(last)} in a beat up to byte "
                f"{len(self.packet[1])} of {length}", **where)
        if whole:
            self.waiting.append((self.bench.timing.due(self.bench.now), address, bytes(self.packet[1][:length])))
            self.packets.append((self.bench.now, address, length))
            self.packet = None

    @property
    def idle(self):
        return self.packet is None and not self.waiting


class MemoryWriteModel:
    """Endpoint memory at the reader's MemoryWriteStream."""
    def __init__(self, bench):
        self.bench = bench
        self.bytes = bench.data_width // 8

    def drive(self):
        self.ready = not self.bench.timing.stalls()
        self.bench.dut.set("reader_memory_ready", self.ready)

    def clock(self):
        get = self.bench.dut.get
        if not (self.ready and get("reader_memory_valid")):
            return
        at  = get("reader_memory_address") * self.bytes
        dat = get("reader_memory_dat").to_bytes(self.bytes, "little")
        be  = get("reader_memory_be")
        for lane in range(self.bytes):
            if be >> lane & 1:
                self.bench.memory[at + lane] = dat[lane]


class MemoryReadModel:
    """Endpoint memory at the writer's MemoryReadStream: one command per cycle, words four cycles later."""
    LATENCY = 4

    def __init__(self, bench):
        self.bench   = bench
        self.bytes   = bench.data_width // 8
        self.words   = deque()     # (due, word).
        self.offered = False

    def drive(self):
        bench, dut   = self.bench, self.bench.dut
        self.ready   = not bench.timing.stalls() and len(self.words) < 16
        self.offered = bool(self.words) and self.words[0][0] <= bench.now and (
            self.offered or not bench.timing.stalls())
        dut.set("writer_command_ready", self.ready)
        dut.set("writer_words_valid", self.offered)
        if self.offered:
            dut.set("writer_words_dat", self.words[0][1])

    def clock(self):
        bench, dut = self.bench, self.bench.dut
        if self.offered and dut.get("writer_words_ready"):
            self.words.popleft()
            self.offered = False
        if self.ready and dut.get("writer_command_valid"):
            at = dut.get("writer_command_address") * self.bytes
            if at >= MEMORY_SIZE:
                bench.fail("the writer reads past the memory of the card", f"below {MEMORY_SIZE:#x}", f"{at:#x}",
                    address=at)
            word = int.from_bytes(bench.memory[at:at + self.bytes], "little")
            self.words.append((bench.now + self.LATENCY, word))


class MsiModel:
    def __init__(self, bench, name):
        self.bench = bench
        self.name  = name
        self.times = []       # Cycle of each message.
        self.block = False    # The PHY accepts no MSI.
        self.vector = 0       # That every message must have.

    def drive(self):
        self.ready = not self.block and not self.bench.timing.stalls()
        self.bench.dut.set(f"{self.name}_msi_ready", self.ready)

    def clock(self):
        if self.ready and self.bench.dut.get(f"{self.name}_msi_valid"):
            if (vector := self.bench.dut.get(f"{self.name}_msi_dat")) != self.vector:
                self.bench.fail(f"{self.name}: vector of an MSI", self.vector, vector)
            self.times.append(self.bench.now)
