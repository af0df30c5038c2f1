# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Test bench of a stream's engines: the models of any engine, and those of the user."""

import struct
from dataclasses import dataclass

from litepcie_soc.stream_dma.engine import StreamEngine
from test.gateware.dma import bench, dut

REGS          = bench.REGS
LAST          = REGS["DESCRIPTOR_LAST"]
REPORT_OFFSET = REGS["REPORT_OFFSET"]
REPORT_BYTES  = REGS["REPORT_BYTES_MASK"]
REPORT_LAST   = REGS["REPORT_LAST"]
REPORT_CUT    = REGS["REPORT_CUT"]


class Top(dut.Top):
    """Both engines of a stream: ``reader_user`` is the output to the user, ``writer_user`` the input."""
    def engine_on(self, direction, data_width, ports):
        reader = direction == "reader"
        engine = StreamEngine(direction, **ports)
        user   = engine.source if reader else engine.sink
        self.expose_stream(f"{direction}_user", user)
        for name in ("first", "last"):
            self.expose(f"{direction}_user_{name}", getattr(user, name))
        return engine


class ConsumerModel:
    """User of the reader: accepts beats, and checks the rules of the stream in every cycle."""
    def __init__(self, bench):
        self.bench   = bench
        self.bytes   = bench.data_width // 8
        self.packets = [bytearray()]   # The last packet has not ended.
        self.cut     = 0               # Packets cut short, without ``last``.
        self.beats   = []              # Cycle of each beat.
        self.count   = 0               # Bytes of all beats.
        self.stall   = bench.timing.stalls
        self.held    = None            # A beat that was offered and not accepted.

    def fail(self, what, expected, found):
        __tracebackhide__ = True
        shown = "data {:#x}, be {:#x}, first {}, last {}"
        expected, found = [shown.format(*one) if isinstance(one, tuple) else one for one in (expected, found)]
        self.bench.fail(f"reader_user: {what}", expected, found, port="reader_user", packet=len(self.packets) - 1,
            byte=len(self.packets[-1]))

    def drive(self):
        self.ready = not self.stall()
        self.bench.dut.set("reader_user_ready", self.ready)

    def clock(self):
        get = self.bench.dut.get
        if not get("reader_user_valid"):
            if self.held:
                self.fail("a beat was withdrawn before it was accepted", self.held, "no beat")
            return
        beat = tuple(get(f"reader_user_{name}") for name in ("data", "be", "first", "last"))
        if self.held not in (None, beat):
            self.fail("a beat changed before it was accepted", self.held, beat)
        self.held = None if self.ready else beat
        if self.ready:
            self.take(*beat)

    def take(self, dat, be, first, last):
        count = be.bit_count()
        if be != (1 << count) - 1 or not count:
            self.fail("gap in byte enables", "ones from bit 0 on", f"{be:#x}")
        if not last and count != self.bytes:
            self.fail("partial beat within a packet", f"{self.bytes} bytes, or `last`", f"{count} bytes")
        if first and self.packets[-1]:
            self.cut += 1
            self.packets[-1] = bytearray()
        if first != (not self.packets[-1]):
            self.fail("`first` is wrong", f"first = {int(not self.packets[-1])}", f"first = {first}")
        self.packets[-1].extend(dat.to_bytes(self.bytes, "little")[:count])
        self.beats.append(self.bench.now)
        self.count += count
        if last:
            self.packets.append(bytearray())

    @property
    def taken(self):
        return b"".join(self.packets)


class ProducerModel:
    """User of the writer: sends packets. Without ``last`` a packet goes on, until one that is not ``first`` ends it."""
    def __init__(self, bench):
        self.bench   = bench
        self.bytes   = bench.data_width // 8
        self.queue   = []      # Beats: data, be, first, last.
        self.stall   = bench.timing.stalls
        self.offered = False
        self.beats   = []      # Cycle of each beat.
        self.count   = 0       # Bytes of all beats.

    def give(self, packet, last=True, first=True):
        assert last or len(packet) % self.bytes == 0
        for at in range(0, len(packet), self.bytes):
            part = packet[at:at + self.bytes]
            word = part + self.bench.rng.randbytes(self.bytes - len(part))
            self.queue.append((int.from_bytes(word, "little"), (1 << len(part)) - 1, first and at == 0,
                last and at + self.bytes >= len(packet)))

    def drive(self):
        self.offered = bool(self.queue) and (self.offered or not self.stall())
        self.bench.dut.set("writer_user_valid", self.offered)
        if self.offered:
            for name, value in zip(("data", "be", "first", "last"), self.queue[0]):
                self.bench.dut.set(f"writer_user_{name}", value)

    def clock(self):
        if self.offered and self.bench.dut.get("writer_user_ready"):
            self.count += self.queue.pop(0)[1].bit_count()
            self.offered = False
            self.beats.append(self.bench.now)


@dataclass
class Descriptor:
    length:    int
    host:      int
    interrupt: bool = False
    last:      bool = False

    def pack(self):
        flags = bench.INTERRUPT * self.interrupt | LAST * self.last
        return struct.pack("<IIQ", self.length | flags, 0xdeadbeef, self.host)


class Bench(bench.Bench):
    """One engine of a stream, with its user."""
    def __init__(self, direction, data_width=128, **kwargs):
        bench.Bench.__init__(self, direction, data_width, top_class=Top, **kwargs)

    def add_host(self):
        bench.Bench.add_host(self)
        self.reports = self.host.add(self.status + REPORT_OFFSET, bytes(4 << self.ring_log2))

    def add_models(self):
        bench.Bench.add_models(self, memory=False)
        self.descriptors.tags = 2
        if self.direction == "reader":
            self.data.space = None
        self.user = (ConsumerModel if self.direction == "reader" else ProducerModel)(self)
        self.models.append(self.user)

    def report(self, slot):
        """(bytes, packet ends) of a buffer, as the host sees it."""
        value, = struct.unpack_from("<I", self.reports, 4 * slot)
        return value & REPORT_BYTES, bool(value & REPORT_LAST)

    def after_cut(self, slot):
        """Whether the packet before a buffer was cut."""
        return bool(struct.unpack_from("<I", self.reports, 4 * slot)[0] & REPORT_CUT)

    def received(self, slots):
        """The packets in buffers, as a program takes them: (bytes, "whole", "cut" or "goes on")."""
        packets, data = [], b""
        for n, descriptor in enumerate(slots):
            length, ends = self.report(n)
            if self.after_cut(n):
                packets.append((data, "cut"))
                data = b""
            data += self.host.read(descriptor.host, length)
            if ends:
                packets.append((data, "whole"))
                data = b""
        return [*packets, (data, "goes on")]


def started(*args, **kwargs):
    """A bench whose engine runs."""
    return bench.started(*args, bench=Bench, **kwargs)


def packets_of(host_bench, entries):
    """The packets that descriptors give; the last one has not ended, and may be empty."""
    packets = [b""]
    for descriptor in bench.flatten(entries):
        packets[-1] += host_bench.host.read(descriptor.host, descriptor.length)
        if descriptor.last:
            packets.append(b"")
    return packets


def fill(packets, slots):
    """Expected contents of each used slot: ((bytes, packet ends), [(host address, bytes)])."""
    slots, filled = iter(slots), []
    for packet in packets:
        while packet:
            slot = next(slots, None)
            if slot is None:
                return filled
            pieces = []
            for descriptor in bench.flatten([slot]):
                if packet:
                    pieces.append((descriptor.host, packet[:descriptor.length]))
                    packet = packet[descriptor.length:]
            filled.append(((sum(len(data) for _, data in pieces), not packet), pieces))
    return filled
