# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The transaction layer on UltraScale's PHYs, with a model of the hard block and the host at the AXI streams."""

import random
from dataclasses import replace

import pytest
from migen import passive

from litepcie_soc.common.pcie import REASON_NONE, REASON_POISONED, REASON_UNSUPPORTED_REQUEST
from litepcie_soc.phy.hard_block import completion_buffer_bytes, own_blocks
from litepcie_soc.tlp.budget import BLOCK_BYTES
from litepcie_soc.tlp.layer import ERRORS, TransactionLayer
from test.gateware.phy import bench as phy_bench
from test.gateware.phy.ultrascale.test_streams import NARROW, WIDE, interface, shapes, wide
from test.gateware.simulation import Stalls, TLP, forever, memory_read, memory_write
from test.gateware.tlp.bench import Bench, Reader, Writer
from test.gateware.tlp.host import CARD, HOST, Host
from test.gateware.tlp.test_reads import NO_ERRORS, random_requests
from test.gateware.tlp.test_writes import expected, random_writes, registers


class BlockBench(Bench):
    """Layer, PHY and hard block. The block fills in the requester ID and returns the sequence number of requests."""
    def __init__(self, shape, host):
        phy_class, lanes, data_width = shape
        self.interface = interface(shape)
        self.host      = host
        self.stall     = 0.2
        self.seed      = 10
        self.errors    = {}
        self.device_control = 1 << 8 | 1 << 4   # Extended Tag Field Enable, Enable Relaxed Ordering.
        self.committed = []     # Requests with their sequence numbers; the host gets them when these are returned.
        self.share     = 0.5    # Of the cycles that return one.
        self.waiting   = 0      # Packets to the card that have not arrived yet.
        self.waits     = {"rc": 0, "cq": 0}  # Cycles in which a beat to the card was not accepted.
        self.phy       = phy_class(phy_bench.Platform(), phy_bench.pads(lanes), data_width=data_width,
            bar0_size=0x200000)
        self.ports     = self.phy.pcie_phy_params
        self.blocks    = completion_buffer_bytes(self.phy)//BLOCK_BYTES
        self.layer     = TransactionLayer(self.phy, data_width, 1e6, 64, (self.blocks, self.blocks))

    def top(self):
        """The module to simulate: everything but the IP."""
        top = phy_bench.AroundTheIP(self.phy)
        top.submodules += self.layer
        top.comb       += self._fragment.comb
        top.sync       += self._fragment.sync.get("sys", [])
        return top

    def port(self, name, field):
        """A signal of an AXI stream of either direction."""
        return next(signal for key, signal in self.ports.items() if key[2:].endswith(f"_axis_{name}_t{field}"))

    def run(self, clients, cycles=30000):
        processes = [process for client in clients for process in client.processes()]
        watchers  = [watcher for client in clients for watcher in client.watchers()]
        takes     = [phy_bench.receive(phy_bench.axi(self.ports, f"s_axis_{name}"), take, self.stalls())
            for name, take in (("rq", self.take_request), ("cc", self.take_completion))]
        left      = [len(processes)]
        def ends(process):
            yield from phy_bench.wait_for(self.layer.enable)
            yield from phy_bench.wait_for(self.phy.relaxed_ordering_enable, self.device_control >> 4 & 1)
            yield
            yield
            yield from process
            left[0] -= 1
        def setup():
            yield [self.ports["o_cfg_function_status"].eq(0b100),
                self.ports["o_cfg_mgmt_read_data"].eq(self.device_control),
                self.ports["o_cfg_mgmt_read_write_done"].eq(1), self.layer.timeout_us.eq(100000)]
        phy_bench.run(self.top(), [setup(), self.quiet(left), forever(self.clock()), *[ends(p) for p in processes],
            *[forever(watcher) for watcher in watchers]], [*map(forever, (*takes, self.commit(),
            self.give("rc", self.host.next_completion, self.interface.requester_completion),
            self.give("cq", self.next_request, self.interface.completer_request)))], cycles=cycles)
        assert self.host.most_blocks <= self.blocks, "more data outstanding than fits in the completion buffer"

    @passive
    def clock(self):
        while True:
            self.host.cycle += 1
            yield

    def quiet(self, left):
        quiet = 0
        while quiet < 100:
            busy  = left[0] or self.host.pending or self.host.requests or self.waiting or self.committed
            quiet = 0 if busy else quiet + 1
            yield
        for name, _ in ERRORS:
            self.errors[name] = (yield getattr(self.layer, f"_{name}").status)

    def next_request(self):
        return self.host.requests.popleft() if self.host.requests else None

    def take_completion(self, packet):
        self.host.take(self.interface.completion(packet))

    def take_request(self, packet):
        tlp, sequence = self.interface.request(packet)
        self.committed.append((sequence, replace(tlp, requester=CARD)))

    def commit(self):
        """Returns the sequence numbers at random moments: nothing can overtake these requests any more."""
        name  = "0" if self.interface.plus else ""
        rng   = random.Random(7)
        valid = self.ports[f"o_pcie_rq_seq_num_vld{name}"]
        while True:
            returns = self.committed and rng.random() < self.share
            yield valid.eq(bool(returns))
            if returns:
                sequence, tlp = self.committed.pop(0)
                yield self.ports[f"o_pcie_rq_seq_num{name}"].eq(sequence)
                self.host.take(tlp)
            yield

    def give(self, name, next_tlp, beats_of):
        stalls = self.stalls()
        yield from phy_bench.wait_for(self.phy.link_up)
        while True:
            tlp = next_tlp()
            if tlp is None:
                yield
                continue
            self.waiting += 1
            for beat in beats_of(tlp):
                while stalls.next():
                    yield
                yield self.port(name, "valid").eq(1)
                yield [self.port(name, field).eq(value) for field, value in beat.items()]
                yield
                while not (yield self.port(name, "ready")):
                    self.waits[name] += 1
                    yield
                yield self.port(name, "valid").eq(0)
            self.waiting -= 1


