# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The host's requests to BAR0, compared with a model of the card."""

import random
from dataclasses import replace

import pytest

from litepcie_soc.common.memory_ports import memory_data_layout
from test.gateware.simulation import (
    TLP, WIDTHS, Stalls, Watch, enabled_bytes, full, memory_read, memory_write, written_bytes)
from test.gateware.steps import send
from test.gateware.tlp.bench import Bench
from test.gateware.tlp.host import CARD, HOST

BAR0   = 0xfe00_0000       # Host address of BAR0; the card uses the lower 21 bits.
WINDOW = BAR0 + 0x10_0000


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
        return [self.bus(), self.writes(), self.reads(), Watch(layer.window_write, name="window write").watch(),
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
            yield from send(port.data, dat=int.from_bytes(word, "little"))


def check_completions(request, completions, read):
    """Takes all completions of a read from an iterator and checks them: fields of PCIe 4.0 2.2.9 and 2.3.1.1.

    `read(address)` returns the values that a byte may have.
    """
    enabled = enabled_bytes(request)
    end     = request.address + 4*request.length
    dword   = request.address
    while dword < end:
        tlp = next(completions)
        assert (tlp.fmt, tlp.type, tlp.status) == (0b010, 0b01010, 0)
        assert (tlp.completer, tlp.requester, tlp.tag) == (CARD, request.requester, request.tag)
        assert (tlp.tc, tlp.attr, tlp.ep, tlp.td) == (request.tc, request.attr, 0, 0)
        # The Read Completion Boundary of an endpoint is 128 bytes, and so is the smallest MPS.
        assert tlp.length == (min(end, dword - dword % 128 + 128) - dword)//4
        if not enabled:
            assert (tlp.byte_count, tlp.lower_address) == (1, request.address & 127)
            return
        first = max(dword, enabled[0])
        assert tlp.byte_count == (enabled[-1] - first + 1) % 4096
        assert tlp.lower_address == first & 127
        for address in enabled:
            if dword <= address < dword + 4*tlp.length:
                assert tlp.data[address - dword] in read(address), f"byte at {address:#x}"
        dword += 4*tlp.length


class PassingWrites:
    """Writes among `requests` to BAR0. One that follows a read may pass it (PCIe 4.0 table 2-40)."""
    def __init__(self, requests):
        self.writes = {}        # Address in BAR0 -> [(number of the request, byte)].
        for n, tlp in enumerate(requests):
            for address, byte in written_bytes(tlp).items() if tlp.fmt & 2 else ():
                self.writes.setdefault(address & 0x1f_ffff, []).append((n, byte))

    def values(self, n, address, now):
        """What request n may read: the byte that its address holds `now`, or one of a later write."""
        return {now, *[byte for later, byte in self.writes.get(address & 0x1f_ffff, ()) if later > n]}


def count_completions(request):
    return (request.address % 128 + 4*request.length + 127)//128 if request.type == request.fmt & 2 == 0 else 1


def run(requests, data_width=64, stall=0.2, **options):
    bench = Bench(data_width, stall=stall, **options)
    board = CardModel(bench)
    bench.host.requests.extend(requests)
    bench.run([board], [wait(bench, requests)])
    return bench, board


def wait(bench, requests):
    expected = sum(count_completions(tlp) for tlp in requests
        if tlp.type >> 3 != 0b10 and not (tlp.type == 0 and tlp.fmt & 2))
    while len(bench.host.completions) < expected:
        yield


def register_requests(rng):
    """Every byte enable of one dword, lengths of several; writes and reads in turn."""
    requests = []
    for be in range(16):
        data = bytes(rng.randrange(256) for _ in range(4))
        requests.append(TLP(fmt=2, type=0, length=1, first_be=be, address=BAR0 + 4*be, data=data, requester=HOST))
        requests.append(TLP(fmt=0, type=0, length=1, first_be=be, address=BAR0 + 4*be, requester=HOST, tag=be))
    for length in (5, 8, 11, 64, 125, 128, 300):
        address = BAR0 + 0x1000 + rng.randrange(0, 4 if length < 126 else 1)
        requests.append(memory_write(address, bytes(rng.randrange(256) for _ in range(length)), requester=HOST))
        requests.append(memory_read(address - address % 4, length, requester=HOST, tag=length % 256, tc=3, attr=2))
        requests.append(memory_read(address, length, requester=HOST, tag=(length + 1) % 256))
    return requests


def check_all(requests, bench, memory):
    """Applies the requests to a model in order, and compares each completion."""
    spaces      = {}, memory
    passing     = PassingWrites(requests)
    completions = iter(bench.host.completions)
    for n, request in enumerate(requests):
        if request.fmt & 2:
            for address, byte in written_bytes(request).items():
                spaces[address >> 20 & 1][address & 0xf_ffff] = byte
        else:
            check_completions(request, completions, lambda address: passing.values(n, address,
                spaces[address >> 20 & 1].get(address & 0xf_ffff, CardModel.initial(address & 0xf_ffff))))
    assert next(completions, None) is None
    return spaces


def long_requests(rng, base, writes):
    """Reads that need several completions, from any address; the last bytes before a multiple of 4 KiB among them."""
    requests = [memory_write(base + at, rng.randbytes(256), requester=HOST) for at in range(0, 8192, 256)]*writes
    cases    = [(0, 4096), (1, 4095), (4096, 129), (124, 5), (127, 2), (127, 129), (125, 4096 - 125), (3*128, 128)]
    cases   += [(at, min(rng.randint(1, 700), 4096 - at)) for at in [rng.randrange(4096) for _ in range(4)]]
    for n, (at, length) in enumerate(cases):
        requests.append(memory_read(base + at, length, requester=HOST, tag=n, tc=n % 8, attr=n % 8))
        requests.append(memory_write(base + at, rng.randbytes(min(length, 8, 4096 - at)), requester=HOST))
    return requests


@pytest.mark.parametrize("data_width", WIDTHS)
def test_rate_of_window_reads(data_width):
    """A dword per cycle, if the memory has the latency of block RAM: other traffic does not wait for long."""
    requests = [memory_read(WINDOW, 4096, requester=HOST)]
    bench, board = run(requests, data_width, stall=0)
    cycles = [beat["cycle"] for watch in bench.tx for beat in watch.beats]
    assert cycles[-1] - cycles[0] < {64: 4000, 128: 2400, 256: 1700, 512: 1400}[data_width]


def test_beyond_the_window():
    """A window that is smaller than its half of BAR0 repeats nothing: reads are 0, writes are dropped."""
    size = 0x4000
    rng  = random.Random(128)
    requests = []
    for n in range(12):
        at = rng.choice((size - 64, size, 2*size - 64, 2*size, 5*size + 64*n, 0x10_0000 - 64))
        for place in (at, at % size):
            requests.append(memory_write(WINDOW + place, rng.randbytes(48), requester=HOST))
        for tag, place in enumerate((at, at % size)):
            requests.append(memory_read(WINDOW + place + 3, 60, requester=HOST, tag=2*n + tag))
    bench, board = run(requests, 128, window_bytes=size)
    inside, passing, completions = {}, PassingWrites(requests), iter(bench.host.completions)
    for n, request in enumerate(requests):
        offset = request.address - WINDOW
        if request.fmt & 2:
            inside.update({at - WINDOW: byte for at, byte in written_bytes(request).items() if offset < size})
        else:
            check_completions(request, completions, lambda address: (0,) if address - WINDOW >= size else
                passing.values(n, address, inside.get(address - WINDOW, CardModel.initial(address - WINDOW))))
    assert board.memory == inside
    assert bench.errors["refused"] == 0


# Rules: TXN.2.6#9; TXN.2.21#19
@pytest.mark.parametrize("data_width, shape, endianness", [(128, "shared", "big"), (512, "split", "little"),
    *full((64, "split", "big"))])
def test_registers_and_window(data_width, shape, endianness):
    """Writes and reads are served in order, so that every read returns the data of the writes before it.

    The model of the CSR bridge writes whole dwords: the completer writes the bytes back that are not enabled.
    """
    rng      = random.Random(data_width)
    requests = register_requests(rng) + window_requests(rng) + long_requests(rng, WINDOW + 0x3000, True)
    bench, board = run(requests, data_width, shape=shape, endianness=endianness)
    _, memory = check_all(requests, bench, {})
    assert board.memory == memory
    assert bench.errors["refused"] == 0
    assert all(sel for _, _, sel in board.accesses)


def test_window_of_less_than_a_page():
    with pytest.raises(ValueError, match="window_bytes 2048 is not supported; give 4096 or more"):
        Bench(64, window_bytes=2048)


def window_requests(rng):
    requests = []
    for be in range(16):
        data = bytes(rng.randrange(256) for _ in range(4))
        requests.append(TLP(fmt=2, type=0, length=1, first_be=be, address=WINDOW + 4*be, data=data, requester=HOST))
    for n in range(30):
        length  = rng.choice([4, 5, 8, 16, 64, 64, 64, 128, 250])
        address = WINDOW + 0x1000 + rng.randrange(0, 0x700)
        high    = rng.choice([0, 0x12 << 32])     # An address above 4 GiB takes a header of four dwords.
        # A digest is dropped, also if it takes another beat.
        requests.append(memory_write(high + address, rng.randbytes(length), requester=HOST, td=n // 2 % 2))
        length  = rng.choice([0, 1, 2, 3, 4, 8, 64, 100, 125])
        address = WINDOW + rng.choice([0, 0x1000 + rng.randrange(0, 0x700)])
        requests.append(memory_read(high + address, length, requester=HOST, tag=n, attr=n % 8, tc=n % 8, td=n % 2))
    return requests


@pytest.mark.parametrize("data_width", WIDTHS)
def test_window_writes_of_any_length_at_full_rate(data_width):
    """Writes of whole dwords to word boundaries, with both header sizes: a beat of the PHY in every cycle."""
    rng      = random.Random(data_width)
    requests = [memory_write(WINDOW + 512*n + (n % 2 << 32), rng.randbytes(length), requester=HOST)
        for n, length in enumerate([4, 8, 16, 52, 64, 68, 128, 200, 256, 508, 512]*2)]
    bench, board = run(requests, data_width, stall=0)
    beats = [beat["cycle"] for beat in bench.rx[0].beats]
    assert beats == list(range(beats[0], beats[0] + len(beats)))
    check_all(requests, bench, board.memory)


def test_bus_error_reads_as_all_ones():
    bench = Bench(64)
    bus   = bench.layer.csr_bus
    bench.comb += bus.err.eq(bus.cyc & bus.stb)
    bench.host.requests.append(memory_read(BAR0, 4, requester=HOST, tag=1))
    bench.run([])
    assert bench.host.completions[0].data == b"\xff"*4


class Shut(Stalls):
    share = 1
    shut  = True

    def __init__(self):
        pass

    def next(self):
        return self.shut


# Rules: 2.4.1
@pytest.mark.parametrize("data_width, shape, endianness", [(128, "shared", "big"), *full((64, "split", "little"))])
def test_writes_pass_reads_whose_completions_cannot_leave(data_width, shape, endianness):
    """All writes land while the link takes nothing (PCIe 4.0 2.4.1). No read passes a write before it."""
    rng      = random.Random(data_width)
    places   = [base + 0x1000 + 64*n for n in range(8) for base in (BAR0, WINDOW)]
    requests = []
    for n, place in enumerate(places):
        requests += [memory_write(place, rng.randbytes(32), requester=HOST),
            memory_read(place, 256 if n % 3 else 32, requester=HOST, tag=n)]
    requests += [memory_write(place, rng.randbytes(48), requester=HOST) for place in places]
    bench     = Bench(data_width, shape=shape, endianness=endianness, stall=0.2)
    board     = CardModel(bench)
    bench.tx_stalls = Shut()
    bench.host.requests.extend(requests)
    spaces = {}, {}
    for tlp in requests:
        if tlp.fmt & 2:
            for address, byte in written_bytes(tlp).items():
                spaces[address >> 20 & 1][address & 0xf_ffff] = byte
    def all_land():
        while (board.registers, board.memory) != spaces:
            yield
        assert not bench.host.completions
        bench.tx_stalls.shut = False
        yield from wait(bench, requests)
    bench.run([board], [all_land()], cycles=8000)
    check_all(requests, bench, {})

def test_reads_that_wait_while_the_link_goes_down_get_no_completion():
    """Also if one of them is served until the link is up again. Those that follow get theirs."""
    bench = Bench(128)
    board = CardModel(bench, latency=60)
    lost  = [memory_read(BAR0 + 4*n, 4, requester=HOST, tag=n) for n in range(6)]
    after = [memory_read(BAR0 + 4*n, 4, requester=HOST, tag=n) for n in range(10, 16)]
    bench.host.requests.extend(lost)
    def retrain():
        while bench.host.requests:
            yield
        for up in (1, 0, 1):
            yield bench.phy.link_up.eq(up)
            for _ in range(12):
                yield
        assert not board.accesses
        bench.host.requests.extend(after)
        yield from wait(bench, after)
    bench.run([board], [retrain()])
    assert [tlp.tag for tlp in bench.host.completions] == [tlp.tag for tlp in after]


UNSUPPORTED = {
    "locked read": (TLP(fmt=0, type=1, length=1, first_be=0x6, address=WINDOW + 8), 2, 9),
    "I/O read":    (TLP(fmt=0, type=2, length=1, first_be=0xf, address=0x100), 4, 0),
    "I/O write":   (TLP(fmt=2, type=2, length=1, first_be=0xf, address=0x100, data=bytes(4)), 4, 0),
    "atomic":      (TLP(fmt=2, type=0b01100, length=2, first_be=0xf, last_be=0xf, address=WINDOW, data=bytes(8)), 4, 0),
    "config":      (TLP(fmt=0, type=4, length=1, first_be=0xf, address=0x10), 4, 0)}


# Rules: 2.3.1
def test_unsupported_requests():
    """Each is completed with UR and the fields of its request; the requests around them are served."""
    requests = []
    for n, (request, _, _) in enumerate(UNSUPPORTED.values()):
        requests.append(replace(request, requester=HOST, tag=n, tc=2, attr=1))
        requests.append(memory_read(BAR0 + 4*n, 4, requester=HOST, tag=100 + n))
    bench, _ = run(requests, 128)
    assert bench.errors["refused"] == len(UNSUPPORTED)
    refusals, answers = bench.host.completions[::2], bench.host.completions[1::2]
    for n, (refusal, (request, byte_count, lower)) in enumerate(zip(refusals, UNSUPPORTED.values(), strict=True)):
        assert (refusal.fmt, refusal.type) == (0, 0b01011 if request.type == 1 else 0b01010)
        assert (refusal.status, refusal.length, refusal.data) == (1, 0, b"")
        assert (refusal.completer, refusal.requester, refusal.tag) == (CARD, HOST, n)
        assert (refusal.tc, refusal.attr) == (2, 1)
        assert (refusal.byte_count, refusal.lower_address) == (byte_count % 4096, lower)
    assert [answer.tag for answer in answers] == [100 + n for n in range(len(UNSUPPORTED))]


# Rules: 2.7.2.2
def test_dropped_posted_requests():
    """Messages and poisoned writes have no effect and no completion; only the poisoned writes count as refused."""
    requests = [
        TLP(fmt=0b001, type=0b10100, first_be=0x9, last_be=0x1, requester=HOST),                              # Msg
        TLP(fmt=0b011, type=0b10010, length=1, requester=HOST, data=bytes(4), first_be=0xe, last_be=0x7),     # MsgD
        replace(memory_write(WINDOW, bytes(64), requester=HOST), ep=1),                                       # poisoned
        replace(memory_write(BAR0, bytes(4), requester=HOST), ep=1),
        memory_read(BAR0, 4, requester=HOST, tag=1)]
    bench, board = run(requests)
    assert bench.errors["refused"] == 2
    assert board.memory == {} and board.registers == {}
    assert len(bench.host.completions) == 1
