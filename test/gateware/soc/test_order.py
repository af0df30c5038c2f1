# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""Litmus test of the user's logic, which polls a flag in host memory, then looks at what the host wrote to the card.
The host posts writes to registers, then sets the flag. Whoever sees the flag sees all of these writes."""

import pytest
from migen import passive

from litepcie_soc.common import abi
from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.memory.bram import EndpointMemory
from litepcie_soc.phy.hard_block import own_blocks
from litepcie_soc.phy.ultrascale.phy import UltraScalePHY, UltraScalePlusPHY
from litepcie_soc.soc.descriptor_port import DescriptorPort
from litepcie_soc.soc.host_port import DESTINATION_BITS, HostPort
from litepcie_soc.tlp.completer_user import UserBus
from test.gateware.phy.ultrascale.test_layer import BlockBench
from test.gateware.simulation import full, memory_read, memory_write
from test.gateware.soc.test_host_port import LIMIT, LOW, PAGE, READ, User
from test.gateware.steps import send, wait
from test.gateware.tlp.bench import Bench, Reader, Stalls
from test.gateware.tlp.host import HOST, Host

RELAXED = 2     # Attr of a TLP with Relaxed Ordering.
WRITES  = 32    # To registers, before each flag; more than the crossing of a PHY holds.


class Root(Host):
    """A host whose completions do not pass the posted requests before them, unless they have Relaxed Ordering.

    The data of a completion is that of the cycle in which the read came: the posted requests before it are those that
    the host has queued until then.
    """
    def __init__(self, **options):
        Host.__init__(self, **options)
        self.posted  = 0    # Requests that the processor has queued,
        self.started = 0    # of these, those that have begun at the card's PHY,
        self.gone    = 0    # and those that it has taken.
        self.before  = {}   # tag -> requests before its completions; 0 with Relaxed Ordering.
        self.most_ordered = 0   # Blocks outstanding, while those of a read without Relaxed Ordering are among them.

    def post(self, tlp):
        self.requests.append(tlp)
        self.posted += tlp.fmt >> 1

    def start_read(self, tlp):
        self.before[tlp.tag] = 0 if tlp.attr & RELAXED else self.posted
        Host.start_read(self, tlp)

    def count_blocks(self, tlp, *args):
        Host.count_blocks(self, tlp, *args)
        if any(self.before[tag] for tag, blocks in self.blocks.items() if blocks):
            self.most_ordered = max(self.most_ordered, sum(self.blocks.values()))

    def next_completion(self):
        """The first one that is due may wait, and then all others wait behind it."""
        tags = [tag for tag, (_, due) in self.pending.items() if due <= self.cycle]
        return None if tags and self.before[tags[0]] > self.gone else Host.next_completion(self)

    def next_request(self):
        self.gone = self.started
        tlp = self.requests.popleft() if self.requests else None
        self.started += tlp.fmt >> 1 if tlp else 0
        return tlp


class StreamBench(Bench):
    """The streams of a PHY in `sys`."""
    def next_tlp(self, channel):
        if self.shape_name == "split":
            return self.host.next_request() if channel else self.host.next_completion()
        self.host.gone = self.host.started
        return self.host.next_completion() or self.host.next_request()


class HardBlockBench(BlockBench):
    """A PHY of UltraScale in two clocks."""
    def next_request(self):
        return self.host.next_request()


class Poller(User):
    """Logic that polls dword 0 of a buffer, a slave with the registers, and the processor of the host.

    missing : for each flag seen, the registers that did not have their value yet.
    """
    def __init__(self, bench, delay, rounds, user_bus=False):
        self.bench, self.host, self.delay, self.rounds = bench, bench.host, delay, rounds
        layer    = bench.layer
        self.dut = layer.host_port = HostPort(layer.add_read_port("host", 1, ordered=True,
            destination_bits=DESTINATION_BITS), layer.add_write_port("host"), 1, LIMIT)
        layer.comb += self.dut.can_send.eq(layer.enable)
        self.base      = abi.USER_OFFSET if user_bus else 0
        self.bus       = layer.user.bus if user_bus else layer.csr_bus
        self.registers = {}
        self.seen      = 0
        self.missing   = []

    def processes(self):
        return [self.poll(), self.processor()]

    def watchers(self):
        return [self.slave()]

    @passive
    def slave(self):
        while True:
            if not (yield self.bus.cyc) or not (yield self.bus.stb):
                yield
                continue
            yield from wait(self.delay)
            yield self.bus.ack.eq(1)
            yield
            if (yield self.bus.we):
                self.registers[(yield self.bus.adr) % WRITES] = (yield self.bus.dat_w)
            yield self.bus.ack.eq(0)
            yield

    def processor(self):
        """Registers, then the flag; every other time with a read of a register among the writes."""
        for number in range(1, self.rounds + 1):
            yield from wait(37*number % 50)
            for n in range(WRITES):
                self.host.post(memory_write(self.base + 4*n, number.to_bytes(4, "little"), requester=HOST))
                if n == 4 and number % 2:
                    self.host.post(memory_read(self.base, 4, requester=HOST, tag=number))
            self.host.written.update({LOW + n: number >> 8*n & 0xff for n in range(4)})
            while self.seen != number:
                yield

    def poll(self):
        self.host.written.update({LOW + n: 0 for n in range(4)})
        yield from self.give(0, LOW, PAGE, READ)
        while self.seen < self.rounds:
            flag = yield from self.access(0)
            if flag != self.seen:
                self.missing.append(sum(self.registers.get(n) != flag for n in range(WRITES)))
                self.seen = flag


class Describer(Poller):
    """Logic that fetches the flag with a descriptor into the endpoint memory, and waits for its end."""
    def __init__(self, bench, *options):
        Poller.__init__(self, bench, *options)
        layer, width = bench.layer, bench.layer.data_width
        layer.user_memory = memory = EndpointMemory(0x1000, width)
        self.landing      = memory.add_write_port()
        layer.user_port   = self.port = DescriptorPort(self.dut,
            read_port    = layer.add_read_port("user", 4, bulk=True, ordered=True, destination_bits=12),
            write_port   = layer.add_write_port("user"),
            memory_write = self.landing,
            memory_read  = memory.add_read_port(),
            longest_read = 512)
        layer.comb += [self.port.can_send.eq(layer.enable), self.port.max_payload_size.eq(256),
            self.port.max_request_size.eq(512), self.port.source.ready.eq(1)]
        self.landed = 0

    def watchers(self):
        return [self.slave(), self.watch()]

    @passive
    def watch(self):
        while True:
            if (yield self.landing.valid) and (yield self.landing.ready) and (yield self.landing.be) & 1:
                self.landed = (yield self.landing.dat) & 0xffffffff
            yield

    def access(self, address):
        sink, source = self.port.sink, self.port.source
        yield from send(sink, length=4)
        while not (yield source.valid):
            yield
        assert (yield source.reason) == REASON_NONE
        return self.landed


@pytest.mark.parametrize("shape, user_bus, delay, logic", [("shared", False, 30, Poller), ("split", True, 30, Poller),
    *full(("shared", False, 30, Describer))])
def test_registers_before_a_flag(shape, user_bus, delay, logic):
    options = dict(user_bus=UserBus(0, 0x1000, 1000)) if user_bus else {}
    bench   = StreamBench(128, shape=shape, host=Root(latency=10), **options)
    logic   = logic(bench, delay, 3, user_bus)
    bench.run([logic])
    assert logic.missing == [0]*3, f"of {WRITES} registers"


@pytest.mark.parametrize("phy, delay, logic", [((UltraScalePHY, 4, 128), 10, Poller),
    *full(((UltraScalePlusPHY, 16, 512), 10, Poller), ((UltraScalePHY, 8, 256), 30, Describer))],
    ids=lambda value: f"{value[0].__name__}-x{value[1]}-{value[2]}" if isinstance(value, tuple) else None)
def test_registers_before_a_flag_through_a_hard_block(phy, delay, logic):
    """While a reader keeps as much outstanding as it may. What the hard block holds back fits in its own buffer."""
    bench  = HardBlockBench(phy, Root(split=64, latency=10))
    bench.stall = 0
    reader = Reader(bench.layer.add_read_port("reader", 40), [(0x10_0000 + 512*n, 512, 512*n) for n in range(40)],
        Stalls())
    logic  = logic(bench, delay, 3)
    bench.run([logic, reader])
    assert logic.missing == [0]*3, f"of {WRITES} registers"
    assert bench.host.most_ordered <= own_blocks(bench.phy)[0] < bench.host.most_blocks
