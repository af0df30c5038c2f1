# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Reads without errors: every byte lands at its destination, and rates, tags and the completion buffer are used."""

import random
from unittest import mock

import pytest
from migen.sim import passive

from litepcie_soc.tlp import layer
from litepcie_soc.tlp.realign import Realigner
from test.gateware.simulation import Stalls, Watch, accept, full
from test.gateware.steps import wait
from test.gateware.tlp.bench import Bench, Reader, SplitPHY
from test.gateware.tlp.host import Host

NO_ERRORS = {name: 0 for name, _ in layer.ERRORS}


def random_requests(rng, count, longest):
    """Requests from random byte addresses to random destinations; none crosses 4 KiB, and no destinations overlap."""
    requests    = []
    destination = 0x40_0000
    for _ in range(count):
        length  = rng.choice([1, 2, 3, 4, 5, 63, 64, 65, rng.randrange(1, longest + 1), longest])
        page    = rng.choice([0x0000_1000, 0x89ab_c000, 0xffff_f000, 0x1_0000_0000, 0xfedc_ba98_7654_3000])
        offset  = rng.randrange(0, 4096 - length + 1)
        requests.append((page + offset, length, destination + rng.randrange(64)))
        destination += 8192
    return requests


def readers_of(bench, lists, reserve=1):
    ports = [bench.layer.add_read_port(f"port{n}", tags, reserve=reserve) for n, (tags, _) in enumerate(lists)]
    return [Reader(port, requests, bench.stalls()) for port, (_, requests) in zip(ports, lists)]


def run_readers(bench, readers, **options):
    bench.run(readers, **options)
    for reader in readers:
        assert len(set(reader.landed)) == len(reader.landed), "a byte was written twice"


@pytest.mark.parametrize("data_width, shape, endianness", [(128, "split", "little"),
    *full((256, "split", "big"), (512, "split", "little"))])
def test_random_reads(data_width, shape, endianness):
    """Three clients, completions of 64 bytes in random order, stalls at all streams. 64 bit: `test_traffic`."""
    rng   = random.Random(data_width)
    bench = Bench(data_width, shape=shape, endianness=endianness, stall=0.25,
        host=Host(split=64, latency=30, reorder=True))
    readers = readers_of(bench, [
        (28, random_requests(rng, 50, 512)), (2, random_requests(rng, 20, 64)), (2, random_requests(rng, 20, 200))])
    run_readers(bench, readers)
    assert all(reason == 0 for reader in readers for reason, _ in reader.retired)
    assert bench.errors == NO_ERRORS


@pytest.mark.parametrize("data_width, split, offset", [(128, 64, 5), (512, 256, 0), *full((64, 64, 31))])
def test_completions_at_full_rate(data_width, split, offset):
    """Reads of 512 bytes to any byte alignment: the layer accepts a beat of completions in every cycle."""
    count   = 28
    bench   = Bench(data_width, host=Host(split=split, latency=400), buffer_blocks=count*8)
    readers = readers_of(bench, [(count, [(0x10000 + 512*n, 512, 512*n + offset) for n in range(count)])])
    run_readers(bench, readers)
    beats = [beat["cycle"] for beat in bench.rx[0].beats]
    assert beats == list(range(beats[0], beats[0] + len(beats)))


@pytest.mark.parametrize("data_width, cycles", [(128, 2), (256, 1)])
def test_short_reads_in_each_cycle(data_width, cycles):
    """From 256 bit on, a read of 8 bytes takes one cycle in the issue, one in the check, and one in the retirement."""
    count   = 60
    bench   = Bench(data_width, host=Host(latency=150), buffer_blocks=1000, tags=64)
    readers = readers_of(bench, [(count, [(0x10000 + 64*n, 8, 128*n) for n in range(count)])])
    issued  = Watch(readers[0].port.request, framed=False, name="request")
    bench.run(readers, watchers=[issued.watch()], extended_tag=1)
    accepted = [beat["cycle"] for beat in issued.beats]
    assert accepted[-1] - accepted[0] == cycles*(count - 1)
    ended = readers[0].cycles
    assert ended[-1] - ended[0] == cycles*(count - 1)


def test_one_client_reaches_all_tags_that_are_not_reserved(reserves=(3, 5, 2)):
    bench   = Bench(64, host=Host(latency=900), buffer_blocks=1000)
    most    = 32 - sum(reserves[1:])
    ports   = [bench.layer.add_read_port(f"port{n}", 32, reserve=reserve) for n, reserve in enumerate(reserves)]
    readers = [Reader(ports[0], [(0x10000 + 64*n, 16, 64*n) for n in range(40)], Stalls())]
    seen    = []
    def others():
        """After the first client took what it can, each other one still gets its reserve at once."""
        while len(bench.host.reads) < most:
            yield
        yield from wait(100)
        assert len(bench.host.reads) == most
        seen.append((yield ports[0].outstanding))
        for n, reserve in enumerate(reserves[1:], 1):
            request = ports[n].request
            yield [request.valid.eq(1), request.length.eq(16)]
            for m in range(reserve):
                yield request.address.eq(0x50000 + 0x1000*n + 64*m)
                yield
                for _ in range(20):
                    if (yield request.ready):
                        break
                    yield
                else:
                    raise AssertionError("a client does not get its reserve")
            yield request.valid.eq(0)
        yield
    bench.run(readers, [others()], watchers=[accept(port.data) for port in ports[1:]])
    assert seen == [most]
    assert bench.errors == NO_ERRORS


