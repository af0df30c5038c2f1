# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The AXI4 slave onto host memory: a random master beside a model of the memory, refusals, faults of the host, resets,
and cycles of bursts."""

import random

import pytest
from litex.soc.integration.soc_core import SoCMini

from litepcie_soc.common import abi, pcie
from litepcie_soc.soc.host_axi import HostAXI, ram_bytes
from test.gateware.axi.master import FIXED, INCR, OKAY, SLVERR, WRAP, Burst, Master
from test.gateware.simulation import full
from test.gateware.soc.test_host_port import HIGH, LIMIT, LOW, PAGE, READ, WRITE, User, unsupported
from test.gateware.soc.test_user_bus import platform, with_card
from test.gateware.steps import wait
from test.gateware.tlp.host import Host

BASES = (LOW, HIGH)
PAGES = [number*LIMIT + page for number in range(2) for page in range(0, LIMIT, PAGE)]


def place(address):
    """Address in the host's memory."""
    return BASES[address // LIMIT] + address % LIMIT


class Logic(User):
    """The slave in a transaction layer beside the bus port, a driver, and a master with stalls."""
    def __init__(self, data_width=128, stall=0.0, port_tags=24, **options):
        User.__init__(self, data_width, stall=stall, **options)
        layer    = self.bench.layer
        self.bench.axi = self.slave = slave = HostAXI(self.dut,
            read_port    = layer.add_read_port("axi", port_tags, ordered=True, destination_bits=15),
            write_port   = layer.add_write_port("axi"),
            longest_read = 4096)
        port = self.port = slave.port
        self.bench.comb += [port.can_send.eq(layer.enable), self.dut.reset.eq(port.reset),
            layer.abandon.eq(port.reset), port.max_payload_size.eq(256), port.max_request_size.eq(512)]
        self.width  = data_width // 8
        self.master = Master(slave.axi, stall, self.landed)
        self.random = random.Random(data_width)

    def landed(self, burst):
        """An answer without an error: the PHY has all bytes of the burst."""
        if burst.resp == [OKAY]:
            last = dict(burst.written(self.width))
            assert {at: self.host.written.get(place(at)) for at in last} == last, f"answered, not written: {burst}"

    def gets(self, address, beats, size=None, **options):
        size = self.width.bit_length() - 1 if size is None else size
        return self.master.give(Burst(address, [None]*beats, size, **options))

    def puts(self, address, beats, size=None, strobes=None, **options):
        size, bits = self.width.bit_length() - 1 if size is None else size, 8*self.width
        burst = Burst(address, [None]*beats, size, **options)
        burst.beats = [(self.random.getrandbits(bits), self.strobes(at, size) if strobes is None else strobes)
            for at in burst.places()]
        return self.master.give(burst)

    def strobes(self, address, size):
        """Of a beat: all lanes, a run of them, any, or none."""
        lanes = [at % self.width for at in range(address, (address >> size) + 1 << size)]
        some  = sorted(self.random.choices(lanes, k=2))
        kind  = self.random.randrange(8)
        return sum(1 << lane for lane in lanes if kind < 4 or (kind == 4 and some[0] <= lane <= some[1])
            or (kind > 5 and self.random.random() < 0.7))

    def anything(self, page):
        """A burst of any type in a page, as (address, options)."""
        choose = self.random
        size   = choose.choice([self.width.bit_length() - 1]*3 + [choose.randrange(self.width.bit_length())])
        burst  = choose.choice([INCR]*4 + [WRAP, FIXED])
        most   = min(256, PAGE // self.width)
        beats  = choose.choice([2, 4, 8, 16] if burst == WRAP else [1, 3, 16, choose.randrange(1, most)])
        room   = PAGE - (beats << size if burst == INCR else 1 << size)
        if room < 0:
            beats, room = PAGE >> size, 0
        offset = choose.choice([0, room, choose.randrange(room + 1)])
        if burst == WRAP or choose.random() < 0.6:
            offset = offset >> size << size
        return page + offset, dict(beats=beats, size=size, burst=burst, id=choose.randrange(16))

    def run_with(self, process, more=(), **options):
        def setup():
            yield from self.give(0, LOW, LIMIT)
            yield from self.give(1, HIGH, LIMIT)
            yield from process
        self.run(setup(), cycles=200000, watchers=[*self.master.watchers(), *more], **options)


@pytest.mark.parametrize("data_width, shape, endianness", [(128, "split", "little"),
    *full((64, "shared", "big"), (256, "split", "little"), (512, "split", "little"))])
def test_a_random_master(data_width, shape, endianness):
    """Bursts of all kinds with several IDs, stalls on every channel, and completions in any order, beside a model."""
    logic  = Logic(data_width, 0.2, shape=shape, endianness=endianness, host=Host(latency=40, reorder=True))
    memory = {}
    def process():
        for _ in range(8):
            reads = []
            # A page has one burst: AXI has no order between reads and writes.
            for page in logic.random.sample(PAGES, len(PAGES)):
                address, options = logic.anything(page)
                if logic.random.random() < 0.5:
                    reads.append(logic.gets(address, **options))
                else:
                    burst = logic.puts(address, **options)
                    memory.update((place(at), value) for at, value in burst.written(logic.width))
            yield from logic.master.wait(60000)     # A beat of 512 bits with gaps takes up to 128 cycles.
            assert logic.host.written == memory
            for burst in reads:
                assert burst.resp == [OKAY]*len(burst.beats)
                for at, value in burst.read(logic.width):
                    assert value == logic.host.memory(place(at)), f"byte at {at:#x}: {burst}"
        assert (yield logic.dut.errors.status) == 0
    logic.run_with(process())


def test_what_is_refused_gets_an_error_in_all_beats_and_reaches_no_memory():
    logic = Logic()
    def process():
        yield from logic.give(0, LOW, PAGE, READ)
        yield from logic.give(1, HIGH, 2*PAGE, WRITE)
        refused = [(logic.puts, 0, 4, {}, abi.HOST_REASON_DENIED), (logic.gets, LIMIT, 4, {}, abi.HOST_REASON_DENIED),
            (logic.gets, 2*LIMIT, 3, {}, abi.HOST_REASON_NO_BUFFER),
            (logic.gets, PAGE, 1, {}, pcie.REASON_MEMORY_RANGE),
            (logic.puts, 2**32 - 64, 4, {}, abi.HOST_REASON_NO_BUFFER),
            (logic.puts, LIMIT + 2*PAGE, 2, {}, pcie.REASON_MEMORY_RANGE)]
        # AXI4 does not allow these: 4 KiB crossed, a reserved type, a WRAP of three beats or not aligned, wide beats.
        bad = [(PAGE - 16, 2, {}), (8, 2, dict(burst=3)), (0, 3, dict(burst=WRAP)), (8, 4, dict(burst=WRAP)),
            (0, 1, dict(size=5))]
        refused += [(call, base + at, beats, options, pcie.REASON_ZERO_LENGTH) for at, beats, options in bad
            for call, base in ((logic.gets, 0), (logic.puts, LIMIT))]
        for number, (call, address, beats, options, reason) in enumerate(refused, start=1):
            burst = call(address, beats, **options, **({"strobes": 0xffff} if call == logic.puts else {}))
            yield from logic.master.wait()
            assert set(burst.resp) == {SLVERR}, burst
            assert (yield logic.dut.error.fields.reason) == reason, burst
            assert (yield logic.dut.errors.status) == number
        assert logic.requests == []
        right = [logic.gets(PAGE - 16, 1), logic.puts(LIMIT + 2*PAGE - 16, 1, strobes=1 << 15),
            logic.puts(0, 1, strobes=0)]
        yield from logic.master.wait()
        assert [burst.resp for burst in right] == [[OKAY]]*3
        assert sorted(logic.requests) == [LOW + PAGE - 16, HIGH + 2*PAGE - 4]
    logic.run_with(process())


def test_errors_of_the_host_are_those_of_their_burst():
    """Of eight reads, one is refused by the host and one is not answered in time."""
    logic = Logic(host=Host(latency=10), timeout_us=400)
    logic.host.answer = lambda *read: unsupported(*read) if len(logic.host.reads) == 3 else read[1]
    logic.host.hold   = lambda tlp: len(logic.host.reads) == 6
    def process():
        bursts = [logic.gets(256*n, 16) for n in range(8)]
        yield from logic.master.wait()
        assert [burst.resp == [SLVERR if n in (2, 5) else OKAY]*16 for n, burst in enumerate(bursts)] == [True]*8
        assert (yield from logic.busy()) == 0
        yield from logic.host.let_go(logic.host.reads[5].tag)     # Too late: it reaches no other burst.
        more = [logic.gets(256*n, 16) for n in range(8)]
        yield from logic.master.wait()
        for burst in [*more, *[burst for burst in bursts if burst.resp[0] == OKAY]]:
            assert all(value == logic.host.memory(place(at)) for at, value in burst.read(16))
    logic.run_with(process())


@pytest.mark.parametrize("cause", ["reset", *full("clear", "link_up", "bus_master_enable")])
def test_whatever_happens_each_burst_ends(cause):
    """After any number of cycles of a load in both directions: what gets OKAY has moved, and later bursts work."""
    logic = Logic(stall=0.1, host=Host(latency=60))
    logic.master.on_write = lambda burst: None  # The host has lost what it had on the way.
    found = []
    def process():
        for cycles in range(0, 240, 30):
            logic.host.written.clear()
            load = [call(number*LIMIT + PAGE*page, 40) for page in range(4) for call, number
                in ((logic.gets, 0), (logic.puts, 1))[:1 if cause == "link_up" else 2]]   # A write would be cut.
            yield from wait(cycles)
            signal = logic.port.reset if cause == "reset" else logic.dut.clear.re if cause == "clear" else \
                getattr(logic.bench.phy, cause)
            yield [logic.dut.clear.storage.eq(3), signal.eq(cause in ("reset", "clear"))]
            yield
            if cause == "clear":
                yield signal.eq(0)
            yield from logic.master.wait()
            assert (yield from logic.busy()) == 0
            requests = len(logic.requests)
            yield from wait(100)
            assert len(logic.requests) == requests, "a request after the end of all bursts"
            yield signal.eq(cause not in ("reset", "clear"))
            yield from wait(300)
            if cause == "link_up":
                logic.host.pending.clear()
                logic.host.outstanding.clear()
            found.extend(burst.resp[0] for burst in load)
            for burst in load:
                assert set(burst.resp) in ({OKAY}, {SLVERR})
                if burst.resp[0] == OKAY:
                    bytes_ = burst.read(16) if burst.data else burst.written(16)
                    assert all(value == logic.host.memory(place(at)) for at, value in bytes_), burst
            for number in range(2):
                yield from logic.give(number, BASES[number], LIMIT)
            later = [logic.puts(LIMIT + 64, 9), logic.gets(32, 9)]
            yield from logic.master.wait()
            assert [set(burst.resp) for burst in later] == [{OKAY}]*2
    logic.run_with(process())
    assert set(found) == {OKAY, SLVERR}


@pytest.mark.full
def test_who_waits_holds_up_nobody():
    """A master that takes no beat of any answer: the bus port goes on, and no buffer is busy. A host that is slow to
    answer reads: writes go on."""
    logic = Logic()
    stuck = [True]
    for name in ("b", "r"):
        logic.master.stalls[name].share = 1
        logic.master.stalls[name].next  = lambda: stuck[0]
    def process():
        for n in range(ram_bytes(128) // PAGE + 2):
            logic.gets(n % 4*PAGE, 256)
        for n in range(40):
            logic.puts(LIMIT + 64*n, 4)
        yield from wait(3000)
        assert (yield from logic.busy()) == 0
        assert (yield from logic.access(8)) is not None
        stuck[0] = False
        yield from logic.master.wait()
        assert (yield logic.dut.errors.status) == 0
        logic.host.latency = 2000
        for n in range(32):
            logic.gets(64*n, 4)
        yield from wait(400)
        burst = logic.puts(LIMIT, 4)
        yield from wait(200)
        assert burst.over
        yield from logic.master.wait()
    logic.run_with(process())


def test_in_a_soc():
    card = with_card(SoCMini(platform(), 100e6), host_buffers=4, host_axi=True).litepcie
    assert card.host_axi.axi.data_width == card.tlp.data_width
    with pytest.raises(ValueError, match="host_axi needs host_buffers; give host_buffers=1 to 16"):
        with_card(SoCMini(platform(), 100e6), host_axi=True)
