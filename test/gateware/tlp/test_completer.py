#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The host's requests to BAR0, compared with a model of the card."""

import random

from dataclasses import replace

import pytest

from litepcie_soc.common.memory_ports import memory_data_layout

from test.gateware.simulation import TLP, Watch, memory_read, memory_write, written_bytes
from test.gateware.tlp.bench import Bench
from test.gateware.tlp.host import CARD, HOST

BAR0   = 0xfe00_0000       # Host address of BAR0; the card uses the lower 21 bits.
WINDOW = BAR0 + 0x10_0000

# Model --------------------------------------------------------------------------------------------

class CardModel:
    """Models the registers at `csr_bus` and the memory of the window, with stalls; records all accesses."""
    def __init__(self, bench, latency=2):
        self.bench     = bench
        self.registers = {}       # Byte address -> byte.
        self.memory    = {}
        self.accesses  = []       # (we, byte address, sel)
        self.latency   = latency
        self.beats     = []       # Cycles in which the window was written.
        assert memory_data_layout(bench.data_width)[0][1] == bench.data_width

    @staticmethod
    def initial(address):
        return (address*0x35 + 0x11) & 0xff

    def processes(self):
        return []

    def watchers(self):
        layer = self.bench.layer
        return [self.bus(), self.writes(), self.reads(),
            Watch(layer.window_write, name="window write").watch(),
            Watch(layer.window_read.command, framed=False, name="window read").watch()]

    def bus(self):
        bus, wait = self.bench.layer.csr_bus, 0
        while True:
            if (yield bus.cyc) and (yield bus.stb) and not (yield bus.ack):
                wait += 1
                if wait > self.latency:
                    wait = 0
                    yield bus.ack.eq(1)
                    yield from self.access(bus)
            else:
                yield bus.ack.eq(0)
            yield

    def access(self, bus):
        address, sel = 4*(yield bus.adr), (yield bus.sel)
        if (yield bus.we):
            value = (yield bus.dat_w)
            # Like LiteX's CSR bridge, this writes the whole dword and ignores `sel`.
            self.registers.update({address + n: value >> 8*n & 0xff for n in range(4)})
            self.accesses.append((1, address, sel))
        else:
            value = [self.registers.get(address + n, self.initial(address + n)) for n in range(4)]
            yield bus.dat_r.eq(int.from_bytes(bytes(value), "little"))
            self.accesses.append((0, address, sel))

    def writes(self):
        port, stalls = self.bench.layer.window_write, self.bench.stalls()
        lanes, cycle = self.bench.data_width//8, 0
        while True:
            if (yield port.valid) and (yield port.ready):
                address, dat, be = lanes*(yield port.address), (yield port.dat), (yield port.be)
                self.memory.update({address + n: dat >> 8*n & 0xff for n in range(lanes) if be >> n & 1})
                self.beats.append(cycle)
            yield port.ready.eq(not stalls.next())
            cycle += 1
            yield

    def reads(self):
        port, stalls = self.bench.layer.window_read, self.bench.stalls()
        lanes = self.bench.data_width//8
        while True:
            yield port.command.ready.eq(1)
            yield
            while not (yield port.command.valid):
                yield
            yield port.command.ready.eq(0)
            address = lanes*(yield port.command.address)
            word    = bytes(self.memory.get(address + n, self.initial(address + n)) for n in range(lanes))
            for _ in range(2 + stalls.next()):
                yield
            yield port.data.dat.eq(int.from_bytes(word, "little"))
            yield port.data.valid.eq(1)
            yield
            while not (yield port.data.ready):
                yield
            yield port.data.valid.eq(0)


def enabled_bytes(tlp):
    return [tlp.address + 4*n + byte for n in range(tlp.length) for byte in range(4)
        if (tlp.first_be if n == 0 else tlp.last_be if n == tlp.length - 1 else 0xf) >> byte & 1]


def check_completion(request, tlp, read):
    """Checks the single completion of a read: fields of PCIe 4.0 2.2.9 and 2.3.1.1."""
    enabled = enabled_bytes(request)
    assert (tlp.fmt, tlp.type, tlp.status) == (0b010, 0b01010, 0)
    assert (tlp.completer, tlp.requester, tlp.tag) == (CARD, request.requester, request.tag)
    assert (tlp.tc, tlp.attr, tlp.length, tlp.ep, tlp.td) == (request.tc, request.attr, request.length, 0, 0)
    if not enabled:
        assert (tlp.byte_count, tlp.lower_address) == (1, request.address & 127)
        return
    assert tlp.byte_count == enabled[-1] - enabled[0] + 1
    assert tlp.lower_address == enabled[0] & 127
    for address in enabled:
        assert tlp.data[address - request.address] == read(address), f"byte at {address:#x}"


def run(requests, data_width=64, *, shape="shared", endianness="big", stall=0.2, latency=2, **options):
    bench = Bench(data_width, shape=shape, endianness=endianness, stall=stall)
    board = CardModel(bench, latency)
    bench.host.requests.extend(requests)
    bench.run([board], [wait(bench, requests)], **options)
    return bench, board