def test_requests_that_the_completion_buffer_cannot_hold():
    """A read of 512 bytes that is not aligned needs 9 blocks. If the buffer is smaller, reads are issued one by one."""
    bench   = Bench(64, host=Host(latency=40), buffer_blocks=1)
    readers = readers_of(bench, [(28, [(0x10020 + 1024*n, 512, 512*n) for n in range(5)])])
    bench.buffer_blocks = 9
    run_readers(bench, readers)
    assert bench.host.most_blocks == 9


@pytest.mark.parametrize("length, most", [(16, 32), (17, 16)])
def test_short_reads_take_half_a_block_in_the_fabric(length, most):
    """A read of up to 16 bytes takes half a block of a buffer in the fabric, and gives back what it took."""
    with mock.patch.object(SplitPHY, "fabric_blocks", (16, 16), create=True), \
            mock.patch.object(layer, "own_blocks", lambda phy: (8, 8)):
        bench = Bench(256, shape="split", endianness="little", host=Host(latency=150), buffer_blocks=16, tags=64)
    rng     = random.Random(length)
    short   = [(0x10000 + 64*n, length, 128*n) for n in range(50)]
    longer  = [request for request in random_requests(rng, 40, 300) if request[1] > 17]
    readers = readers_of(bench, [(40, short), (20, longer)])
    bench.buffer_blocks = 2*16
    free    = []
    def ending():
        while not all(len(reader.retired) == len(reader.requests) for reader in readers):
            yield
        yield from wait(10)
        free.append((yield bench.layer.issue.budget.free))
    readers[1].request_stalls = Stalls(0.97, 1)     # Begins after the first client filled the buffer.
    run_readers(bench, readers, processes=[ending()], extended_tag=1)
    assert bench.host.most_blocks in (most, most - 1)
    assert free == [2*16] and bench.errors == NO_ERRORS


def test_rcb_changes_while_reading():
    """A change of the RCB takes effect when nothing is outstanding, and no request is lost."""
    bench   = Bench(64, host=Host(latency=40, split=128), completion_blocks=(20, 12))
    readers = readers_of(bench, [(20, [(0x10000 + 512*n, 512, 512*n) for n in range(50)])])
    seen    = []
    def switch():
        for value in (1, 0):
            yield from wait(400)
            yield bench.layer.rcb_128.eq(value)
            while (yield bench.layer.issue.budget.large) != value:
                yield
            seen.append((yield bench.layer.pool.live))
    bench.buffer_blocks = 1000
    run_readers(bench, readers, processes=[switch()])
    assert seen == [0, 0] and bench.errors == NO_ERRORS


def test_no_tag_is_reported():
    bench   = Bench(64, host=Host(latency=300), buffer_blocks=1000)
    readers = readers_of(bench, [(2, [(0x10000 + 64*n, 64, 64*n) for n in range(4)]), (2, [(0x20000, 64, 0)])])
    cycles  = [0, 0]
    def watch():
        for _ in range(250):
            for n, reader in enumerate(readers):
                cycles[n] += (yield reader.port.no_tag)
            yield
    bench.run(readers, [watch()])
    assert cycles[0] > 150 and cycles[1] == 0


# Rules: TXN.2.7#2
@pytest.mark.parametrize("extended_tag, tags", [(0, 32), (1, 64)])
def test_extended_tags_follow_the_host(extended_tag, tags):
    bench   = Bench(64, host=Host(latency=900, split=64), buffer_blocks=1000, tags=64)
    readers = readers_of(bench, [(2, [(0x1000, 16, 0)]), (64, [(0x10000 + 64*n, 32, 64*n) for n in range(80)])])
    run_readers(bench, readers, extended_tag=extended_tag)
    assert len({tlp.tag for tlp in bench.host.reads}) == tags
    assert max(tlp.tag for tlp in bench.host.reads) == tags - 1


@pytest.mark.parametrize("ports, message", [
    ([(28, 28), (5, 5)], "the reserves of all read ports are 33 tags; give them at most 32"),
    ([(0, 1)],           "a read port with 0 tags is not supported; give it 1 to 256"),
    ([(4, 5)],           "a reserve of 5 tags is not supported; give 1 to 4"),
    ([(1, 1)]*33,        "the reserves of all read ports are 33 tags")])
def test_tags_that_do_not_fit(ports, message):
    bench = Bench(64)
    with pytest.raises(ValueError, match=message):
        for n, (tags, reserve) in enumerate(ports):
            bench.layer.add_read_port(f"port{n}", tags, reserve=reserve)


@pytest.mark.parametrize("tags", [31, 257])
def test_pools_that_are_not_supported(tags):
    with pytest.raises(ValueError, match=f"tags {tags} is not supported; give 32 to 256"):
        Bench(64, tags=tags)


def test_lanes_that_are_not_supported():
    with pytest.raises(ValueError, match="lane_bits 16 is not supported; choose 8 or 32"):
        Realigner(64, lane_bits=16)


def test_room_is_free_when_the_completion_left_the_phy():
    """A client that accepts no data does not hold up the next request: its data has left the PHY's buffer."""
    bench = Bench(64, host=Host(split=64), buffer_blocks=1)
    port  = bench.layer.add_read_port("port", 4)
    reads = []
    class Late(Reader):
        """A client that accepts data 200 cycles after the start."""
        def watchers(self):
            @passive
            def accept_late():
                yield from wait(200)
                reads.append(len(bench.host.reads))
                yield port.data.ready.eq(1)
                while True:
                    yield
            return [accept_late(), self.data.watch()]
    client = Late(port, [(0x1000 + 64*n, 64, 64*n) for n in range(3)], bench.stalls())
    bench.run([client])
    assert reads == [3]
    assert [reason for reason, _ in client.retired] == [0, 0, 0]
