# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Litmus tests between registers and host memory, on every shape of a PHY: whoever sees a flag sees what was written
before it.

| data of                           | flag                                        | seen by |
|-----------------------------------|---------------------------------------------|---------|
| the host: registers               | in host memory, polled or fetched           | the user's logic |
| the host: registers               | another register, such as a doorbell        | the card |
| the logic: host memory            | a register, which the host polls            | the host |
| the logic: host memory            | the same memory, read back                  | the logic |

A stream is told by a doorbell, and reports to the host as engines do, which the order checker of the simulator follows.
"""

import pytest
from migen import passive

from litepcie_soc.common import abi
from litepcie_soc.common.pcie import REASON_NONE
from litepcie_soc.memory.bram import EndpointMemory
from litepcie_soc.phy.hard_block import own_blocks
from litepcie_soc.phy.ultrascale.phy import UltraScalePHY, UltraScalePlusPHY
from litepcie_soc.soc.descriptor_port import DescriptorPort
from litepcie_soc.soc.host_axi import HostAXI
from litepcie_soc.soc.host_port import DESTINATION_BITS, HostPort
from litepcie_soc.tlp.completer_user import UserBus
from test.gateware.axi.master import OKAY, Burst, Master
from test.gateware.phy.ultrascale.test_layer import BlockBench
from test.gateware.simulation import full, memory_read, memory_write
from test.gateware.soc.test_host_port import LIMIT, LOW, PAGE, READ, WRITE, User
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
            yield [self.bus.ack.eq(1), self.bus.dat_r.eq(self.registers.get((yield self.bus.adr) % WRITES, 0))]
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
            self.flag(number)
            while self.seen != number:
                yield

    def flag(self, number):
        self.host.written.update({LOW + n: number >> 8*n & 0xff for n in range(4)})

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


class Ringer(Poller):
    """A slave of the pinned registers, of which the host writes the first one after those of the user's bus."""
    def watchers(self):
        return [self.slave(), self.doorbell()]

    @passive
    def doorbell(self):
        bus = self.bench.layer.csr_bus
        while True:
            yield bus.ack.eq(0)
            yield
            if (yield bus.cyc) and (yield bus.stb) and (yield bus.we):
                self.seen = yield bus.dat_w
                self.missing.append(sum(self.registers.get(n) != self.seen for n in range(WRITES)))
                yield bus.ack.eq(1)
                yield

    def poll(self):
        yield from wait(1)

    def flag(self, number):
        self.host.post(memory_write(0, number.to_bytes(4, "little"), requester=HOST))


class Sender(Poller):
    """Logic that writes to a buffer, then sets a register, which the host polls."""
    def processor(self):
        completions = self.host.completions
        for number in range(1, self.rounds + 1):
            while self.seen != number:
                count = len(completions)
                self.host.post(memory_read(self.base, 4, requester=HOST, tag=count % 32))
                while len(completions) == count:
                    yield
                self.seen = int.from_bytes(completions[-1].data, "little")
            self.missing.append(sum(LOW + n not in self.host.written for n in range(4*WRITES)))
            self.host.written.clear()

    def poll(self):
        yield from self.give(0, LOW, PAGE, READ | WRITE)
        for number in range(1, self.rounds + 1):
            yield from self.write_buffer(number)
            self.registers[0] = number
            while self.seen != number:
                yield

    def write_buffer(self, number):
        for n in range(WRITES):
            assert (yield from self.access(4*n, number << 8 | n)) is not None
            if n == 4:    # Not the last one: its completion would come after all writes.
                assert (yield from self.access(4*n)) == number << 8 | n, "a read passed the write before it"


class DescribingSender(Describer, Sender):
    """The same with a descriptor from the endpoint memory."""
    processor, poll = Sender.processor, Sender.poll

    def write_buffer(self, number):
        yield from send(self.port.sink, length=4*WRITES, write=1)
        while not (yield self.port.source.valid):
            yield
        assert (yield self.port.source.reason) == REASON_NONE
        yield from wait(1)


class Burster(Poller):
    """Logic that reads the flag with a burst at the AXI4 slave."""
    def __init__(self, bench, *options):
        Poller.__init__(self, bench, *options)
        layer = bench.layer
        layer.host_axi = slave = HostAXI(self.dut,
            read_port    = layer.add_read_port("axi", 4, bulk=True, ordered=True, destination_bits=13),
            write_port   = layer.add_write_port("axi"),
            longest_read = 512)
        layer.comb += [slave.port.can_send.eq(layer.enable), slave.port.max_payload_size.eq(256),
            slave.port.max_request_size.eq(512)]
        self.master = Master(slave.axi)

    def watchers(self):
        return [self.slave(), *self.master.watchers()]

    def access(self, address):
        burst = self.master.give(Burst(address, [None], 2))
        yield from self.master.wait()
        assert burst.resp == [OKAY]
        return burst.data[0] & 0xffffffff


@pytest.mark.parametrize("shape, user_bus, delay, logic", [("shared", False, 30, Poller), ("split", True, 30, Poller),
    ("shared", True, 30, Ringer), ("shared", True, 30, Sender),
    *full(("shared", False, 30, Describer), ("split", True, 30, Ringer), ("split", False, 3, Sender),
        ("shared", False, 3, DescribingSender), ("split", True, 30, DescribingSender), ("split", True, 30, Burster))])
def test_data_before_a_flag(shape, user_bus, delay, logic):
    options = dict(user_bus=UserBus(0, 0x1000, 1000)) if user_bus else {}
    bench   = StreamBench(128, shape=shape, host=Root(latency=10), **options)
    logic   = logic(bench, delay, 3, user_bus)
    bench.run([logic])
    assert logic.missing == [0]*3, "for each flag seen, what of the data before it was missing"


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


@pytest.mark.parametrize("phy, logic", [((UltraScalePHY, 4, 128), Sender), *full(
    ((UltraScalePlusPHY, 16, 512), Sender), ((UltraScalePHY, 8, 256), DescribingSender),
    ((UltraScalePlusPHY, 16, 512), DescribingSender))],
    ids=lambda value: f"{value[0].__name__}-x{value[1]}-{value[2]}" if isinstance(value, tuple) else None)
def test_data_before_a_flag_through_a_hard_block(phy, logic):
    """The block sends completions before requests that it took earlier and has not committed."""
    bench = HardBlockBench(phy, Root(split=64, latency=10))
    bench.stall, bench.share = 0, 0.03
    logic = logic(bench, 3, 3)
    bench.run([logic])
    assert logic.missing == [0]*3, f"of {4*WRITES} bytes"