def wait(bench, requests):
    """Waits until every non-posted request has its completion."""
    posted = sum(tlp.type >> 3 == 0b10 or tlp.type == 0 and tlp.fmt & 2 == 2 for tlp in requests)
    while len(bench.host.completions) < len(requests) - posted:
        yield

# Reads, writes ------------------------------------------------------------------------------------

def register_requests(rng):
    """Every byte enable of one dword, lengths of several; writes and reads in turn."""
    requests = []
    for be in range(16):
        data = bytes(rng.randrange(256) for _ in range(4))
        requests.append(TLP(fmt=2, type=0, length=1, first_be=be, address=BAR0 + 4*be, data=data, requester=HOST))
        requests.append(TLP(fmt=0, type=0, length=1, first_be=be, address=BAR0 + 4*be, requester=HOST, tag=be))
    for length in (5, 8, 11, 64, 125, 128):
        address = BAR0 + 0x1000 + rng.randrange(0, 4 if length < 126 else 1)
        requests.append(memory_write(address, bytes(rng.randrange(256) for _ in range(length)), requester=HOST))
        requests.append(memory_read(address - address % 4, length, requester=HOST, tag=length, tc=3, attr=2))
        requests.append(memory_read(address, length, requester=HOST, tag=length + 1))
    return requests


@pytest.mark.one_at_a_time(data_width=128)
@pytest.mark.parametrize("data_width", [64, 128, 256, 512])
@pytest.mark.parametrize("shape, endianness", [("shared", "big"), ("split", "little")])
def test_registers(data_width, shape, endianness):
    requests = register_requests(random.Random(data_width))
    bench, board = run(requests, data_width, shape=shape, endianness=endianness)
    check_all(requests, bench, {})
    assert bench.errors["refused"] == 0
    assert all(sel for _, _, sel in board.accesses)


def check_all(requests, bench, memory):
    """Applies the requests to a model in order, and compares each completion."""
    registers   = {}
    completions = iter(bench.host.completions)
    for request in requests:
        offset = request.address & 0x1f_ffff
        base   = request.address - offset
        space  = registers if offset < 0x10_0000 else memory
        if request.fmt & 2:
            space.update({address - base & 0xf_ffff: byte for address, byte in written_bytes(request).items()})
        else:
            check_completion(request, next(completions),
                lambda address: space.get(address - base & 0xf_ffff, CardModel.initial(address - base & 0xf_ffff)))
    assert next(completions, None) is None
    return registers, memory


def window_requests(rng):
    requests = []
    for be in range(16):
        data = bytes(rng.randrange(256) for _ in range(4))
        requests.append(TLP(fmt=2, type=0, length=1, first_be=be, address=WINDOW + 4*be, data=data, requester=HOST))
    for n in range(30):
        length  = rng.choice([4, 5, 8, 16, 64, 64, 64, 128, 250])
        address = WINDOW + 0x1000 + rng.randrange(0, 0x700)
        high    = rng.choice([0, 0x12 << 32])     # An address above 4 GiB takes a header of four dwords.
        requests.append(memory_write(high + address, bytes(rng.randrange(256) for _ in range(length)), requester=HOST))
        length  = rng.choice([0, 1, 2, 3, 4, 8, 64, 100, 125])
        address = WINDOW + rng.choice([0, 0x1000 + rng.randrange(0, 0x700)])
        requests.append(memory_read(high + address, length, requester=HOST, tag=n, attr=n % 8, tc=n % 8))
    return requests


@pytest.mark.one_at_a_time(data_width=128)
@pytest.mark.parametrize("data_width", [64, 128, 256, 512])
@pytest.mark.parametrize("shape, endianness", [("shared", "big"), ("split", "little")])
def test_window(data_width, shape, endianness):
    """Writes and reads are served in order, so that every read returns the data of the writes before it."""
    requests = window_requests(random.Random(data_width))
    bench, board = run(requests, data_width, shape=shape, endianness=endianness)
    _, memory = check_all(requests, bench, {})
    assert board.memory == memory
    assert bench.errors["refused"] == 0


@pytest.mark.parametrize("data_width", [64, 128, 256, 512])
def test_write_combined_writes_at_full_rate(data_width):
    """Back-to-back writes of 64 bytes: the layer accepts a beat of the PHY in every cycle."""
    requests = [memory_write(WINDOW + 64*n, bytes(range(n, n + 64)), requester=HOST) for n in range(40)]
    bench, board = run(requests, data_width, stall=0)
    beats = [beat["cycle"] for beat in bench.rx[0].beats]
    assert beats == list(range(beats[0], beats[0] + len(beats)))
    check_all(requests, bench, board.memory)


