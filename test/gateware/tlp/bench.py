# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A transaction layer between a host and clients, which are Python models that check every transfer."""

from migen import Cat, Signal, passive
from litex.gen import LiteXModule
from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import first_byte_lane, phy_layout
from litepcie_soc.phy.shapes import error_record
from litepcie_soc.phy.sim import SimPHY
from litepcie_soc.tlp.layer import ERRORS, TransactionLayer
from test.gateware.simulation import TLP, Stalls, Watch, accept, fail, forever, pattern, simulate
from test.gateware.steps import send
from test.gateware.tlp.host import CARD, Host


class SplitPHY(LiteXModule):
    """A PHY of the split shape, with the names of LitePCIe's UltraScale PHYs."""
    def __init__(self, data_width, endianness="little"):
        self.data_width = data_width
        self.endianness = endianness
        self.req_sink   = stream.Endpoint(phy_layout(data_width))
        self.cmp_sink   = stream.Endpoint(phy_layout(data_width))
        self.req_source = stream.Endpoint(phy_layout(data_width))
        self.cmp_source = stream.Endpoint(phy_layout(data_width))
        self.id                = Signal(16)
        self.bus_master_enable = Signal()
        self.link_up           = Signal()
        self.extended_tag      = Signal()
        self.relaxed_ordering_enable = Signal(reset=1)
        self.no_snoop_enable         = Signal(reset=1)
        self.rcb_128                 = Signal()
        self.function_reset          = Signal()
        self.function_reset_done     = Signal()
        self.errors                  = error_record()


class Reader:
    """Client of a read port: issues a list of requests, stores the bytes, and checks them at each retirement."""
    def __init__(self, port, requests, stalls, request_stalls=None):
        self.port     = port
        self.requests = requests            # (address, length, destination)
        self.space    = {}
        self.landed   = []                  # Destination byte addresses in the order in which the bytes arrived.
        self.retired  = []                  # (reason, bytes)
        self.stalls   = stalls
        self.request_stalls = request_stalls or Stalls()
        self.data     = Watch(port.data, name=f"{port.name} data")
        self.issued   = 0
        self.cycles   = []

    def processes(self):
        return [self.issue(), self.retire()]

    def watchers(self):
        return [accept(self.port.data, self.stalls), self.data.watch()]

    def issue(self):
        request = self.port.request
        for address, length, destination in self.requests:
            while self.request_stalls.next():
                yield
            yield from send(request, first=1, last=1, address=address, length=length, destination=destination)
            self.issued += 1
        yield

    def retire(self):
        lanes = len(self.port.data.be)
        seen  = 0
        cycle = 0
        while len(self.retired) < len(self.requests):
            if (yield self.port.retire.valid):
                for beat in self.data.beats[seen:]:
                    for lane in range(lanes):
                        if beat["be"] >> lane & 1:
                            at = beat["address"]*lanes + lane
                            self.space[at] = beat["dat"] >> 8*lane & 0xff
                            self.landed.append(at)
                seen = len(self.data.beats)
                self.check_retired((yield self.port.retire.reason), (yield self.port.retire.bytes), cycle)
                self.cycles.append(cycle)
            outstanding = (yield self.port.outstanding)
            if outstanding > self.port.tags:
                fail("too many requests in flight", expected=f"at most {self.port.tags}", found=outstanding,
                    cycle=cycle, port=self.port.name)
            cycle += 1
            yield

    def check_retired(self, reason, count, cycle):
        address, length, destination = self.requests[len(self.retired)]
        def wrong(what, expected, found):
            __tracebackhide__ = True
            fail(f"{self.port.name}: {what}", expected=expected, found=found, cycle=cycle, port=self.port.name,
                request=len(self.retired), address=address, length=length, destination=destination, reason=reason)
        if len(self.retired) >= self.issued:
            wrong("a request retired before it was issued", f"{self.issued} retired", len(self.retired) + 1)
        if count > length or (count != length and reason == 0):
            wrong("bytes of a retired request", length if reason == 0 else f"at most {length}", count)
        expected = [pattern(address + n) for n in range(count)]
        found    = [self.space.get(destination + n) for n in range(count)]
        if found != expected:
            n = next(n for n in range(count) if found[n] != expected[n])
            missing = "nothing" if found[n] is None else f"{found[n]:02x}"
            wrong(f"byte {n} of a read", f"{expected[n]:02x}", missing)
        self.retired.append((reason, count))


