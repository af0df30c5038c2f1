# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Helpers of the gateware tests: stream drivers, a passive checker, and a TLP model in plain Python, which is written
from the specification and shares no code with the gateware."""

import os
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from migen import passive, run_simulation

from test.gateware.fastsim import run_fast
from test.gateware.steps import send

ROOT = Path(__file__).resolve().parents[2]
# What `fail` prints in hexadecimal.
HEXADECIMAL = {"address", "be", "dat", "destination", "header", "mask"}


def full(*values):
    """Values of a parameter that only `make test-all` runs."""
    return [pytest.param(*value if isinstance(value, tuple) else (value,), marks=pytest.mark.full) for value in values]


# Data paths: the usual one first. The header of a TLP takes two beats of 64 bits, and a part of one of 512.
WIDTHS = [128, 512, *full(64, 256)]


def fail(what, *, expected, found, bench=None, **where):
    """Fails the test: `what` was wrong. `where` are cycle, port, address, length and the like, `bench` its options.

    Below it, `test/gateware/conftest.py` prints how to run the test again with a waveform.
    """
    __tracebackhide__ = True
    def shown(values):
        return ", ".join(f"{name.replace('_', ' ')} " + (f"{value:#x}" if name in HEXADECIMAL and isinstance(value, int)
            else str(value)) for name, value in values.items())
    lines = [what, f"  expected: {expected}", f"  found:    {found}", f"  where:    {shown(where)}"]
    if bench:
        lines.append(f"  bench:    {shown(bench)}")
    raise AssertionError("\n".join(lines))


def macros(header):
    """Name to value of the plain macros of a `litepcie_regs.h`, without LITEPCIE_."""
    return {name: int(value, 0) for name, value in
        re.findall(r"^#define LITEPCIE_(\w+)\s+(0x[0-9a-f]+|\d+)\b", header, flags=re.MULTILINE)}


def hexadecimal(beat):
    """A beat, which is a dictionary, as text."""
    if not isinstance(beat, dict):
        return beat
    return ", ".join(f"{name} {value:#x}" for name, value in beat.items())


def waveform():
    """Path of the waveform that this test shall write, or None: `LITEPCIE_VCD` is 1 for build/waves, or a folder."""
    folder = os.environ.get("LITEPCIE_VCD")
    if not folder:
        return None
    folder = ROOT / "build" / "waves" if folder == "1" else Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    test   = os.environ.get("PYTEST_CURRENT_TEST", "design").removesuffix(" (call)").removesuffix(" (setup)")
    return folder / (re.sub(r"[^\w.-]+", "_", test.removeprefix("test/gateware/")) + ".vcd")


def simulate(dut, generators, *, cycles=20000, clocks=None):
    """Runs until every generator not marked `forever` ended; fails after `cycles` of the first clock.

    With more clocks than `sys`: `clocks` is {domain: period or (period, phase)}, in even numbers of any unit, and
    `generators` {domain: list}.

    LITEPCIE_VCD=1 writes a `waveform`, LITEPCIE_MIGEN=1 takes Migen's own simulator; both are slow.
    """
    @passive
    def watchdog():
        for _ in range(cycles):
            yield
        fail("the simulation did not end", expected=f"an end within {cycles} cycles",
            found=f"still running: {', '.join(running(every))}", cycle=cycles)
    waves      = waveform()
    clocks     = clocks or {"sys": 10}
    generators = dict(generators) if isinstance(generators, dict) else {"sys": generators}
    first      = next(iter(clocks))
    every      = [generator for group in generators.values() for generator in group]
    generators[first] = [*generators.get(first, []), watchdog()]
    if waves:
        run_simulation(dut, generators, clocks, vcd_name=str(waves))
    elif os.environ.get("LITEPCIE_MIGEN"):
        run_simulation(dut, generators, clocks)
    else:
        run_fast(dut, generators, clocks)


def running(generators):
    """Names of the functions that active generators wait in."""
    for generator in generators:
        # A passive one is in the wrapper of Migen's decorator.
        if getattr(generator, "gi_frame", None) and generator.gi_code.co_name != "wrapper":
            while getattr(generator.gi_yieldfrom, "gi_frame", None):
                generator = generator.gi_yieldfrom
            yield generator.__qualname__.replace(".<locals>", "")


@passive
def forever(generator):
    """Marks a generator that does not keep simulate() from ending."""
    yield from generator


class Stalls:
    """Random pauses: `next()` is true in `share` of the cycles, deterministic by seed."""
    def __init__(self, share=0.0, seed=1):
        self.share  = share
        self.random = random.Random(seed)

    def next(self):
        return self.share > 0 and self.random.random() < self.share


def through(dut, beats, packets, share=0.0, processes=(), clocks=None):
    """The Watch of `dut.source` while `beats` enter `dut.sink`, until packets left; both sides pause at random."""
    output = Watch(dut.source, name="source")
    def until_done():
        while sum(beat["last"] for beat in output.beats) < packets:
            yield
    simulate(dut, [until_done(), forever(drive(dut.sink, beats, Stalls(share, 1))),
        forever(accept(dut.source, Stalls(share, 2))), forever(output.watch()), *map(forever, processes)],
        cycles=100*len(beats) + 1000, clocks=clocks)
    return output


def stream_fields(endpoint):
    """Names of payload and parameter fields of an endpoint."""
    names = [f[0] for f in endpoint.description.payload_layout]
    return names + [f[0] for f in endpoint.description.param_layout]


def drive(endpoint, beats, stalls=None):
    """Sends beats (dicts of field values, with `first` and `last` where they matter)."""
    stalls = stalls or Stalls()
    for beat in beats:
        while stalls.next():
            yield
        yield from send(endpoint, **beat)
    yield


def accept(endpoint, stalls=None):
    """Drives `ready` until the simulation ends."""
    stalls = stalls or Stalls()
    yield endpoint.ready.eq(1)
    yield
    while True:
        if stalls.share:
            yield endpoint.ready.eq(not stalls.next())
        yield


@dataclass
class Watch:
    """Passive checker of an endpoint: valid and payload are stable until ready, packets begin with `first` and end
    with `last`. Records every accepted beat with its cycle."""
    endpoint: object
    framed:   bool = True
    handshake: bool = True
    name:     str  = ""
    beats:    list = field(default_factory=list)
    on_packet: object = None  # Called with the beats of each packet at its end.
    opened_at: int = 0

    def watch(self):
        endpoint = self.endpoint
        names    = stream_fields(endpoint) + ["first", "last"]
        waiting  = None
        opened   = False
        cycle    = 0
        while True:
            if (yield endpoint.valid):
                beat = {}
                for name in names:
                    beat[name] = (yield getattr(endpoint, name))
                if waiting is not None and beat != waiting:
                    self.fail("the beat changed before it was accepted", waiting, beat, cycle)
                if not self.handshake or (yield endpoint.ready):
                    waiting = None
                    if self.framed:
                        if bool(beat["first"]) == opened:
                            self.fail("`first` is wrong", f"first = {int(not opened)}", beat, cycle)
                        opened = not beat["last"]
                    self.beats.append({**beat, "cycle": cycle})
                    if beat["last"]:
                        if self.on_packet:
                            self.on_packet(self.beats[self.opened_at:])
                        self.opened_at = len(self.beats)
                else:
                    waiting = beat
            elif waiting is not None:
                self.fail("`valid` fell before `ready`", waiting, "no beat", cycle)
            cycle += 1
            yield

    def fail(self, what, expected, found, cycle):
        __tracebackhide__ = True
        fail(f"{self.name}: {what}", expected=hexadecimal(expected), found=hexadecimal(found), cycle=cycle,
            port=self.name, beat=len(self.beats), packet=sum(beat["last"] for beat in self.beats))

    def packets(self):
        """Accepted beats grouped by `last`; an unfinished packet is not in it."""
        packets, packet = [], []
        for beat in self.beats:
            packet.append(beat)
            if beat["last"]:
                packets.append(packet)
                packet = []
        return packets


@dataclass
class TLP:
    """One TLP, fields as in PCIe 4.0 2.2; `data` are the payload bytes in memory order, whole dwords."""
    fmt:     int
    type:    int
    tc:      int = 0
    attr:    int = 0      # Attr[2:0]: ID-based ordering, relaxed ordering, no snoop.
    ep:      int = 0
    td:      int = 0
    length:  int = 0      # Dwords, 1..1024; 0 only where the field is reserved.
    # requests
    requester: int = 0
    tag:       int = 0
    first_be:  int = 0
    last_be:   int = 0
    address:   int = 0    # Address of the first dword.
    # completions
    completer:     int = 0
    status:        int = 0
    byte_count:    int = 0
    lower_address: int = 0
    data: bytes = b""

    @property
    def is_completion(self):
        return self.type >> 1 == 0b0101     # With the locked ones.

    @property
    def header_bytes(self):
        return 16 if self.fmt & 1 else 12

    def dwords(self, endianness):
        """Returns the TLP as the dwords of the PHY's streams."""
        dw0 = self.fmt << 29 | self.type << 24 | self.tc << 20 | self.td << 15 | self.ep << 14
        dw0 |= (self.attr & 3) << 12 | (self.attr >> 2) << 18 | self.length % 1024
        if self.is_completion:
            dw1    = self.completer << 16 | self.status << 13 | self.byte_count % 4096
            header = [dw0, dw1, self.requester << 16 | self.tag << 8 | self.lower_address]
        else:
            dw1    = self.requester << 16 | self.tag << 8 | self.last_be << 4 | self.first_be
            header = [dw0, dw1, self.address & 0xfffffffc]
            if self.fmt & 1:
                header[2:] = [self.address >> 32, self.address & 0xfffffffc]
        payload = [int.from_bytes(self.data[n:n + 4], endianness) for n in range(0, len(self.data), 4)]
        digest  = [0xd19e57ed] if self.td else []
        return header + payload + digest

    def beats(self, data_width, endianness):
        """The TLP as beats of the PHY's streams."""
        per_beat = data_width//32
        dwords   = self.dwords(endianness)
        count    = -(-len(dwords)//per_beat)
        for n in range(count):
            part = dwords[n*per_beat:(n + 1)*per_beat]
            yield dict(
                dat   = sum(dword << 32*lane for lane, dword in enumerate(part)),
                be    = 2**(4*len(part)) - 1,
                first = int(n == 0),
                last  = int(n == count - 1))

    @classmethod
    def from_beats(cls, beats, data_width, endianness):
        """Decodes what a Watch recorded, and checks that it is well formed."""
        def wrong(what, expected, found):
            __tracebackhide__ = True
            fail(f"a TLP is not well formed: {what}", expected=expected, found=found, cycle=beats[0].get("cycle"),
                dwords=" ".join(f"{dword:08x}" for dword in dwords[:8]) + " ..."*(len(dwords) > 8))
        dwords = []
        for n, beat in enumerate(beats):
            for lane in range(data_width//32):
                enable = beat["be"] >> 4*lane & 0xf
                if enable not in (0x0, 0xf):
                    wrong("`be` of a dword", "0 or f", f"{enable:x} in beat {n}, dword {lane}")
                if enable:
                    if len(dwords) != n*data_width//32 + lane:
                        wrong("hole in `be`", f"{n*data_width//32 + lane} dwords before dword {lane} of beat {n}",
                            len(dwords))
                    dwords.append(beat["dat"] >> 32*lane & 0xffffffff)
        dw0, dw1, dw2 = dwords[:3]
        if dw0 & 0x008b_0c00:
            wrong("reserved bits", "0", f"{dw0 & 0x008b_0c00:08x}")
        tlp = cls(fmt=dw0 >> 29, type=dw0 >> 24 & 31, tc=dw0 >> 20 & 7,
            attr=dw0 >> 12 & 3 | (dw0 >> 18 & 1) << 2, ep=dw0 >> 14 & 1, td=dw0 >> 15 & 1, length=dw0 & 1023)
        if (tlp.fmt & 2 or tlp.type == 0) and tlp.length == 0:
            tlp.length = 1024
        payload = dwords[tlp.header_bytes//4:]
        if len(payload) != (tlp.length if tlp.fmt & 2 else 0):
            wrong("length of the payload", f"{tlp.length if tlp.fmt & 2 else 0} dwords, as the header says",
                f"{len(payload)} dwords")
        tlp.data = b"".join(dword.to_bytes(4, endianness) for dword in payload)
        if tlp.is_completion:
            tlp.completer, tlp.status, tlp.byte_count = dw1 >> 16, dw1 >> 13 & 7, dw1 & 4095
            assert dw1 >> 12 & 1 == 0, "BCM is for PCI-X bridges"
            tlp.requester, tlp.tag, tlp.lower_address = dw2 >> 16, dw2 >> 8 & 255, dw2 & 127
        else:
            tlp.requester, tlp.tag, tlp.last_be, tlp.first_be = dw1 >> 16, dw1 >> 8 & 255, dw1 >> 4 & 15, dw1 & 15
            tlp.address = dw2 << 32 | dwords[3] if tlp.fmt & 1 else dw2
            assert tlp.address & 3 == 0, "PH bits set"
        return tlp


def byte_enables(address, length):
    """First and last byte enables, and dwords, of `length` bytes from `address` (PCIe 4.0 2.2.5)."""
    if length == 0:
        return 0, 0, 1
    enabled = [(address & 3) <= n < (address & 3) + length for n in range((address & 3) + length + 3 & ~3)]
    nibbles = [sum(bit << n for n, bit in enumerate(enabled[d:d + 4])) for d in range(0, len(enabled), 4)]
    return nibbles[0], (nibbles[-1] if len(nibbles) > 1 else 0), len(nibbles)


def memory_read(address, length, **fields):
    """MRd of `length` bytes at any byte address; length 0 is the zero-length read."""
    first_be, last_be, dwords = byte_enables(address, length)
    return TLP(fmt=0b001 if address >> 32 else 0b000, type=0, length=dwords, first_be=first_be, last_be=last_be,
        address=address & ~3, **fields)


def memory_write(address, data, **fields):
    """MWr of bytes at any byte address; bytes that are not enabled carry 0xee."""
    first_be, last_be, dwords = byte_enables(address, len(data))
    padded = (b"\xee"*(address & 3) + data).ljust(4*dwords, b"\xee")
    return TLP(fmt=0b011 if address >> 32 else 0b010, type=0, length=dwords, first_be=first_be, last_be=last_be,
        address=address & ~3, data=padded, **fields)


def enabled_bytes(tlp):
    """Addresses that a MRd or a MWr accesses."""
    return [tlp.address + 4*n + byte for n in range(tlp.length) for byte in range(4)
        if (tlp.first_be if n == 0 else tlp.last_be if n == tlp.length - 1 else 0xf) >> byte & 1]


def written_bytes(tlp):
    """{address: byte} that a MWr writes."""
    return {address: tlp.data[address - tlp.address] for address in enabled_bytes(tlp)}


def read_completions(request, memory, *, rcb=64, max_payload=256, split=None, **fields):
    """CplDs of a MRd, split at multiples of `split` (or `max_payload`) of the address; `memory(address)` is a byte."""
    enabled = enabled_bytes(request) or [request.address]
    address, end = enabled[0], enabled[-1] + 1
    step = split or max_payload
    assert step % rcb == 0
    while address < end:
        stop   = min(end, address - address % step + step)
        padded = range(address & ~3, -(-stop//4)*4)
        yield TLP(fmt=0b010, type=0b01010, length=len(padded)//4, completer=0x0000, requester=request.requester,
            tag=request.tag, byte_count=end - address, lower_address=address & 127,
            data=bytes(memory(a) if address <= a < stop else 0xdd for a in padded), tc=request.tc, **fields)
        address = stop


def pattern(address):
    """A byte for every host address, so that a misplaced one shows."""
    return (address*0x9d + (address >> 8)*0x35 + (address >> 16)*0x51 + 7) & 0xff