@wide
def test_reads_writes_and_registers(shape):
    """Split completions in any order, writes below and above 4 GiB, registers in between, stalls everywhere."""
    rng     = random.Random(shape[2])
    bench   = BlockBench(shape, Host(split=64, latency=30, reorder=True))
    reader  = Reader(bench.layer.add_read_port("reader", 40), random_requests(rng, 40, 512), bench.stalls())
    writers = [Writer(bench.layer.add_write_port(f"writer{n}"), random_writes(rng, 20, longest, base), bench.stalls())
        for n, (longest, base) in enumerate([(256, 0x10_0000), (64, 0x7_0000_0000)])]
    registers(bench)
    bench.host.requests.extend(memory_read(4*n, 4, requester=HOST, tag=n) for n in range(10))
    bench.host.requests.append(memory_write(0x20, b"word", requester=HOST))
    bench.host.requests.append(TLP(fmt=0, type=0b00010, length=1, first_be=15, requester=HOST, tag=10))
    bench.run([reader, *writers])
    assert bench.host.written == expected(writers)
    assert all(reason == 0 for reason, _ in reader.retired)
    assert [(tlp.tag, tlp.status) for tlp in bench.host.completions] == [*[(n, 0) for n in range(10)], (10, 1)]
    assert bench.errors == {**NO_ERRORS, "refused": 1}
    assert not bench.waits["rc"]


class LongStall(Stalls):
    """A client that takes nothing for some time, then everything."""
    def __init__(self, cycles):
        Stalls.__init__(self, 1)
        self.left = cycles

    def next(self):
        self.left -= 1
        return self.left > 0


@shapes([], [NARROW, WIDE])
def test_the_block_never_waits_for_a_client(shape):
    """The host answers all requests that are allowed in completions of 64 bytes, while the client takes none."""
    bench  = BlockBench(shape, Host(split=64, latency=300))
    bench.stall = 0
    count  = 3*bench.blocks//16
    reader = Reader(bench.layer.add_read_port("reader", 64), [(0x1_0000 + 512*n, 512, 512*n) for n in range(count)],
        LongStall(2500))
    bench.run([reader])
    assert bench.host.most_blocks > 0.8*bench.blocks and not bench.waits["rc"]
    assert all(reason == 0 for reason, _ in reader.retired)


@shapes([], [WIDE])
@pytest.mark.parametrize("relaxed", [1, 0])
def test_reads_follow_relaxed_ordering(shape, relaxed):
    """The block holds completions back while a write of the host waits, unless they have Relaxed Ordering. Without it
    no more is outstanding than the block's own buffer holds."""
    bench  = BlockBench(shape, Host(split=64, latency=500))
    bench.stall = 0
    bench.device_control = 1 << 8 | relaxed << 4
    own    = own_blocks(bench.phy)[0]
    reader = Reader(bench.layer.add_read_port("reader", 62), [(0x1_0000 + 512*n, 512, 512*n)
        for n in range(3*bench.blocks//16)], bench.stalls())
    bench.run([reader])
    assert {tlp.attr for tlp in bench.host.reads} == {2*relaxed}
    assert bench.host.most_blocks >= bench.blocks - 8 if relaxed else own - 8 <= bench.host.most_blocks <= own


@wide
def test_other_completions(shape):
    """Poisoned, with Unsupported Request, and those of a read that all have bits 6:2 of its address.

    The first two have a byte count but no data that counts. PG156 and PG213 can be read so that the lower address of
    each completion has bits 6:2 of the request's first byte, and only bits 1:0 of its own; public designs would not
    notice it, as they use bits 1:0 alone.
    """
    bench  = BlockBench(shape, Host(split=64, latency=5))
    reads  = [(0x1000*n + 3*n, 40 if n in (2, 3) else 151 + n, 0x1000*n) for n in range(1, 5)]
    reader = Reader(bench.layer.add_read_port("reader", 8), reads, bench.stalls())
    def answer(request, completions):
        if request.address >> 12 == 2:
            return [replace(tlp, ep=1) for tlp in completions]
        if request.address >> 12 == 3:
            return [replace(completions[0], fmt=0, status=1, length=0, data=b"", lower_address=0)]
        first = completions[0].lower_address
        return [replace(tlp, lower_address=first & 0x7c | tlp.lower_address & 3) for tlp in completions]
    bench.host.answer = answer
    bench.run([reader])
    assert [reason for reason, _ in reader.retired] == [REASON_NONE, REASON_POISONED, REASON_UNSUPPORTED_REQUEST,
        REASON_NONE]
    assert [count for _, count in reader.retired][::3] == [reads[0][1], reads[3][1]]
    assert bench.errors["unsupported_request"] == bench.errors["poisoned"] == 1 and not bench.errors["bad_length"]