class Writer:
    """Client of a write port: writes a list of (address, bytes)."""
    def __init__(self, port, writes, stalls=None):
        self.port   = port
        self.writes = writes
        self.stalls = stalls or Stalls()
        self.sent   = []                    # `dropped` of each packet.

    def processes(self):
        return [self.issue(), self.watch()]

    def watchers(self):
        return []

    def issue(self):
        sink  = self.port.sink
        lanes = self.port.data_width//8
        for address, data in self.writes:
            data_in_lanes = bytes(first_byte_lane(16 if address >> 32 else 12, address, 8*lanes)) + data
            count = -(-len(data_in_lanes)//lanes)
            for n in range(count):
                while self.stalls.next():
                    yield
                yield from send(sink, first=n == 0, last=n == count - 1, address=address, length=len(data),
                    dat=int.from_bytes(data_in_lanes[n*lanes:(n + 1)*lanes], "little"))
        yield

    def watch(self):
        while len(self.sent) < len(self.writes):
            if (yield self.port.sent):
                self.sent.append((yield self.port.dropped))
            yield


class Bench(LiteXModule):
    """PHY of either shape, layer, host. Add ports to `layer`, then `run` with their clients."""
    def __init__(self, data_width=64, *, shape="shared", endianness="big", host=None, stall=0.0, clk_freq=1e6,
        timeout_us=100000, buffer_blocks=64, completion_blocks=None, tags=32, **options):
        self.options = dict(data_width=data_width, shape=shape, endianness=endianness, stall=stall, tags=tags,
            **options)
        self.host    = host or Host()
        self.stall   = stall
        self.phy     = phy = SimPHY(data_width, endianness=endianness) if shape == "shared" else \
            SplitPHY(data_width, endianness)
        self.layer   = TransactionLayer(phy, data_width, clk_freq, tags,
            completion_blocks or (buffer_blocks, buffer_blocks), **options)
        self.shape_name    = shape
        self.data_width    = data_width
        self.endianness    = endianness
        self.timeout_us    = timeout_us
        self.buffer_blocks = buffer_blocks
        self.errors        = {}
        self.blamed        = []
        self.rx_idle       = True
        self.seed          = 10
        self.tx_stalls     = None   # Instead of random stalls, when the PHY does not accept.

    def stalls(self):
        self.seed += 1
        return Stalls(self.stall, self.seed)

    def run(self, clients, processes=(), *, watchers=(), cycles=50000, bus_master=1, extended_tag=0):
        """Runs until clients, processes and the host are idle; checks that the completion buffer never overflows."""
        processes = [*processes, *[process for client in clients for process in client.processes()]]
        watchers  = [*watchers] + [watcher for client in clients for watcher in client.watchers()]
        sinks   = [self.phy.sink] if self.shape_name == "shared" else [self.phy.req_sink, self.phy.cmp_sink]
        sources = [self.phy.source] if self.shape_name == "shared" else [self.phy.cmp_source, self.phy.req_source]
        self.tx = [Watch(sink, name=f"tx{n}", on_packet=self.take) for n, sink in enumerate(sinks)]
        self.rx = [Watch(source, name=f"rx{n}") for n, source in enumerate(sources)]
        def setup():
            yield [self.phy.id.eq(CARD), self.phy.link_up.eq(1), self.phy.bus_master_enable.eq(bus_master),
                self.phy.extended_tag.eq(extended_tag), self.layer.timeout_us.eq(self.timeout_us)]
        @passive
        def clock():
            while True:
                self.host.cycle += 1
                yield
        left = [len(processes)]
        def ends(process):
            if hasattr(self.layer, "pool"):
                while (yield self.layer.pool.filling) or (yield self.layer.closed):
                    yield
            yield from process
            left[0] -= 1
        simulate(self, [
            setup(), clock(),
            *[ends(process) for process in processes],
            *[forever(process) for process in watchers],
            *[forever(accept(sink, self.tx_stalls or self.stalls())) for sink in sinks],
            *[forever(watch.watch()) for watch in self.tx + self.rx],
            *[forever(self.send(source, n)) for n, source in enumerate(sources)],
            self.collect(left),
        ], cycles=cycles)
        if self.host.most_blocks > self.buffer_blocks:
            fail("more data outstanding than fits in the completion buffer",
                expected=f"at most {self.buffer_blocks} blocks", found=self.host.most_blocks,
                cycle=self.host.cycle, bench=self.options)

    def blame(self, *names):
        """Adds the header of each error of these names to ``blamed``: three dwords as a TLP has them."""
        strobes = Cat(*[self.layer.error_strobes[name] for name in names])
        while True:
            if (yield strobes):
                header = (yield self.layer.error_header)
                self.blamed.append([header >> 32*n & 2**32 - 1 for n in range(3)])
            yield

    def take(self, beats):
        self.host.take(TLP.from_beats(beats, self.data_width, self.endianness))

    def next_tlp(self, channel):
        if self.shape_name == "split" and channel == 1:
            return self.host.requests.popleft() if self.host.requests else None
        tlp = self.host.next_completion()
        if tlp is None and self.shape_name == "shared" and self.host.requests:
            tlp = self.host.requests.popleft()
        return tlp

    def send(self, source, channel):
        stalls = self.stalls()
        while True:
            tlp = self.next_tlp(channel)
            if tlp is None:
                yield
                continue
            self.rx_idle = False
            for beat in tlp.beats(self.data_width, self.endianness):
                while stalls.next():
                    yield
                yield from send(source, **beat)
            self.rx_idle = True

    def collect(self, left):
        """Reads the error counters after everything was idle for 60 cycles."""
        quiet = 0
        while quiet < 60:
            busy  = left[0] or self.host.pending or self.host.requests or not self.rx_idle
            quiet = 0 if busy else quiet + 1
            yield
        for name, _ in ERRORS:
            self.errors[name] = (yield getattr(self.layer, f"_{name}").status)