@pytest.mark.parametrize("data_width", [64, 128, 256, 512])
def test_window_writes_of_any_length_at_full_rate(data_width):
    """Writes of whole dwords to word boundaries, with both header sizes: a beat of the PHY in every cycle."""
    rng      = random.Random(data_width)
    requests = [memory_write(WINDOW + 512*n + (n % 2 << 32), rng.randbytes(length), requester=HOST)
        for n, length in enumerate([4, 8, 16, 52, 64, 68, 128, 200, 256, 508, 512]*2)]
    bench, board = run(requests, data_width, stall=0)
    beats = [beat["cycle"] for beat in bench.rx[0].beats]
    assert beats == list(range(beats[0], beats[0] + len(beats)))
    check_all(requests, bench, board.memory)


def test_partial_register_write_keeps_the_other_bytes():
    """The model of the CSR bridge writes whole dwords, so the completer has to write the other bytes back."""
    requests = [
        memory_write(BAR0 + 0x10, bytes.fromhex("01020304"), requester=HOST),
        memory_write(BAR0 + 0x11, b"\xaa", requester=HOST),
        memory_write(BAR0 + 0x13, b"\xbb", requester=HOST),
    ]
    _, board = run(requests)
    assert bytes(board.registers[0x10 + n] for n in range(4)) == bytes.fromhex("01aa03bb")


def test_no_access_without_byte_enables():
    requests = [
        memory_read(BAR0 + 0x20, 0, requester=HOST, tag=1),
        TLP(fmt=2, type=0, length=1, first_be=0, address=BAR0 + 0x20, data=bytes(4), requester=HOST),
    ]
    bench, board = run(requests)
    assert board.accesses == [] and len(bench.host.completions) == 1


def test_bus_error_reads_as_all_ones():
    bench = Bench(64)
    bus   = bench.layer.csr_bus
    bench.comb += bus.err.eq(bus.cyc & bus.stb)
    bench.host.requests.append(memory_read(BAR0, 4, requester=HOST, tag=1))
    bench.run([])
    assert bench.host.completions[0].data == b"\xff"*4

# Refused ------------------------------------------------------------------------------------------

UNSUPPORTED = {
    "long read":   (TLP(fmt=0, type=0, length=33, first_be=0xe, last_be=0x7, address=WINDOW + 4), 130, 5),
    "4 KiB read":  (TLP(fmt=1, type=0, length=1024, first_be=0xf, last_be=0xf, address=WINDOW), 4096, 0),
    "locked read": (TLP(fmt=0, type=1, length=1, first_be=0x6, address=WINDOW + 8), 2, 9),
    "I/O read":    (TLP(fmt=0, type=2, length=1, first_be=0xf, address=0x100), 4, 0),
    "I/O write":   (TLP(fmt=2, type=2, length=1, first_be=0xf, address=0x100, data=bytes(4)), 4, 0),
    "atomic":      (TLP(fmt=2, type=0b01100, length=2, first_be=0xf, last_be=0xf, address=WINDOW, data=bytes(8)), 4, 0),
    "config":      (TLP(fmt=0, type=4, length=1, first_be=0xf, address=0x10), 4, 0),
}


@pytest.mark.parametrize("data_width", [64, 128, 256, 512])
def test_unsupported_requests(data_width):
    """Each is completed with UR and the fields of its request; the requests around them are served."""
    requests = []
    for n, (request, _, _) in enumerate(UNSUPPORTED.values()):
        requests.append(replace(request, requester=HOST, tag=n, tc=2, attr=1))
        requests.append(memory_read(BAR0 + 4*n, 4, requester=HOST, tag=100 + n))
    bench, _ = run(requests, data_width)
    assert bench.errors["refused"] == len(UNSUPPORTED)
    refusals, answers = bench.host.completions[::2], bench.host.completions[1::2]
    for n, (refusal, (request, byte_count, lower)) in enumerate(zip(refusals, UNSUPPORTED.values(), strict=True)):
        assert (refusal.fmt, refusal.type) == (0, 0b01011 if request.type == 1 else 0b01010)
        assert (refusal.status, refusal.length, refusal.data) == (1, 0, b"")
        assert (refusal.completer, refusal.requester, refusal.tag) == (CARD, HOST, n)
        assert (refusal.tc, refusal.attr) == (2, 1)
        assert (refusal.byte_count, refusal.lower_address) == (byte_count % 4096, lower)
    assert [answer.tag for answer in answers] == [100 + n for n in range(len(UNSUPPORTED))]


def test_dropped_posted_requests():
    """Messages and poisoned writes have no effect and no completion; only the poisoned writes count as refused."""
    requests = [
        TLP(fmt=0b001, type=0b10100, first_be=0x9, last_be=0x1, requester=HOST),                              # Msg
        TLP(fmt=0b011, type=0b10010, length=1, requester=HOST, data=bytes(4), first_be=0xe, last_be=0x7),     # MsgD
        replace(memory_write(WINDOW, bytes(64), requester=HOST), ep=1),                                       # poisoned
        replace(memory_write(BAR0, bytes(4), requester=HOST), ep=1),
        memory_read(BAR0, 4, requester=HOST, tag=1),
    ]
    bench, board = run(requests)
    assert bench.errors["refused"] == 2
    assert board.memory == {} and board.registers == {}
    assert len(bench.host.completions) == 1
